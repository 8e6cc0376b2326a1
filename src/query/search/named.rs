//! Does the query name a session or an entry, rather than text? Ids are no words: what they name is
//! told beside the hits.

use super::Search;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::write::ARRIVAL_BITS;
use crate::index::Error;
use crate::model::{Expr, Named};
use crate::query::show::address;
use crate::query::syntax::Query;

/// The fewest characters of an id that are taken for one.
const SHORTEST: usize = 4;
/// Sessions and entries told at most.
const MOST: usize = 10;

impl Search<'_> {
    /// The sessions and entries that the query, if it is a single word, is the id of, or the beginning of one.
    pub(super) fn named(&self, query: &Query) -> Result<Vec<Named>, Error> {
        let Some(id) = query.only().and_then(|only| id(only.expr.as_ref()?)) else {
            return Ok(Vec::new());
        };
        let ours = self.index.root_numbers(self.catalogue)?;
        let mut named = Vec::new();
        for stored in self.catalogue.sessions_by_id(&ours, id, MOST)? {
            named.push(Named {
                address: stored.row.id.clone(),
                entry: None,
                session: stored.row,
            });
        }
        // `SESSION:ENTRY`; a colon may belong to either.
        for (at, _) in id.rmatch_indices(':') {
            for stored in self.catalogue.sessions_by_id(&ours, &id[..at], MOST)? {
                let key = self.catalogue.key_of_id(stored.session, &id[at + 1..])?;
                let entry = key.map(|key| self.catalogue.entry(key)).transpose()?;
                named.extend(entry.flatten().map(|entry| named_entry(&entry, stored.row)));
            }
        }
        if named.is_empty() {
            for key in self.catalogue.keys_of_id(id, MOST)? {
                let sessions = self.catalogue.sessions_by_number(&[key >> ARRIVAL_BITS])?;
                let Some(entry) = self.catalogue.entry(key)? else {
                    continue;
                };
                named.extend(sessions.into_iter().map(|s| named_entry(&entry, s.row)));
            }
        }
        Ok(named)
    }
}

fn named_entry(entry: &StoredEntry, session: crate::model::SessionRow) -> Named {
    let id = address(entry);
    Named {
        address: format!("{}:{id}", session.id),
        entry: Some(id),
        session,
    }
}

/// A word that could be an id: letters, digits, `-`, `_`, and a digit among them.
fn id(expr: &Expr) -> Option<&str> {
    let text = match expr {
        Expr::Word(text) | Expr::Phrase(text) | Expr::Prefix(text) => text,
        // The forms of a commit.
        Expr::Or(members) => match members.first() {
            Some(Expr::Prefix(text)) => text,
            _ => return None,
        },
        _ => return None,
    };
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | ':');
    let is_id = text.len() >= SHORTEST
        && text.chars().all(fits)
        && text.contains(|c: char| c.is_ascii_digit());
    is_id.then_some(text)
}
