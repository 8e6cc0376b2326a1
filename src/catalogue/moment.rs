//! How is all that is asked told of one state of the catalogue?

use super::error::Error;
use super::open::Catalogue;

impl Catalogue {
    /// Take one snapshot for all that follows, until [`Catalogue::end_snapshot`]. For
    /// [`Index::snapshot`](crate::Index::snapshot), which is how questions are asked.
    pub fn snapshot(&self) -> Result<(), Error> {
        // A deferred transaction holds a snapshot from its first read on.
        let taken = self.connection.execute_batch("BEGIN; SELECT 1 FROM _store");
        if taken.is_err() {
            self.rollback();
        }
        self.with_path(taken)
    }

    /// What `ask` asks for, all of it of one state: for [`Index::verify`](crate::Index::verify),
    /// which takes many short snapshots.
    pub fn at_one_moment<T, E: From<Error>>(
        &self,
        ask: impl FnOnce() -> Result<T, E>,
    ) -> Result<T, E> {
        // Within a transaction it is one already.
        if self.holds_snapshot() {
            return ask();
        }
        self.snapshot()?;
        let asked = ask();
        self.end_snapshot();
        asked
    }

    /// Have `step` called after so many steps of SQLite's machine, again and again; 0: no more.
    #[cfg(test)]
    pub fn each_step(&mut self, steps: i32, mut step: impl FnMut() + Send + 'static) {
        let on_step = (steps > 0).then_some(move || {
            step();
            false
        });
        self.connection.progress_handler(steps, on_step).unwrap();
    }

    /// Let the snapshot go.
    pub fn end_snapshot(&self) {
        self.rollback();
    }

    /// Whether a snapshot was taken that has not ended.
    pub fn holds_snapshot(&self) -> bool {
        !self.connection.is_autocommit()
    }
}
