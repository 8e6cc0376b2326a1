//! What can a list show of a large database before its rows are read?
//!
//! To read all rows of thousands of sessions takes long, and their own rows are soon read, which
//! say what each is called, where it ran and when. So where many are new they are catalogued by
//! these first. What is stored of such a session is what would be of a file of no bytes, which no
//! revision of its format has read: whoever looks next reads it from its first row.

use std::collections::BTreeMap;
use std::path::Path;

use crate::catalogue::write::{Chunk, EntryRows};
use crate::databases::{own_lines, store};
use crate::ingest::plan::SourcePlan;
use crate::model::Fold;
use crate::source::checkpoint::{NO_REVISION, Proof};
use crate::source::content::file_name;
use crate::source::identity::Identity;

/// So many new sessions of a database are soon read with all of their rows.
const FEW: usize = 50;

/// A session, and what its own row says.
pub(super) type OwnRow<'p> = (&'p SourcePlan<'p>, Chunk<EntryRows>);

/// Those of the new sessions of large databases, newest first.
pub(super) fn own_rows<'p>(plans: &'p [SourcePlan<'p>]) -> Vec<OwnRow<'p>> {
    let mut new: BTreeMap<&Path, Vec<&'p SourcePlan<'p>>> = BTreeMap::new();
    for plan in plans {
        let is_named = plan
            .format
            .about()
            .database
            .is_some_and(|rows| rows.own_rows_name);
        if let (true, None, None) = (is_named, plan.known, plan.gone_ms)
            && let Some(file) = plan.path.parent()
        {
            new.entry(file).or_default().push(plan);
        }
    }
    new.retain(|_, plans| plans.len() > FEW);
    let of_files = new.iter().map(|(file, plans)| of_database(file, plans));
    let mut rows: Vec<OwnRow<'_>> = of_files.flatten().collect();
    rows.sort_by_key(|(plan, _)| std::cmp::Reverse(plan.mtime_ns));
    rows
}

/// Those of one file. One that cannot be read is told when its sessions are read.
fn of_database<'p>(file: &Path, plans: &[&'p SourcePlan<'p>]) -> Vec<OwnRow<'p>> {
    let rows = plans[0].format.about().database;
    let Some(database) = rows.filter(|database| store(file, database).is_none()) else {
        return Vec::new();
    };
    let lines = own_lines(file, database).unwrap_or_default();
    let lines = lines.into_iter().map(|(key, line)| (file_name(&key), line));
    let lines: BTreeMap<String, Vec<u8>> = lines.collect();
    let said = |plan: &&'p SourcePlan<'p>| {
        let name = plan.path.file_name()?.to_str()?;
        Some((*plan, own_row(plan, lines.get(name)?)?))
    };
    plans.iter().filter_map(said).collect()
}

/// `None`: it would be called by its first prompt.
fn own_row(plan: &SourcePlan<'_>, line: &[u8]) -> Option<Chunk<EntryRows>> {
    let (mut shown, mut facts) = (Fold::default(), plan.format.facts_at(&plan.path, line));
    plan.format.relate(&mut shown, line, &mut facts);
    plan.format.fold(&mut shown, &facts);
    shown.name.as_ref()?;
    // Its own row is no entry yet.
    shown.entries = 0;
    Some(Chunk {
        root: plan.root,
        relative: plan.relative.to_owned(),
        session_key: plan.session_key.to_owned(),
        part: plan.part,
        unlisted: plan.unlisted.clone(),
        gone_ms: None,
        forget_from: None,
        moved: None,
        entries: EntryRows::default(),
        problems: Vec::new(),
        identity: Identity {
            mtime_ns: plan.mtime_ns,
            ..Identity::default()
        },
        length: 0,
        racy: false,
        unproven: false,
        revision: NO_REVISION,
        consumed: 0,
        proof: Proof::default(),
        fold: Fold::default(),
        shown,
        turn: None,
        last: true,
        source_bytes: 0,
    })
}
