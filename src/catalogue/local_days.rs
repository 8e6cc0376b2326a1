//! On which day was something spent, where the reader is? Other tools read it from a table, so it
//! is stored, in the zone of whoever opened the catalogue for writing last.

use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::{Transaction, TransactionBehavior};

use super::open::Catalogue;
use crate::model::Zone;

/// The day of a quarter of an hour.
macro_rules! local_day {
    () => {
        "coalesce(local_day(quarter_ms), day)"
    };
}

/// Those days, where others stand there: in all quarters, or in those alone that have none yet.
const LOCAL_DAYS: &str = concat!(
    "UPDATE _quarters SET local_day = ",
    local_day!(),
    " WHERE local_day = '' OR ?1 AND local_day IS NOT ",
    local_day!()
);

/// How many quarters have another day than they should.
const WRONG_DAYS: &str = concat!(
    "SELECT count(*) FROM _quarters WHERE local_day IS NOT ",
    local_day!()
);

/// The same table for one connection alone.
const OWN_DAYS: &str = concat!(
    "CREATE TEMP TABLE _quarters (quarter_ms INTEGER PRIMARY KEY, day TEXT NOT NULL, local_day TEXT NOT NULL) STRICT;
     INSERT INTO temp._quarters SELECT quarter_ms, day, ",
    local_day!(),
    " FROM main._quarters;"
);

/// What a zone says of a moment.
type TimeFunction = fn(&Zone, i64) -> Option<String>;

impl Catalogue {
    /// Let statements call `local_day(ms)` and `local_time(ms)`: day and time of a moment in this
    /// zone.
    pub(super) fn know_zone(&self, zone: &Zone) -> rusqlite::Result<()> {
        let flags = FunctionFlags::SQLITE_UTF8
            | FunctionFlags::SQLITE_DETERMINISTIC
            | FunctionFlags::SQLITE_DIRECTONLY;
        for (name, says) in [
            ("local_day", Zone::day as TimeFunction),
            ("local_time", Zone::time),
        ] {
            let zone = zone.clone();
            let of_moment = move |context: &Context<'_>| {
                let ms = context.get::<Option<i64>>(0)?;
                Ok(ms.and_then(|ms| says(&zone, ms)))
            };
            self.connection
                .create_scalar_function(name, 1, flags, of_moment)?;
        }
        Ok(())
    }

    /// Local days are those of this process from now on.
    pub(super) fn take_zone(&self) -> rusqlite::Result<()> {
        self.know_zone(&self.zone)?;
        if self.has_days_of(&self.zone)? {
            return Ok(());
        }
        let immediate = TransactionBehavior::Immediate;
        let transaction = Transaction::new_unchecked(&self.connection, immediate)?;
        self.add_local_days()?;
        transaction.commit()
    }

    /// Quarters get their local days; all of them where a process in another zone has written
    /// meanwhile.
    pub(super) fn add_local_days(&self) -> rusqlite::Result<()> {
        let c = &self.connection;
        let is_other = !self.has_days_of(&self.zone)?;
        c.prepare_cached(LOCAL_DAYS)?.execute([is_other])?;
        if is_other {
            let zone = self.zone.fingerprint();
            c.execute("UPDATE _store SET zone = ?1", [zone])?;
        }
        Ok(())
    }

    /// Whether the stored local days are of this zone.
    fn has_days_of(&self, zone: &Zone) -> rusqlite::Result<bool> {
        let stored = "SELECT zone FROM _store";
        let mut stored = self.connection.prepare_cached(stored)?;
        let stored: String = stored.query_row([], |r| r.get(0))?;
        Ok(stored == zone.fingerprint())
    }

    /// How many local days are not what they should be, if they are of this zone; of another one
    /// nothing is known.
    pub(super) fn wrong_local_days(&self, zone: &Zone) -> rusqlite::Result<i64> {
        self.know_zone(zone)?;
        match self.has_days_of(zone)? {
            true => self.connection.query_row(WRONG_DAYS, [], |r| r.get(0)),
            false => Ok(0),
        }
    }

    /// For this connection alone, which holds a snapshot, local days are of this zone, whoever
    /// wrote those that are stored.
    pub(super) fn see_days_of(&self, zone: &Zone) -> rusqlite::Result<()> {
        self.know_zone(zone)?;
        if self.has_days_of(zone)? {
            return Ok(());
        }
        // A temporary view goes before one of the same name in the file.
        let c = &self.connection;
        c.execute_batch(OWN_DAYS)?;
        let views =
            "SELECT sql FROM main.sqlite_schema WHERE type = 'view' AND sql LIKE '%local_day%'";
        let mut views = c.prepare(views)?;
        let views = views.query_map([], |r| r.get::<_, String>(0))?;
        let views = views.collect::<rusqlite::Result<Vec<String>>>()?;
        for view in views {
            c.execute_batch(&view.replacen("CREATE VIEW", "CREATE TEMP VIEW", 1))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_days_are_of_one_zone_though_a_process_in_another_one_writes_between_two_transactions()
    {
        let catalogue = Catalogue::in_memory().unwrap();
        let elsewhere = "UPDATE _store SET zone = 'elsewhere';
                         INSERT INTO _quarters VALUES (900000, '1970-01-01', 'elsewhere');
                         INSERT INTO _usage (key, what, counted, time_ms, said, input)
                         VALUES (1 << 24, 0, 1, 1767603601000, 1, 1);
                         PRAGMA foreign_keys = OFF;
                         INSERT INTO _sessions (session, root, place, next_arrival, id, cwd, modified_ms, file_ms, messages, entries,
                                                problems, errors, bytes, path) VALUES (1, 1, '', 1, '', '', 0, 0, 0, 0, 0, 0, 0, 's')";
        catalogue.connection.execute_batch(elsewhere).unwrap();
        catalogue.begin().unwrap();
        catalogue.touch(1 << 24, 1 << 24);
        catalogue.commit().unwrap();
        let days =
            "SELECT count(*), count(*) FILTER (WHERE local_day = 'elsewhere') FROM _quarters";
        let days = catalogue
            .connection
            .query_row(days, [], |r| Ok((r.get(0)?, r.get(1)?)));
        assert_eq!(days, Ok((2, 0)));
        assert_eq!(catalogue.wrong_sums(&Zone::UTC).unwrap(), 0);
    }
}
