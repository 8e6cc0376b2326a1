//! From which byte on is a source to be read?

use super::Cost;
use super::proof::{GrowingProof, is_rows};
use super::turns::AtTurn;
use crate::catalogue::read::StoredSource;
use crate::format::Shape;
use crate::ingest::plan::SourcePlan;
use crate::model::Fold;
use crate::source::checkpoint::{self, Decision};
use crate::source::content::{Content, first_line};
use crate::source::identity::Identity;

/// Where the reading of a source begins.
pub enum ReadStart {
    /// `proven`: by every block, not by the identity.
    Same { proven: bool },
    /// `unproven`: of what is before `from` only the last bytes were compared.
    At {
        from: u64,
        proof: GrowingProof,
        fold: Box<Fold>,
        unproven: bool,
    },
}

impl ReadStart {
    /// At the first byte.
    pub fn beginning() -> ReadStart {
        ReadStart::At {
            from: 0,
            proof: GrowingProof::default(),
            fold: Box::default(),
            unproven: false,
        }
    }
}

/// The first byte that is not proven, by what is stored of the source.
pub fn resume_point(
    plan: &SourcePlan<'_>,
    file: &mut Content,
    at_turn: &Option<AtTurn>,
    identity: &Identity,
    length: u64,
    cost: &mut Cost,
) -> std::io::Result<ReadStart> {
    let Some(known) = plan.known else {
        return Ok(ReadStart::beginning());
    };
    let stored = &known.stored;
    let decision = checkpoint::decide(
        Some(stored),
        identity,
        plan.format.about().write_mode,
        plan.format.about().revision,
    );
    let Some(checkpoint) = &plan.checkpoint else {
        return Ok(ReadStart::beginning());
    };
    if is_rows(plan, file) {
        return Ok(rows_start(plan, decision, file, at_turn, length, cost));
    }
    if checkpoint.proof.covers() != known.stored.consumed {
        // Damaged, or of another state: it proves nothing.
        return Ok(ReadStart::beginning());
    }
    let saved = || serde_json::from_str::<Box<Fold>>(&checkpoint.fold).ok();
    let after_checkpoint = |fold, tail, unproven| ReadStart::At {
        from: stored.consumed,
        proof: GrowingProof::behind(checkpoint.proof.clone(), tail),
        fold,
        unproven,
    };
    match decision {
        Decision::Unchanged => return Ok(ReadStart::Same { proven: false }),
        Decision::Reread => return Ok(ReadStart::beginning()),
        // Only lines are read on from where they ended. What the archive keeps has to be what the
        // file said, all of it and now: of a file that goes nobody could prove it later.
        Decision::ProveTail
            if plan.kept_as.is_none() && plan.format.shape_of(&plan.path) == Shape::Lines =>
        {
            let (tail, bytes) = checkpoint::tail_holds(file, &checkpoint.proof)?;
            cost.proof_bytes += bytes;
            if let (Some(tail), Some(fold)) = (tail, saved()) {
                return Ok(after_checkpoint(fold, tail, true));
            }
        }
        Decision::ProveTail | Decision::ProveBlocks => {}
    }
    let (all, bytes) = checkpoint::prove_all(file, &checkpoint.proof)?;
    cost.proof_bytes += bytes;
    if all && let Some(fold) = saved() {
        // All that was consumed is still there. The same length then means the same bytes, unless
        // a tail was left unconsumed: that is cheap to read again.
        let whole = length == stored.length && stored.consumed == length;
        if whole && plan.unlisted == known.unlisted {
            return Ok(ReadStart::Same { proven: true });
        }
        if plan.format.shape_of(&plan.path) != Shape::Lines {
            return Ok(ReadStart::beginning());
        }
        let (tail, bytes) = checkpoint::tail_holds(file, &checkpoint.proof)?;
        cost.proof_bytes += bytes;
        if let Some(tail) = tail {
            return Ok(after_checkpoint(fold, tail, false));
        }
    }
    // A fold cannot be run backwards, so rows before a changed block are read again as well; what
    // is spared is nothing but the reading, and a rewritten file is read once.
    Ok(ReadStart::beginning())
}

/// Where the reading of a session in a database begins: nowhere if its lines are as they were, at
/// the turn at which it was opened, or at its first line.
fn rows_start(
    plan: &SourcePlan<'_>,
    decision: Decision,
    file: &Content,
    at_turn: &Option<AtTurn>,
    length: u64,
    cost: &mut Cost,
) -> ReadStart {
    match decision {
        Decision::Unchanged => return ReadStart::Same { proven: false },
        Decision::Reread => return ReadStart::beginning(),
        Decision::ProveTail | Decision::ProveBlocks => {}
    }
    let is_as_long = |known: &&StoredSource| {
        let stored = &known.stored;
        (stored.length, stored.consumed) == (length, length) && known.unlisted == plan.unlisted
    };
    let known = plan.known.filter(is_as_long);
    let proven = known.and(plan.checkpoint.as_ref());
    let lines = file.rows().unwrap_or_default();
    cost.proof_bytes += lines.len() as u64;
    let (first, rest) = lines.split_at(first_line(lines).len());
    let mut before = GrowingProof::default();
    before.add_rows(first);
    let entries = at_turn.as_ref().map_or(0, |at_turn| at_turn.entries);
    let stored = plan.stored.iter().take(entries).skip(1);
    let stored: Vec<u64> = stored.map(|entry| entry.hash).collect();
    before.add_row_hashes(&stored);
    let mut proof = before.clone();
    proof.add_rows(rest);
    match at_turn {
        _ if proven.is_some_and(|known| known.proof == *proof.so_far()) => {
            ReadStart::Same { proven: true }
        }
        Some(at_turn) => ReadStart::At {
            from: at_turn.from,
            proof: before,
            fold: at_turn.fold.clone(),
            unproven: false,
        },
        None => ReadStart::beginning(),
    }
}
