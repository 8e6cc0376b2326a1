//! How does a list of thousands become JSON without being taken apart and put together again?

use std::io::Write;
use std::ops::Range;
use std::path::PathBuf;

use super::list::{ListScope, Rank, Ranks};
use crate::catalogue::rows::head;
use crate::index::{Error, Index};
use crate::model::{Listing, SCHEMA_VERSION};

/// What was written of a list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrittenList {
    /// How many sessions.
    pub sessions: usize,
    /// See [`Listing::complete`].
    pub complete: bool,
    /// See [`Listing::pending_files`].
    pub pending_files: u64,
}

/// A row on its way into its place.
struct Placed {
    rank: Rank,
    /// Number of its root in the configuration.
    root: usize,
    json: Range<usize>,
}

/// What a tie needs of a row.
#[derive(serde::Deserialize)]
struct Named {
    path: PathBuf,
}

impl Index {
    /// Write what [`Index::list`] gives as the JSON that it serialises to.
    ///
    /// Every call of `write` gets whole characters.
    pub fn write_list(&self, scope: &ListScope, out: &mut dyn Write) -> Result<WrittenList, Error> {
        let written = |sessions| WrittenList {
            sessions,
            complete: self.complete,
            pending_files: self.pending_files,
        };
        let failed = |error: std::io::Error| Error::io("the output".as_ref(), error);
        let Some(catalogue) = self.catalogue.as_ref().filter(|_| is_whole(scope)) else {
            let listing = self.list(scope)?;
            let json = serde_json::to_string(&listing).map_err(|e| failed(e.into()))?;
            out.write_all(json.as_bytes()).map_err(failed)?;
            return Ok(written(listing.sessions.len()));
        };
        let ranks = Ranks::new(self, true);
        let mut roots: Vec<(i64, String, bool, bool)> = Vec::new();
        for spec in &self.config.roots {
            if let Some(root) = catalogue.root_of(&spec.agent, &spec.path)? {
                let (format, label, _) = catalogue.root_is(root)?;
                let head = head(&spec.agent, label.as_deref()).map_err(|e| failed(e.into()))?;
                let asked = scope.agent.as_ref().is_none_or(|a| *a == spec.agent);
                roots.push((root, head, ranks.are_by_creation(&format), asked));
            }
        }
        let (mut rows, mut text, mut total) = (Vec::new(), String::new(), 0);
        catalogue.ready_rows(|row| {
            let Some(root) = roots.iter().position(|(root, ..)| *root == row.root) else {
                return;
            };
            total += 1;
            let (_, _, by_creation, asked) = roots[root];
            if asked {
                let from = text.len();
                text.push_str(row.json);
                let (modified, file) = (row.modified_ms, row.file_ms);
                let rank = ranks.rank(by_creation, row.listed, modified, file, row.created_ms);
                rows.push(Placed {
                    rank,
                    root,
                    json: from..text.len(),
                });
            }
        })?;
        let elsewhere = total - rows.len() as u64;
        let path = |row: &Placed| {
            let named = serde_json::from_str::<Named>(&format!("{{{}", &text[row.json.clone()]));
            named.map_or_else(|_| PathBuf::new(), |named| named.path)
        };
        rows.sort_by(|a, b| a.rank.compare(&b.rank, || path(a), || path(b)));
        rows.truncate(scope.most());
        let empty = Listing {
            schema_version: SCHEMA_VERSION,
            complete: self.complete,
            pending_files: self.pending_files,
            sessions: Vec::new(),
            elsewhere,
        };
        let around = serde_json::to_string(&empty).map_err(|e| failed(e.into()))?;
        let open = "\"sessions\":[";
        let (before, after) = around.split_once(open).unwrap_or((&around, ""));
        let mut write = |text: &str| out.write_all(text.as_bytes()).map_err(failed);
        write(before)?;
        write(open)?;
        for (number, row) in rows.iter().enumerate() {
            if number > 0 {
                write(",")?;
            }
            write(&roots[row.root].1)?;
            write(&text[row.json.clone()])?;
        }
        write(after)?;
        Ok(written(rows.len()))
    }
}

/// Whether nothing is asked that the ready rows do not hold.
fn is_whole(scope: &ListScope) -> bool {
    scope.cwd.is_none() && !scope.with_text
}
