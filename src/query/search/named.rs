//! Does the query name a session or an entry, rather than text? Ids are not indexed as words, so
//! what they name is shown beside the hits.

use super::Search;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::write::ARRIVAL_BITS;
use crate::error::Error;
use crate::model::{Expr, NamedMatch, SearchAnswer};
use crate::query::show::address;

/// The fewest characters of an id that are taken for one.
const SHORTEST: usize = 4;
/// At most so many sessions and entries are shown, unless all hits are.
const MOST: usize = 10;

impl Search<'_> {
    /// Name the sessions and entries that the query, if it is a single word, is the id of, or the
    /// beginning of one.
    pub(super) fn name(&self, answer: &mut SearchAnswer) -> Result<(), Error> {
        let Some(id) = self.query.only().and_then(|only| id(only.expr.as_ref()?)) else {
            return Ok(());
        };
        let most = self.scope.limit.map_or(usize::MAX, |_| MOST);
        let ours = self.snapshot.root_numbers()?;
        let sessions = self.catalogue.sessions_by_id(&ours, id, most)?;
        let named = &mut answer.named;
        named.extend(sessions.into_iter().map(|stored| NamedMatch {
            address: stored.row.id.clone(),
            entry: None,
            session: stored.row,
        }));
        // Where all were asked for, or fewer came, they are all.
        let mut total = match named.len() < most {
            true => named.len() as u64,
            false => self.catalogue.count_sessions_by_id(&ours, id)?,
        };
        // `SESSION:ENTRY`; a colon may belong to either.
        for (at, _) in id.rmatch_indices(':') {
            for stored in self.catalogue.sessions_by_id(&ours, &id[..at], most)? {
                let key = self.key_of(stored.session, &id[at + 1..])?;
                let entry = key.map(|key| self.catalogue.entry(key)).transpose()?;
                if let Some(entry) = entry.flatten() {
                    total += 1;
                    named.push(named_entry(&entry, stored.row));
                }
            }
        }
        if named.is_empty() {
            let (mut keys, mut all) = self.catalogue.keys_of_id(&ours, id, most)?;
            // As it is written first: few ids hold capitals, and hardly any both.
            for other in [id.to_ascii_lowercase(), id.to_ascii_uppercase()] {
                if keys.is_empty() && other != id {
                    (keys, all) = self.catalogue.keys_of_id(&ours, &other, most)?;
                }
            }
            total = all;
            for key in keys {
                let sessions = self.catalogue.sessions_by_number(&[key >> ARRIVAL_BITS])?;
                let Some(entry) = self.catalogue.entry(key)? else {
                    continue;
                };
                named.extend(sessions.into_iter().map(|s| named_entry(&entry, s.row)));
            }
        }
        answer.named_total = total;
        Ok(())
    }
}

impl Search<'_> {
    /// The entry of a session that has this id, whatever its case, or stands on that line, or is
    /// the only one whose id begins so.
    fn key_of(&self, session: i64, entry: &str) -> Result<Option<i64>, Error> {
        let (lower, upper) = (entry.to_ascii_lowercase(), entry.to_ascii_uppercase());
        for id in [entry, &lower, &upper] {
            let key = self.catalogue.key_of_id(session, id)?;
            if key.is_some() {
                return Ok(key);
            }
        }
        let line = upper.strip_prefix('L').and_then(|line| line.parse().ok());
        if let Some(line) = line {
            return Ok(self.catalogue.key_of_line(session, line)?);
        }
        match self.catalogue.entry_ids(session, entry)?.as_slice() {
            [one] => Ok(self.catalogue.key_of_id(session, one)?),
            _ => Ok(None),
        }
    }
}

fn named_entry(entry: &StoredEntry, session: crate::model::SessionRow) -> NamedMatch {
    let id = address(entry);
    NamedMatch {
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
