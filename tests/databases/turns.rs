//! Long sessions are read on from their last turn: does the index say what all of their rows say,
//! wherever they are changed?

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{SystemTime, UNIX_EPOCH};

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rusqlite::{Connection, params};
use sessionary::model::Report;
use sessionary::{GENERATION, Indexer};

use super::{Store, hits};
use crate::histories::sync_stopped_at;

/// The tables of OpenCode 2.x, as far as sessions need them.
const SECOND: &str = "
    CREATE TABLE session_v2 (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT, title TEXT, cost REAL, revert TEXT,
        time_created INTEGER, time_updated INTEGER);
    CREATE TABLE session_message (id TEXT PRIMARY KEY, session_id TEXT, type TEXT, seq INTEGER, time_created INTEGER,
        time_updated INTEGER, data TEXT);
    CREATE INDEX session_message_seq ON session_message (session_id, seq);";

/// How the agent notes that something has changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notes {
    /// By the times of rows alone.
    Times,
    /// With a number.
    Numbers,
    /// With a number, and an event for each that names what was changed.
    Events,
    /// As the second generation does, by times.
    Second,
}

const NOTES: [Notes; 4] = [Notes::Times, Notes::Numbers, Notes::Events, Notes::Second];

/// For every change of a row an event, as OpenCode 1.18 writes it.
fn note_events(store: &Store) {
    store.run(
        "CREATE TABLE event_sequence (aggregate_id TEXT PRIMARY KEY, seq INTEGER NOT NULL);
         CREATE TABLE event (id TEXT PRIMARY KEY, aggregate_id TEXT, seq INTEGER, type TEXT, data TEXT);
         CREATE UNIQUE INDEX event_seq ON event (aggregate_id, seq)",
    );
    for (table, of_session, says) in [
        ("session", "id", "'info', json_object('id', R.id)"),
        ("message", "session_id", "'info', json_object('id', R.id)"),
        (
            "part",
            "session_id",
            "'part', json_object('id', R.id, 'messageID', R.message_id)",
        ),
    ] {
        let event = match table {
            "part" => "message.part",
            table => table,
        };
        for (when, row, what) in [
            ("INSERT", "new", "updated"),
            ("UPDATE", "new", "updated"),
            ("DELETE", "old", "removed"),
        ] {
            let says = says.replace("R.", &format!("{row}."));
            store.run(&format!(
                "CREATE TRIGGER {table}_{when} AFTER {when} ON {table} BEGIN
                     INSERT INTO event_sequence VALUES ({row}.{of_session}, 0) ON CONFLICT DO UPDATE SET seq = seq + 1;
                     INSERT INTO event SELECT 'evt_' || hex(randomblob(8)), aggregate_id, seq, '{event}.{what}.1', json_object({says})
                         FROM event_sequence WHERE aggregate_id = {row}.{of_session};
                 END"
            ));
        }
    }
}

/// Sessions of many turns, in either generation.
struct Turns {
    store: Store,
    notes: Notes,
    made: u64,
}

impl Turns {
    fn new(notes: Notes) -> Turns {
        let store = Store::new(notes == Notes::Numbers, "WAL");
        store.run("ALTER TABLE session ADD COLUMN cost REAL");
        match notes {
            Notes::Second => store.run(SECOND),
            Notes::Events => note_events(&store),
            Notes::Times | Notes::Numbers => {}
        }
        Turns {
            store,
            notes,
            made: 0,
        }
    }

    fn is_second(&self) -> bool {
        self.notes == Notes::Second
    }

    /// The tables of sessions, and of what was said.
    fn tables(&self) -> (&'static str, &'static str) {
        match self.is_second() {
            true => ("session_v2", "session_message"),
            false => ("session", "part"),
        }
    }

