//! Which sessions are marked? They stay so while something else is typed.

use std::collections::BTreeMap;

use super::message::{Key, Row};

/// The sessions that are marked, as they were when they were.
#[derive(Debug, Default)]
pub struct Marks {
    rows: BTreeMap<Key, Row>,
}

impl Marks {
    pub fn contains(&self, session: &Key) -> bool {
        self.rows.contains_key(session)
    }

    pub fn len(&self) -> usize {
        self.rows.len()
    }

    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Marks it, or takes its mark away.
    pub fn toggle(&mut self, row: &Row) {
        let session = row.key();
        if self.rows.remove(&session).is_none() {
            self.rows.insert(session, row.clone());
        }
    }

    /// These are gone.
    pub fn forget(&mut self, sessions: &[Key]) {
        self.rows.retain(|session, _| !sessions.contains(session));
    }

    /// All of them: those of the list in its order and as they are in it, then the others.
    pub fn in_order(&self, list: &[Row]) -> Vec<Row> {
        let of_list = list.iter().filter(|row| self.contains(&row.key()));
        let mut marked: Vec<Row> = of_list.cloned().collect();
        let is_there = |session: &Key| list.iter().any(|row| row.key() == *session);
        let others = self.rows.iter().filter(|(session, _)| !is_there(session));
        marked.extend(others.map(|(_, row)| row.clone()));
        marked
    }
}
