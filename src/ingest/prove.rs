//! Is all that was read of a file that grew still in it? Looks prove its tail; here every block is
//! compared, some at a time and in front of no answer.

use crate::catalogue::{Catalogue, Error};
use crate::format::{Format, format_named};
use crate::model::Report;
use crate::source::checkpoint::{BLOCK, Proof, prove_range};
use crate::source::content::Location;
use crate::source::identity::Identity;

/// Sources to be proven, one after the other.
#[derive(Default)]
pub struct Audits {
    waiting: Vec<i64>,
    under_way: Option<ProofCheck>,
}

/// One source whose blocks are compared with its proof.
struct ProofCheck {
    source: i64,
    path: Location,
    format: &'static dyn Format,
    /// The identity of the file in the state that the proof describes.
    identity: Identity,
    consumed: u64,
    proof: Proof,
    /// The next block to be compared.
    next: usize,
}

/// The result of an audit so far.
enum ProofResult {
    /// There are more blocks.
    Unfinished,
    /// All blocks are as they were, in the state that is catalogued.
    Holds,
    /// A block is another one.
    Differs,
    /// All blocks are unchanged, but the file is not, so it is read and proven again.
    Moved,
}

impl Audits {
    /// Of these sources.
    pub fn of(sources: Vec<i64>) -> Audits {
        Audits {
            waiting: sources,
            under_way: None,
        }
    }

    /// Whether all is done.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty() && self.under_way.is_none()
    }

    /// Compare about so many bytes more, and note what is proven. Gives back the sources in which a
    /// block has changed.
    pub fn go_on(
        &mut self,
        catalogue: &Catalogue,
        formats: &[&'static dyn Format],
        bytes: u64,
        report: &mut Report,
    ) -> Result<Vec<i64>, Error> {
        let (mut left, mut proven, mut changed) = (bytes, Vec::new(), Vec::new());
        while left > 0 && !self.is_empty() {
            let Some(mut audit) = self.next(catalogue, formats)? else {
                continue;
            };
            // What cannot be read now stays unproven.
            let Ok((verdict, read)) = audit.go_on(left) else {
                continue;
            };
            left = left.saturating_sub(read.max(1));
            report.proof_bytes += read;
            match verdict {
                ProofResult::Unfinished => self.under_way = Some(audit),
                ProofResult::Holds => proven.push((audit.source, audit.identity)),
                ProofResult::Differs => changed.push(audit.source),
                ProofResult::Moved => {}
            }
        }
        if !proven.is_empty() {
            catalogue.note_all_proven(&proven)?;
        }
        Ok(changed)
    }

    /// The one under way, or the next; `None` when that is no source any more.
    fn next(
        &mut self,
        catalogue: &Catalogue,
        formats: &[&'static dyn Format],
    ) -> Result<Option<ProofCheck>, Error> {
        match (self.under_way.take(), self.waiting.pop()) {
            (Some(audit), waiting) => {
                self.waiting.extend(waiting);
                Ok(Some(audit))
            }
            (None, Some(source)) => ProofCheck::of(catalogue, formats, source),
            (None, None) => Ok(None),
        }
    }
}

impl ProofCheck {
    fn of(
        catalogue: &Catalogue,
        formats: &[&'static dyn Format],
        source: i64,
    ) -> Result<Option<ProofCheck>, Error> {
        let place = catalogue.source_place(source)?;
        let stored = catalogue.stored(source)?;
        let (Some((path, name)), Some(stored)) = (place, stored) else {
            return Ok(None);
        };
        let Some(format) = format_named(formats, &name) else {
            return Ok(None);
        };
        let checkpoint = catalogue.checkpoint(source)?;
        Ok(Some(ProofCheck {
            source,
            path,
            format,
            identity: stored.identity,
            consumed: stored.consumed,
            // Without one nothing is proven.
            proof: checkpoint.map(|c| c.proof).unwrap_or_default(),
            next: 0,
        }))
    }

    /// Compare about so many bytes more, at least a block: what that says, and the bytes read.
    fn go_on(&mut self, bytes: u64) -> std::io::Result<(ProofResult, u64)> {
        let mut file = self.path.open(self.format)?;
        // A damaged proof, or one of another state.
        if self.proof.covers() != self.consumed {
            return Ok((ProofResult::Differs, 0));
        }
        let most = usize::try_from(bytes / BLOCK as u64).unwrap_or(usize::MAX);
        let numbers = self.next..self.next.saturating_add(most.max(1));
        let (other, read) = prove_range(&mut file, &self.proof, numbers.clone())?;
        self.next = numbers.end;
        let verdict = match other {
            Some(_) => ProofResult::Differs,
            None if self.next < self.proof.block_count() => ProofResult::Unfinished,
            // Asked at the end: whatever changed since the first block was read is another
            // identity.
            None if file.identity()? == self.identity => ProofResult::Holds,
            None => ProofResult::Moved,
        };
        Ok((verdict, read))
    }
}