    fn number(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    fn session(&mut self, id: &str) {
        match self.is_second() {
            true => {
                let now = self.store.tick();
                self.store.run(&format!(
                    "INSERT INTO session_v2 VALUES ('{id}', NULL, '/code', 'Birds', 0.5, NULL, {now}, {now})"
                ));
            }
            false => self.store.session(id, "Birds"),
        }
        for _ in 0..12 {
            self.turn(id);
        }
    }

    /// A prompt, and an answer to it.
    fn turn(&mut self, session: &str) {
        let number = self.number();
        self.say(session, "user", &format!("prompt {number}"));
        self.say(session, "assistant", &"heron ".repeat(900));
    }

    fn say(&mut self, session: &str, role: &str, text: &str) {
        let number = self.number();
        let id = format!("msg_{number:06}");
        if !self.is_second() {
            self.store.message(session, &id, role);
            self.store
                .text(session, &id, &format!("prt_{number:06}"), text);
            return;
        }
        let now = self.store.tick();
        let data = match role {
            "user" => format!(r#"{{"text":"{text}"}}"#),
            _ => format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#),
        };
        let insert = "INSERT INTO session_message VALUES (?1, ?2, ?3, ?4, ?5, ?5, ?6)";
        let values = params![id, session, role, number as i64, now, data];
        self.store.writer().execute(insert, values).unwrap();
    }

    /// Keys of what was said in a session, in order.
    fn said(&self, session: &str) -> Vec<String> {
        let sql = format!(
            "SELECT id FROM {} WHERE session_id = ?1 ORDER BY id",
            self.tables().1
        );
        let mut statement = self.store.writer().prepare(&sql).unwrap();
        let keys = statement.query_map([session], |row| row.get(0)).unwrap();
        keys.map(Result::unwrap).collect()
    }

    fn change(&self, sql: &str, session: &str) {
        self.store.run(sql);
        self.store.note(session);
    }

    /// One change of a session, and what it was.
    fn step(&mut self, rng: &mut ChaCha8Rng, session: &str) -> String {
        let (sessions, table) = self.tables();
        let said = self.said(session);
        // Mostly near the end, where most is changed.
        let some = match rng.random_ratio(1, 2) {
            true => said.choose(rng),
            false => said[said.len().saturating_sub(4)..].choose(rng),
        };
        let some = some.cloned().unwrap_or_default();
        let (number, now) = (self.number(), self.store.tick());
        let sql = match rng.random_range(0..11) {
            0..4 => {
                self.turn(session);
                return format!("{session}: a turn");
            }
            4 => {
                self.say(session, "assistant", "an otter");
                return format!("{session}: an answer");
            }
            5 => format!(
                "UPDATE {table} SET data = replace(data, 'heron', 'lynx{number}'), time_updated = {now} WHERE id = '{some}'"
            ),
            6 => format!("DELETE FROM {table} WHERE id = '{some}'"),
            // Without a time, of another size: in a numbered session this is seen.
            7 if matches!(self.notes, Notes::Numbers | Notes::Events) => {
                format!("UPDATE {table} SET data = replace(data, 'heron', 'herons') WHERE id = '{some}'")
            }
            7 => format!("UPDATE {table} SET data = data || ' ' WHERE id = '{some}'"),
            8 => match self.is_second() {
                true => format!("UPDATE {table} SET seq = {number}, time_updated = {now} WHERE id = '{some}'"),
                false => format!(
                    "DELETE FROM message WHERE id = (SELECT message_id FROM part WHERE id = '{some}')"
                ),
            },
            // A row in the middle that is new, and older than others.
            9 => match self.is_second() {
                true => format!(
                    "INSERT INTO {table} SELECT 'msg_{number:06}', session_id, 'user', seq, time_created, time_updated,
                         '{{\"text\":\"a wren\"}}' FROM {table} WHERE id = '{some}'"
                ),
                false => format!(
                    "INSERT INTO {table} SELECT id || 'a', message_id, session_id, time_created, time_updated,
                         '{{\"type\":\"text\",\"text\":\"a wren\"}}' FROM {table} WHERE id = '{some}'"
                ),
            },
            _ => {
                let change = match rng.random_range(0..6) {
                    0 => format!("title = 'Birds {number}', time_updated = {now}"),
                    1 => format!("revert = '{{\"messageID\":\"msg_{:06}\"}}', time_updated = {now}", number / 2),
                    2 => "time_updated = time_updated - 1000000".to_owned(),
                    3 => format!("parent_id = 'ses_0', time_updated = {now}"),
                    _ => format!("cost = {number} / 64.0, time_updated = {now}"),
                };
                format!("UPDATE {sessions} SET {change} WHERE id = '{session}'")
            }
        };
        self.change(&sql, session);
        sql
    }
}

fn history(seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut turns = Turns::new(NOTES[seed as usize % NOTES.len()]);
    let sessions = ["ses_1", "ses_2"];
    for session in sessions {
        turns.session(session);
    }
    let config = turns.store.config();
    let mut indexer = Indexer::open(&config).unwrap();
    let mut log = Vec::new();
    for _ in 0..rng.random_range(8..30) {
        match rng.random_range(0..8) {
            0..4 => {
                let session = sessions[rng.random_range(0..2)];
                log.push(turns.step(&mut rng, session));
            }
            4 => {
                log.push("a hint".into());
                indexer.sync_files(&[turns.store.file()]).unwrap();
            }
            5 => {
                let left = rng.random_range(0..8);
                log.push(format!("a sync stopped at event {left}"));
                indexer = sync_stopped_at(left, indexer, &config);
            }
            6 => {
                log.push("sync".into());
                indexer.sync_catalogue(&mut |_| {}).unwrap();
            }
            _ => {
                drop(indexer);
                log.push("a look at all".into());
                let followed = catch_unwind(AssertUnwindSafe(|| {
                    turns.store.is_followed("in the history");
                }));
                if let Err(why) = followed {
                    eprintln!("seed {seed} failed after:\n  {}", log.join("\n  "));
                    resume_unwind(why);
                }
                indexer = Indexer::open(&config).unwrap();
            }
        }
    }
    drop(indexer);
    turns.store.is_followed("after the history");
}

#[test]
fn a_history_of_turns_leaves_the_index_that_its_end_would_make() {
    let seeds = std::env::var("SESSIONARY_DATABASES").map_or(16, |seeds| seeds.parse().unwrap());
    for seed in 0..seeds {
        history(seed);
    }
}

fn sync(turns: &Turns) -> Report {
    let mut indexer = Indexer::open(&turns.store.config()).unwrap();
    indexer.sync_catalogue(&mut |_| {}).unwrap()
}

/// Bytes of a session's lines.
fn length(turns: &Turns) -> u64 {
    let sql = "SELECT size FROM sources WHERE relative LIKE '%ses_1'";
    let rows = turns.store.index().sql(sql, &[]).unwrap().rows;
    rows[0][0].as_u64().unwrap()
}

#[test]
fn of_a_long_session_the_last_turn_is_read() {
    for notes in NOTES {
        let mut turns = Turns::new(notes);
        turns.session("ses_1");
        sync(&turns);
        let whole = length(&turns);
        // A turn, and the one before it: a turn is saved where it begins.
        let most = whole / 12 * 2 + whole / 24;
        for at in 0..3 {
            turns.turn("ses_1");
            let report = sync(&turns);
            assert_eq!(report.files_changed, 1);
            assert!(report.bytes_read < most, "{notes:?}, {at}: {report:?}");
        }
        turns.store.is_followed("turns");
        // What is changed before the last turn is found, and read with all.
        let first = turns.said("ses_1")[1].clone();
        let table = turns.tables().1;
        let now = turns.store.tick();
        let update = format!("data = replace(data, 'heron', 'lynx'), time_updated = {now}");
        turns.change(
            &format!("UPDATE {table} SET {update} WHERE id = '{first}'"),
            "ses_1",
        );
        assert!(sync(&turns).bytes_read > whole / 2);
        assert_eq!(hits(&turns.store.index(), "lynx"), 1);
        turns.store.is_followed("a change in the first turn");
        turns.turn("ses_1");
        assert!(sync(&turns).bytes_read < most);
        turns.store.is_followed("a turn more");
        // The title is what the session's own row says: all of it is read.
        let (sessions, now) = (turns.tables().0, turns.store.tick());
        turns.change(
            &format!("UPDATE {sessions} SET title = 'Tusks', time_updated = {now}"),
            "ses_1",
        );
        assert!(sync(&turns).bytes_read > most);
        turns.store.is_followed("another title");
    }
}

/// What the session's own row says of all rows counts for those too that are not read.
#[test]
fn the_own_row_of_a_session_counts_for_all_of_it() {
    for notes in NOTES {
        let mut turns = Turns::new(notes);
        turns.session("ses_1");
        let sessions = turns.tables().0;
        let set = |turns: &Turns, what: &str| {
            turns.change(&format!("UPDATE {sessions} SET {what}"), "ses_1");
            sync(turns);
        };
        let now = turns.store.tick();
        let back = r#"'{"messageID":"msg_000014"}'"#;
        set(&turns, &format!("revert = {back}, time_updated = {now}"));
        turns.turn("ses_1");
        turns.store.is_followed("a turn behind what was taken back");
        // Its own time is the greatest of all, and then is not.
        set(&turns, &format!("time_updated = {}", now + 10_000_000));
        turns.turn("ses_1");
        sync(&turns);
        set(&turns, &format!("time_updated = {now}"));
        turns.store.is_followed("its time has gone back");
    }
}

/// What no event names is not looked for at once. All rows are counted once an hour.
#[test]
fn a_change_without_an_event_is_found_by_the_full_scan() {
    let mut turns = Turns::new(Notes::Events);
    turns.session("ses_1");
    sync(&turns);
    let now = turns.store.tick();
    turns.store.run(&format!(
        "DROP TRIGGER part_UPDATE;
         UPDATE part SET data = replace(data, 'heron', 'lynx'), time_updated = {now} WHERE id = 'prt_000003'"
    ));
    turns.turn("ses_1");
    sync(&turns);
    assert_eq!(hits(&turns.store.index(), "lynx"), 0);
    let config = turns.store.config();
    let catalogue = config
        .index_dir
        .join(format!("v{GENERATION}/catalogue.sqlite"));
    let catalogue = Connection::open(catalogue).unwrap();
    let long_ago = "UPDATE _roots SET full_scan_ms = 0";
    catalogue.execute(long_ago, []).unwrap();
    drop(catalogue);
    // The database itself is looked at where it has changed.
    turns.store.run("PRAGMA wal_checkpoint(TRUNCATE)");
    turns.store.is_followed("a full scan");
    assert_eq!(hits(&turns.store.index(), "lynx"), 1);
}

/// A row that was changed just now may be changed again within a millisecond.
#[test]
fn a_turn_is_not_trusted_before_it_has_rested() {
    let mut turns = Turns::new(Notes::Numbers);
    turns.session("ses_1");
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
    turns.store.now = now.as_millis() as i64 - 200;
    turns.say("ses_1", "assistant", "written now");
    turns.turn("ses_1");
    sync(&turns);
    let sql = "UPDATE part SET data = replace(data, 'written now', 'written new')";
    turns.change(sql, "ses_1");
    turns.turn("ses_1");
    sync(&turns);
    assert_eq!(hits(&turns.store.index(), "\"written new\""), 1);
    turns.store.is_followed("within a millisecond");
}

/// What was written after the backup is gone, and its numbers are given once more: the number that
/// a session had when it was read is that of another change.
#[test]
fn a_restored_backup_that_gives_numbers_again_is_not_trusted() {
    for notes in NOTES {
        for as_many in [false, true] {
            let mut turns = Turns::new(notes);
            turns.session("ses_1");
            turns.session("ses_2");
            sync(&turns);
            let (backup, made) = (turns.store.backup(), turns.made);
            // In the first turn, which is not read again, and in the last one.
            let first = turns.said("ses_1")[1].clone();
            let (table, now) = (turns.tables().1, turns.store.tick());
            let update = format!(
                "UPDATE {table} SET data = replace(data, 'heron', 'lynx'), time_updated = {now}
                 WHERE id = '{first}'"
            );
            turns.change(&update, "ses_1");
            turns.say("ses_1", "assistant", "an otter");
            sync(&turns);
            let found = |turns: &Turns| {
                let index = turns.store.index();
                ["lynx", "otter", "wren"].map(|word| hits(&index, word))
            };
            assert_eq!(found(&turns), [1, 1, 0], "{notes:?}");
            turns.store.restore(&backup);
            turns.made = made;
            turns.say("ses_1", "assistant", "a wren");
            turns.say("ses_1", "assistant", "a wren");
            if as_many {
                // No more changes than there were, and one number for each.
                turns.change("DELETE FROM message WHERE id = 'none'", "ses_1");
            }
            sync(&turns);
            assert_eq!(found(&turns), [0, 0, 2], "{notes:?}");
            turns.store.is_followed("after a backup was restored");
        }
    }
}
