//! Does SQLite find the rows of OpenCode's sessions by the indexes that OpenCode makes, and are no
//! more rows looked at than is needed?

use std::collections::BTreeMap;

use rusqlite::{Connection, StatementStatus};

use super::list::{KnownIdentities, Stamps};
use super::rows::{read_session, select};
use super::schema::{Present, quoted};
use crate::format::FORMATS;
use crate::format::database::Database;
use crate::format::identity::Identity;

/// Tables and indexes of OpenCode 1.18, as far as they matter.
const SCHEMA: &str = "
    CREATE TABLE session (id text PRIMARY KEY, directory text, title text, time_created integer, time_updated integer);
    CREATE TABLE message (id text PRIMARY KEY, session_id text NOT NULL, time_created integer, time_updated integer, data text);
    CREATE TABLE part (id text PRIMARY KEY, message_id text NOT NULL, session_id text NOT NULL, time_created integer,
        time_updated integer, data text);
    CREATE TABLE event_sequence (aggregate_id text PRIMARY KEY, seq integer NOT NULL, owner_id text);
    CREATE INDEX message_session_time_created_id_idx ON message (session_id, time_created, id);
    CREATE INDEX part_message_id_id_idx ON part (message_id, id);
    CREATE INDEX part_session_idx ON part (session_id);";

fn opencode() -> &'static Database {
    let mut formats = FORMATS.iter();
    let format = formats
        .find(|format| format.about().name == "opencode")
        .unwrap();
    format.about().database.unwrap()
}

/// Sessions of so many messages, each of three parts.
fn store(sessions: usize, messages: usize) -> Connection {
    let connection = Connection::open_in_memory().unwrap();
    connection.execute_batch(SCHEMA).unwrap();
    for session in 0..sessions {
        let mut sql = format!(
            "INSERT INTO session VALUES ('s{session}', '/code', 'Birds', 5, 9);
             INSERT INTO event_sequence VALUES ('s{session}', 7, NULL);"
        );
        for at in 0..messages {
            let message = format!("m{session}-{at:04}");
            sql += &format!(
                "INSERT INTO message VALUES ('{message}', 's{session}', {at}, {at}, '{{\"role\":\"user\"}}');"
            );
            for part in 0..3 {
                sql += &format!(
                    "INSERT INTO part VALUES ('p{session}-{at:04}-{part}', '{message}', 's{session}', {at}, {at},
                         '{{\"type\":\"text\",\"text\":\"heron\"}}');"
                );
            }
        }
        connection.execute_batch(&sql).unwrap();
    }
    connection
}

/// The first layout of its tables.
fn first() -> &'static crate::format::database::Layout {
    &opencode().layouts[1]
}

#[test]
fn rows_come_in_the_order_of_an_index() {
    let connection = store(2, 50);
    let message = &first().rows[0];
    let inner = message.inner.as_ref().unwrap();
    let of = |table| Present::of(&connection, table, first()).unwrap().unwrap();
    let (message, part) = (of(message), of(inner.table));
    let of_message = format!("{} = ?1", quoted(inner.outer));
    for (sql, key, count) in [
        (select(&message, &message.of_session), "s1", 50),
        (select(&part, &of_message), "m1-0007", 3),
    ] {
        let mut statement = connection.prepare(&sql).unwrap();
        let rows = statement.query_map([key], |row| row.get::<_, String>(0));
        let keys: Vec<String> = rows.unwrap().map(Result::unwrap).collect();
        assert_eq!(keys.len(), count, "{sql}");
        assert!(keys.is_sorted(), "{keys:?}");
        for (what, status) in [
            ("sorted", StatementStatus::Sort),
            ("read through", StatementStatus::FullscanStep),
            ("given an index", StatementStatus::AutoIndex),
        ] {
            assert_eq!(statement.get_status(status), 0, "{what}: {sql}");
        }
    }
}

