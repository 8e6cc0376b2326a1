//! What do searches find in system prompts and tool schemas? The words never get them, for most
//! sessions repeat them word for word: a search that asks for them reads them from the files, and
//! each text counts once, in its newest session.

use std::collections::{BTreeSet, HashSet};

use super::entry::OpenSource;
use crate::catalogue::write::flag;
use crate::catalogue::{Catalogue, Error};
use crate::format::Format;
use crate::model::{Class, Standing};
use crate::source::checkpoint::hash;
use crate::words::{BacklogEntry, Facts, Scan, Scope, ThreadResult};

/// Let `scan` read all prompts that the scope admits, whatever kind it asks for. Also returns the
/// sources that hold bytes that changed since they were catalogued, or cannot be read.
pub fn scan_prompts<'a>(
    catalogue: &Catalogue,
    formats: &[&'static dyn Format],
    scan: &'a Scan,
    scope: &Scope<'_>,
) -> Result<(ThreadResult<'a>, BTreeSet<i64>), Error> {
    let mut part = scan.part();
    let (mut texts, mut failed) = (HashSet::new(), BTreeSet::new());
    let mut open: Option<(i64, Option<OpenSource>)> = None;
    for entry in catalogue.entries_with_prompts()? {
        if !scope.is_wanted() {
            break;
        }
        let key = entry.key as u64;
        let facts = Facts {
            time_ms: entry.searched_ms,
            kind: &entry.kind,
            role: entry.role.as_deref(),
            tools: &[],
            is_error: entry.flags & flag::ERROR != 0,
        };
        if !scope.admits(&facts) || scope.allow.is_some_and(|allow| !allow(key)) {
            continue;
        }
        let place = match &mut open {
            Some((source, place)) if *source == entry.source => place,
            _ => {
                let place = OpenSource::find(entry.source, catalogue, formats)?;
                &mut open.insert((entry.source, place)).1
            }
        };
        let Some(place) = place else {
            continue;
        };
        let Ok(Some(record)) = place.record(&entry) else {
            failed.insert(entry.source);
            continue;
        };
        let pieces = place.format.prompts_at(&place.path, &record);
        if !texts.insert(hash(pieces.join("\n").as_bytes())) {
            continue;
        }
        let entry = BacklogEntry {
            standing: Standing::Prose,
            key,
            time_ms: entry.searched_ms,
            admitted: true,
        };
        part.read(entry, Class::Prose, &pieces);
    }
    Ok((part, failed))
}
