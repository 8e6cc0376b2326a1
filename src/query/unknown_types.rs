//! Does a version of an agent write types of lines that are not known?
//!
//! Only its last sessions are looked at: that is where a new version shows, and it costs little.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::Snapshot;
use crate::error::Error;
use crate::format::Format;
use crate::model::UnknownTypes;

/// The last sessions of a root, and the last entries of each, that are looked at.
const SESSIONS: usize = 20;
const ENTRIES: usize = 2_000;
/// More than one entry in so many is worth a word, where they are more than a few.
const SHARE: u64 = 20;
const LEAST: u64 = 10;
/// Under which names agents record their version.
const VERSIONS: [&str; 3] = ["cli_version", "copilotVersion", "version"];

#[derive(Default)]
struct VersionTally {
    kinds: BTreeSet<String>,
    entries: u64,
    of: u64,
}

impl Snapshot<'_> {
    /// The types that are not known below a root, of each version with many of them.
    pub(super) fn unknown_types(
        &self,
        root: i64,
        format: &dyn Format,
    ) -> Result<Vec<UnknownTypes>, Error> {
        let mut versions: BTreeMap<Option<String>, VersionTally> = BTreeMap::new();
        for (session, own) in self.catalogue.last_sessions(root, SESSIONS)? {
            let counted = versions.entry(version(&own)).or_default();
            for (kind, count) in self.catalogue.last_kinds(session, ENTRIES)? {
                counted.of += count;
                if !format.knows(&kind) {
                    counted.entries += count;
                    counted.kinds.insert(kind);
                }
            }
        }
        let many = versions.into_iter().filter(|(_, counted)| {
            counted.entries >= LEAST && counted.entries * SHARE > counted.of
        });
        let told = many.map(|(version, counted)| UnknownTypes {
            version,
            kinds: counted.kinds.into_iter().collect(),
            entries: counted.entries,
            of: counted.of,
        });
        Ok(told.collect())
    }
}

fn version(own: &str) -> Option<String> {
    let own: Value = serde_json::from_str(own).ok()?;
    let mut versions = VERSIONS.iter().filter_map(|name| own.get(name)?.as_str());
    versions.next().map(str::to_owned)
}