/// Steps of SQLite's machine while this is done.
fn steps(connection: &mut Connection, work: impl FnOnce(&Connection)) -> usize {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};
    let steps = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&steps);
    let count = move || {
        counted.fetch_add(1, Ordering::Relaxed);
        false
    };
    connection.progress_handler(1, Some(count)).unwrap();
    work(connection);
    connection
        .progress_handler(0, None::<fn() -> bool>)
        .unwrap();
    steps.load(Ordering::Relaxed)
}

type IdentityLookup<'k> = &'k dyn Fn(&str) -> Option<Identity>;

fn known(of: IdentityLookup<'_>, stand: bool) -> KnownIdentities<'_> {
    KnownIdentities { of, stand }
}

#[test]
fn no_rows_are_counted_of_a_session_that_is_read_anyway() {
    let listed = |connection: &Connection, known: KnownIdentities<'_>| {
        let mut all = BTreeMap::new();
        let stamps = Stamps::of(connection, first()).unwrap().unwrap();
        stamps.each(known, &mut all).unwrap();
        all
    };
    let mut of_few = Vec::new();
    for messages in [1, 200] {
        let mut connection = store(20, messages);
        let read = read_session(&connection, opencode(), ("s3", None))
            .unwrap()
            .unwrap();
        let other = Identity {
            inode: read.identity.inode - 1,
            ..read.identity
        };
        let none = |_: &str| None;
        let same = |key: &str| (key == "s3").then_some(read.identity);
        let changed = |key: &str| (key == "s3").then_some(other);
        // What is new, what has changed by its number, and what is to stand.
        let cases = [
            (known(&none, false), false),
            (known(&changed, false), false),
            (known(&changed, true), false),
            (known(&same, true), true),
        ];
        for (at, (known, is_same)) in cases.into_iter().enumerate() {
            let looked = steps(&mut connection, |connection| {
                let all = listed(connection, known);
                assert_eq!(all.len(), 20);
                assert_eq!(all["s3"] == read.identity, is_same, "{at}");
            });
            match messages {
                1 => of_few.push(looked),
                _ => assert_eq!(looked, of_few[at], "{at}: rows were looked at"),
            }
        }
        // The full look counts what looks as it was.
        let counted = listed(&connection, known(&same, false));
        assert_eq!(counted["s3"], read.identity);
    }
}

/// Case 14 of OpenCode's: at the start the table of sessions is read, and what it says decides.
#[test]
fn of_500_000_parts_none_is_looked_at() {
    let mut connection = store(0, 0);
    let many = |last: u32, insert: &str| {
        format!(
            "WITH RECURSIVE at(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM at WHERE n < {last}) {insert} FROM at;"
        )
    };
    let rows = [
        many(
            99,
            "INSERT INTO session SELECT printf('s%03d', n), '/code', 'Birds', 5, 9",
        ),
        many(
            99,
            "INSERT INTO event_sequence SELECT printf('s%03d', n), 7, NULL",
        ),
        many(
            99_999,
            "INSERT INTO message SELECT printf('m%05d', n), printf('s%03d', n / 1000), n, n, '{}'",
        ),
        many(
            499_999,
            "INSERT INTO part SELECT printf('p%06d', n), printf('m%05d', n / 5), printf('s%03d', n / 5000), n, n, '{}'",
        ),
    ];
    connection.execute_batch(&rows.concat()).unwrap();
    let read = read_session(&connection, opencode(), ("s042", None));
    let read = read.unwrap().unwrap().identity;
    assert_eq!(
        read.size, 6001,
        "its own row, 1,000 messages and 5,000 parts"
    );
    let none = |_: &str| None;
    let same = |_: &str| Some(read);
    for known in [known(&none, false), known(&same, true)] {
        let looked = steps(&mut connection, |connection| {
            let mut all = BTreeMap::new();
            let stamps = Stamps::of(connection, first()).unwrap().unwrap();
            stamps.each(known, &mut all).unwrap();
            assert_eq!(all.len(), 100);
        });
        assert!(looked < 100 * 100, "{looked} steps for 100 sessions");
    }
}

#[test]
fn parts_without_a_message_are_looked_for_only_where_there_are_any() {
    let mut connection = store(1, 100);
    let lines = |connection: &Connection| {
        let session = read_session(connection, opencode(), ("s0", None));
        let session = session.unwrap().unwrap();
        session.lines.iter().filter(|byte| **byte == b'\n').count()
    };
    let before = steps(&mut connection, |connection| {
        assert_eq!(lines(connection), 401)
    });
    connection
        .execute("DELETE FROM message WHERE id = 'm0-0050'", [])
        .unwrap();
    let after = steps(&mut connection, |connection| {
        assert_eq!(lines(connection), 400)
    });
    assert!(after > before, "{after} steps, {before} before");
}

/// What a look at a long session costs that was read up to its last turn.
#[test]
fn rows_before_a_turn_are_looked_at_only_where_no_event_names_those_that_changed() {
    let mut looked = Vec::new();
    for messages in [20, 400] {
        let mut connection = store(1, messages);
        let run = |connection: &Connection, sql: &str| connection.execute_batch(sql).unwrap();
        run(
            &connection,
            "CREATE TABLE event (id text PRIMARY KEY, aggregate_id text, seq integer, type text, data text);
             CREATE UNIQUE INDEX event_seq ON event (aggregate_id, seq);
             INSERT INTO event VALUES ('evt_7', 's0', 7, 'session.updated.1', '{}')",
        );
        let whole = read_session(&connection, opencode(), ("s0", None));
        let (_, turn) = whole.unwrap().unwrap().turns.pop().unwrap();
        assert_eq!(turn.key, format!("m0-{:04}", messages - 1));
        let session = |connection: &Connection| {
            read_session(connection, opencode(), ("s0", Some(&turn))).unwrap()
        };
        let note = |number: i64, kind: &str, message: &str| {
            format!(
                "UPDATE event_sequence SET seq = {number};
                 INSERT INTO event VALUES ('evt_{number}', 's0', {number}, '{kind}', '{{\"part\":{{\"messageID\":\"{message}\"}}}}')"
            )
        };
        let update = "message.part.updated.1";
        // A part of the turn has changed, and that is noted.
        run(
            &connection,
            &(note(8, update, &turn.key)
                + "; UPDATE part SET time_updated = 999 WHERE id GLOB '*-2' AND message_id = (SELECT max(id) FROM message)"),
        );
        let mut lines = 0;
        looked.push(steps(&mut connection, |connection| {
            let session = session(connection).unwrap();
            lines = session.lines.iter().filter(|byte| **byte == b'\n').count();
        }));
        assert_eq!(lines, 5, "the session's row, a message and its parts");
        let read = session(&connection).unwrap().identity;
        let whole = read_session(&connection, opencode(), ("s0", None));
        assert_eq!(read, whole.unwrap().unwrap().identity);
        // The number that was read is that of another change.
        let swap = |connection: &Connection, from: &str, to: &str| {
            let swap = format!("UPDATE event SET id = '{to}' WHERE id = '{from}'");
            run(connection, &swap);
        };
        swap(&connection, "evt_7", "evt_70");
        let many = steps(&mut connection, |connection| {
            assert!(session(connection).is_some(), "the rows are as they were");
        });
        assert!(many > looked[looked.len() - 1] + messages);
        swap(&connection, "evt_70", "evt_7");
        // An event is missing; one is of something else; one names a message before the turn.
        for (number, kind, message) in [
            (10, update, &*turn.key),
            (9, "message.part.removed.1", &turn.key),
            (9, update, "m0-0003"),
        ] {
            run(&connection, "DELETE FROM event WHERE seq > 8");
            run(&connection, &note(number, kind, message));
            let many = steps(&mut connection, |connection| {
                assert!(session(connection).is_some(), "the rows are as they were");
            });
            assert!(many > looked[looked.len() - 1] + messages, "{kind}");
        }
        run(
            &connection,
            "UPDATE part SET time_updated = 999 WHERE message_id = 'm0-0003'",
        );
        assert!(session(&connection).is_none());
    }
    // One step for each entry of an index, to count them.
    assert!(looked[1] < looked[0] + 3 * 380 * 4, "{looked:?}");
}
