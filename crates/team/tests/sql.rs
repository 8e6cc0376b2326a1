//! Do the rows in a database say what one machine says that holds the same redacted sessions, and
//! nothing to who may not read?

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::Barrier;

use serde_json::{Value, json};
use sessionary::model::Zone;
use sessionary::settings::Surroundings;
use sessionary::{Config, Freshness, Index};
use sessionary_team::rows::{Bundle, BundleKey, Rows};
use sessionary_team::store::{self, Batch};

use crate::machine::{BOAT, DIARY, Folder, Machine, tree};
use crate::secrets::{SECRETS, holds};
use crate::server::Server;

/// Views of one index alone.
const OF_AN_INDEX: [&str; 2] = ["changes", "freshness"];

/// Numbers that are those of one index or one database, by what they are of.
const NUMBERS: [(&str, &str); 5] = [
    ("session", "session"),
    ("entry", "entry"),
    ("source", "source"),
    ("answer", "entry"),
    ("forks.parent", "parent"),
];

type Row = BTreeMap<String, Value>;
type Ask = Box<dyn Fn(&str) -> Vec<Row>>;

/// What a machine, or the database, says, in words that both have.
struct Said {
    sessions: BTreeMap<i64, String>,
    sources: BTreeMap<i64, String>,
    entries: BTreeMap<i64, String>,
    ask: Ask,
}

impl Said {
    /// By a machine that has pulled all.
    fn by_machine(machine: &Machine, zone: &str) -> Said {
        let copies = machine.data().join("team").display().to_string() + "/";
        let index = index_in(machine, zone);
        Said::by(Box::new(move |query| {
            let answer = index.sql(query, &[]).unwrap();
            let row = |values: &Vec<Value>| {
                let values = values.iter().map(|value| match value {
                    Value::String(text) => json!(text.replace(&copies, "")),
                    other => other.clone(),
                });
                answer.columns.iter().cloned().zip(values).collect()
            };
            answer.rows.iter().map(row).collect()
        }))
    }

    /// By the database, to this machine.
    fn by_database(machine: &Machine, zone: &str) -> Said {
        let machine = machine.home().to_path_buf();
        let zone = zone.to_owned();
        Said::by(Box::new(move |query| {
            let output = Machine::command_in(&machine, &["sql", "--jsonl", query])
                .env("TZ", &zone)
                .output()
                .unwrap();
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert_ne!(output.status.code(), Some(2), "{query}: {said}");
            let text = String::from_utf8(output.stdout).unwrap();
            let row = |line| serde_json::from_str(line).unwrap();
            text.lines().map(row).collect()
        }))
    }

    fn by(ask: Ask) -> Said {
        let names = |query: &str| -> BTreeMap<i64, String> {
            let row = |row: Row| {
                let number = row["number"].as_i64().unwrap();
                (number, row["name"].as_str().unwrap().to_owned())
            };
            ask(query).into_iter().map(row).collect()
        };
        let sessions = names("SELECT session AS number, path || ' ' || id AS name FROM sessions");
        let sources =
            names("SELECT source AS number, root || '/' || relative AS name FROM sources");
        // Within a session numbers go by the order in which its files were read.
        let entries = names(
            "SELECT e.entry AS number, s.root || '/' || s.relative || ' ' ||
                coalesce(e.\"row\", CAST(e.start AS text)) AS name
             FROM entries e JOIN sources s USING (source)",
        );
        Said {
            sessions,
            sources,
            entries,
            ask,
        }
    }

    /// The rows of a view, in order, with names in the place of numbers.
    fn rows(&self, view: &str) -> Vec<String> {
        let rows = (self.ask)(&format!("SELECT * FROM {view}"));
        let mut rows: Vec<String> = rows
            .into_iter()
            .map(|row| {
                let values = row.into_iter().map(|(column, value)| {
                    let value = self.named(view, &column, value);
                    (column, value)
                });
                json!(values.collect::<Row>()).to_string()
            })
            .collect();
        rows.sort();
        rows
    }

    fn named(&self, view: &str, column: &str, value: Value) -> Value {
        let of = NUMBERS.iter().find(|(name, _)| {
            let (of, its) = name.split_once('.').unwrap_or((view, name));
            of == view && its == column
        });
        match (of.map(|(_, of)| *of), value.as_i64()) {
            (Some("session"), Some(number)) => json!(self.sessions[&number]),
            // Of several sessions of one id it is the one with the smallest number.
            (Some("parent"), Some(number)) => {
                json!(self.sessions[&number].rsplit_once(' ').unwrap().1)
            }
            (Some("source"), Some(number)) => json!(self.sources[&number]),
            (Some("entry"), Some(number)) => json!(self.entries[&number]),
            // Sums of floats depend on their order in the last digits.
            _ if value.is_f64() => json!(format!("{:.9}", value.as_f64().unwrap())),
            _ => value,
        }
    }
}

fn index_in(machine: &Machine, zone: &str) -> Index {
    let config = Config::of(&Surroundings {
        variables: BTreeMap::new(),
        home: Some(machine.home().to_path_buf()),
        cwd: machine.cwd(BOAT),
    });
    let config = Config {
        zone: Zone::named(zone).unwrap(),
        ..config.unwrap()
    };
    Index::open(&config, Freshness::Check).unwrap()
}

/// The views of the contract, with their columns.
fn views(index: &Index) -> BTreeMap<String, BTreeSet<String>> {
    let all = "SELECT v.name, c.name FROM sqlite_schema v JOIN pragma_table_info(v.name) c
        WHERE v.type = 'view' AND substr(v.name, 1, 1) <> '_'";
    let mut views: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for row in index.sql(all, &[]).unwrap().rows {
        let text = |at: usize| row[at].as_str().unwrap().to_owned();
        views.entry(text(0)).or_default().insert(text(1));
    }
    views.retain(|name, _| !OF_AN_INDEX.contains(&name.as_str()));
    views
}

/// Every view says to `reader`, who has pulled all, by the database what it says by SQLite.
pub fn equal(reader: &Machine, zone: &str) -> BTreeMap<String, usize> {
    let index = index_in(reader, zone);
    let (here, there) = (
        Said::by_machine(reader, zone),
        Said::by_database(reader, zone),
    );
    let mut counts = BTreeMap::new();
    for (view, columns) in views(&index) {
        let own = here.rows(&view);
        let of_database = there.rows(&view);
        let only = |row: &String| -> String {
            let mut row: Row = serde_json::from_str(row).unwrap();
            row.retain(|column, _| columns.contains(column));
            json!(row).to_string()
        };
        let mut same: Vec<String> = of_database.iter().map(only).collect();
        same.sort();
        let missing: Vec<_> = own.iter().filter(|row| !same.contains(row)).collect();
        let more: Vec<_> = same.iter().filter(|row| !own.contains(row)).collect();
        assert!(
            missing.is_empty() && more.is_empty(),
            "{view}: {missing:#?} are not there, {more:#?} are"
        );
        assert_eq!(own.len(), same.len(), "{view}");
        counts.insert(view, own.len());
    }
    // Of each row the host is that of its session.
    for view in [
        "entries",
        "usage",
        "touches",
        "calls",
        "call_records",
        "files",
    ] {
        let of_another = format!(
            "SELECT v.host FROM {view} v JOIN sessions s USING (session) WHERE v.host <> s.host"
        );
        assert_eq!((there.ask)(&of_another), Vec::<Row>::new(), "{view}");
    }
    counts
}

/// Copy recorded sessions of many agents into a home, one case in `of`, as sessions of its boat.
fn fixtures(machine: &Machine, which: usize, of: usize) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let boat = machine.cwd(BOAT).display().to_string();
    for (agent, to) in [
        ("pi", ".pi/agent/sessions"),
        ("claude", ".claude/projects"),
        ("codex", ".codex/sessions/2026/01"),
        ("gemini", ".gemini/tmp"),
        ("qwen", ".qwen/projects"),
        ("copilot", ".copilot/session-state"),
        ("clido", ".local/share/clido/sessions"),
        ("agentuse", ".local/share/agentuse"),
    ] {
        let cases: BTreeSet<_> = fs::read_dir(from.join(agent)).unwrap().collect_paths();
        for (number, case) in cases.iter().enumerate() {
            let name = case.file_name().unwrap().display().to_string();
            if number % of != which || agent == "agentuse" && name != "subagents" {
                continue;
            }
            // Its names differ by their case alone, and of such only one is pulled.
            if name == "openclaw-copies" {
                continue;
            }
            for (path, bytes) in tree(case) {
                let path = path.trim_start_matches('/');
                let to = machine.home().join(to).join(match agent {
                    "gemini" => path.replacen("tmp/aviary", &name, 1),
                    "qwen" => path.replacen("projects/", &name, 1),
                    "codex" => format!("{:02}/{path}", number % 28 + 1),
                    "copilot" | "agentuse" => path.to_owned(),
                    _ => format!("{name}/{path}"),
                });
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::write(to, of_boat(bytes, &boat)).unwrap();
            }
        }
    }
}

fn of_boat(bytes: Vec<u8>, boat: &str) -> Vec<u8> {
    let Ok(text) = String::from_utf8(bytes.clone()) else {
        return bytes;
    };
    let places = [
        "/home/ada/work",
        "/home/ada/code/app",
        "/home/ada/code/aviary",
    ];
    let places = places
        .iter()
        .chain(&["/home/ada/code/harbour", "/home/ada/code/mail"]);
    let text = places.fold(text, |text, place| text.replace(place, boat));
    text.into_bytes()
}

trait Paths {
    fn collect_paths(self) -> BTreeSet<std::path::PathBuf>;
}

impl Paths for fs::ReadDir {
    fn collect_paths(self) -> BTreeSet<std::path::PathBuf> {
        self.map(|entry| entry.unwrap().path()).collect()
    }
}

/// Push what can be pushed.
fn push(machine: &Machine) {
    let output = machine.output(&["push"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_ne!(output.status.code(), Some(2), "{said}");
}

fn pull(machine: &Machine) {
    let output = machine.output(&["pull"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{said}");
}

#[test]
fn the_database_says_what_one_machine_says_that_holds_the_same_sessions() {
    let Some(server) = Server::with(&["ada", "bob", "eve", "zoe"]) else {
        return;
    };
    let writers = ["ada", "bob", "eve"].map(|name| server.sharing(name));
    for (number, machine) in writers.iter().enumerate() {
        fixtures(machine, number, writers.len());
        machine.write_session(DIARY, &format!("{}-private", machine.name), &["private"]);
        let said = format!("the token is {} indeed", SECRETS[number]);
        let own = machine.write_session(BOAT, &format!("{}-own", machine.name), &["one", &said]);
        // Bob went on with a session of ada's, and eve with that one: its answers count once.
        let copied = fs::read_to_string(&own).unwrap();
        let copied = copied.replacen(&format!("{}-own", machine.name), "fork", 1);
        fs::write(machine.session_path(BOAT, "fork"), copied).unwrap();
        let shared = machine.session_path(BOAT, "same");
        let lines = ada_said(&machine.cwd(BOAT), number);
        fs::write(shared, lines).unwrap();
        let old = ada_said(&machine.cwd(BOAT), number).replace("same", &format!("old{number}"));
        let old = old.replace("2026-01-05T06:00:01", "1969-12-31T23:59:59");
        fs::write(machine.session_path(BOAT, "old"), old).unwrap();
        let runs = machine
            .home()
            .join(".local/share/clido/sessions/_w/nulls.jsonl");
        fs::create_dir_all(runs.parent().unwrap()).unwrap();
        fs::write(runs, results(&machine.cwd(BOAT))).unwrap();
    }
    writers.iter().for_each(push);
    let zoe = server.sharing("zoe");
    pull(&zoe);
    let counts = equal(&zoe, "UTC");
    for (view, least) in [
        ("sessions", 100),
        ("entries", 500),
        ("calls", 40),
        ("usage", 30),
        ("touches", 10),
        ("runs", 1),
        ("labels", 1),
        ("compactions", 1),
        ("forks", 1),
        ("problems", 1),
        ("usage_by_model", 3),
    ] {
        assert!(counts[view] >= least, "{view}: {counts:?}");
    }
    equal(&zoe, "America/New_York");
    // They go on; sessions come, go and are taken back.
    for machine in &writers {
        let own = machine.session_path(BOAT, &format!("{}-own", machine.name));
        machine.say(&own, "and on");
        machine.write_session(BOAT, &format!("{}-new", machine.name), &["new", "answer"]);
        push(machine);
    }
    pull(&zoe);
    equal(&zoe, "UTC");
    writers[0].json(&["purge", "ada-own"]);
    fs::remove_file(writers[1].session_path(BOAT, "bob-own")).unwrap();
    writers[1].output(&["push", "--prune"]);
    let moved = writers[2].session_path(BOAT, "eve-own");
    fs::rename(
        &moved,
        moved.with_file_name("2026-01-05T09-00-01-000Z_eve-own.jsonl"),
    )
    .unwrap();
    push(&writers[2]);
    writers[2].output(&["revoke", BOAT]);
    pull(&zoe);
    equal(&zoe, "UTC");
}

/// Runs of clido, of which one records no cost.
fn results(cwd: &Path) -> String {
    let meta = json!({"type": "meta", "schema_version": 1, "session_id": "nulls",
        "project_path": cwd, "start_time": "2026-01-05T09:00:00.000Z"});
    let result = |cost| {
        json!({"type": "result", "exit_status": "success", "total_cost_usd": cost,
            "num_turns": 1, "duration_ms": 300})
    };
    let (first, none, next) = (result(Some(0.25)), result(None), result(Some(0.375)));
    format!("{meta}\n{first}\n{none}\n{next}\n")
}

/// A session of which each machine has a copy, begun at another time.
fn ada_said(cwd: &Path, number: usize) -> String {
    let header = json!({"type": "session", "version": 3, "id": format!("same-{number}"),
        "timestamp": format!("2026-01-05T0{}:00:00.000Z", 7 - number), "cwd": cwd});
    let answer = json!({"type": "message", "id": "same-0001", "parentId": null,
        "timestamp": "2026-01-05T06:00:01.000Z", "message": {"role": "assistant",
        "content": [{"type": "text", "text": "said once"},
            {"type": "toolCall", "id": "c1", "name": "bash", "arguments": {"command": "ls"}}],
        "usage": {"input": 7, "output": 3, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 10,
            "cost": {"total": 0.125}}, "model": "m-2", "provider": "p", "timestamp": 1}});
    format!("{header}\n{answer}\n")
}

#[test]
fn an_answer_that_several_machines_have_counts_once() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    let (ada, bob) = (server.sharing("ada"), server.sharing("bob"));
    for (number, machine) in [&ada, &bob].into_iter().enumerate() {
        let path = machine.session_path(BOAT, "same");
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, ada_said(&machine.cwd(BOAT), number)).unwrap();
        machine.json(&["push"]);
    }
    let said = |question: &str| Said::by_database(&ada, "UTC").ask.as_ref()(question);
    let spent = "SELECT host, sum(cost_total) AS cost FROM usage GROUP BY host";
    // Bob's copy says that it began first.
    let once = json!({"host": "bob", "cost": 0.125});
    assert_eq!(json!(said(spent)), json!([once]));
    let calls = said("SELECT calls FROM tools");
    assert_eq!(json!(calls), json!([{"calls": 1}]));
    bob.json(&["purge", "--all"]);
    assert_eq!(json!(said(spent)), json!([{"host": "ada", "cost": 0.125}]));
    // A file may claim any moment.
    server.sql("UPDATE sessionary_catalogue._usage SET time_ms = -9223372036854775808");
    assert_eq!(json!(said("SELECT day FROM usage")), json!([{"day": null}]));
}

/// Tables and views with rows of ada's, as SQL names them.
fn relations(server: &Server) -> Vec<String> {
    let all = "SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
        WHERE nspname = 'sessionary_catalogue' AND relkind IN ('r', 'v') ORDER BY 1";
    let names = server.sql(all);
    let names = names.lines().map(str::to_owned);
    names.filter(|name| !name.ends_with(".contract")).collect()
}

/// A machine whose rows are in every table but for those of odd files.
fn full(server: &Server, name: &str) -> Machine {
    let machine = server.sharing(name);
    fixtures(&machine, 0, 1);
    machine.write_session(
        BOAT,
        &format!("{name}-own"),
        &["one", SECRETS[0], SECRETS[1]],
    );
    push(&machine);
    machine
}

#[test]
fn who_may_not_read_sees_no_row_of_the_contract() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    full(&server, "ada");
    let bob = server.sharing("bob");
    let relations = relations(&server);
    assert!(relations.len() > 30, "{relations:?}");
    let count =
        |role: &str, name: &str| server.sql_as(role, &format!("SELECT count(*) FROM {name}"));
    for name in &relations {
        let rows = count("bob", name).unwrap();
        let may_be_none = ["_stepped"].iter().any(|of| name.ends_with(of));
        assert!(rows != "0" || may_be_none, "{name}");
    }
    server.sql("REVOKE sessionary_reader_team FROM bob");
    for name in &relations {
        assert_eq!(count("bob", name).unwrap(), "0", "{name}");
    }
    let asked = ["sql", "SELECT * FROM sessions"];
    assert_eq!(bob.output(&asked).status.code(), Some(1));
    server.sql("REVOKE sessionary_writer_team FROM bob");
    for name in &relations {
        assert!(
            count("bob", name)
                .unwrap_err()
                .contains("permission denied"),
            "{name}"
        );
    }
    assert_eq!(bob.output(&asked).status.code(), Some(2));
    // Nor does who may look at tables, and has the role of readers only to give it to others.
    server.sql(
        "CREATE ROLE eve LOGIN PASSWORD 'eve-word' NOINHERIT;
         GRANT sessionary_reader_team TO eve WITH ADMIN OPTION;
         GRANT USAGE ON SCHEMA sessionary_catalogue TO eve;
         GRANT SELECT ON ALL TABLES IN SCHEMA sessionary_catalogue TO eve",
    );
    for name in &relations {
        assert_eq!(count("eve", name).unwrap(), "0", "{name}");
    }
}

#[test]
fn nobody_changes_a_row_of_the_contract_or_adds_to_anothers() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    full(&server, "ada");
    full(&server, "bob");
    for name in relations(&server) {
        if !name.contains("._") {
            continue;
        }
        for role in ["ada", "bob"] {
            for change in ["UPDATE {} SET owner = owner", "TRUNCATE {}"] {
                let said = server.sql_as(role, &change.replace("{}", &name));
                assert!(said.is_err(), "{role} {name}");
            }
        }
    }
    let theirs = |column: &str, table: &str| {
        let asked =
            format!("SELECT min({column}) FROM sessionary_catalogue.{table} WHERE owner = 'ada'");
        server.sql(&asked)
    };
    let (bundle, session) = (theirs("bundle", "_bundles"), theirs("session", "_sessions"));
    let source = theirs("source", "_sources");
    let of_session = "agent, root_path, path, id, cwd, modified_ms, file_ms, messages, entries,
        problems, errors, bytes, subagent, list_order";
    let of_session = (
        format!("session, bundle, {of_session}"),
        format!(
            "number, {bundle}, 'pi', 'bob/pi', 'bob/pi/x', 'x', '', 0, 0, 0, 0, 0, 0, 0, 0, ''"
        ),
    );
    for (table, columns, values) in [
        (
            "_bundles",
            "bundle, host, agent, session, seal",
            "number, 'ada', 'pi', 'x', 'y'".to_owned(),
        ),
        ("_sessions", of_session.0.as_str(), of_session.1),
        (
            "_sources",
            "source, bundle, agent, root_path, relative, size, mtime_ms, consumed",
            format!("number, {bundle}, 'pi', 'bob/pi', 'x', 0, 0, 0"),
        ),
        (
            "_labels",
            "key, target",
            format!("({session}::bigint << 24) + 9999, 'x'"),
        ),
        (
            "_session_sources",
            "session, source, part",
            format!("{session}, 1, 'main'"),
        ),
        (
            "_problems",
            "source, start, length, provisional, reason",
            format!("{source}, 99, 1, 0, 'x'"),
        ),
        (
            "_strays",
            "bundle, agent, root_path, relative, reason, unread",
            format!("{bundle}, 'pi', 'ada/pi', 'x', 'y', 0"),
        ),
    ] {
        let said = server.sql_as("bob", &add(table, columns, &values));
        let said = said.unwrap_err();
        // By the policy that every row has to meet, and not by one of numbers.
        let refused = format!("violates row-level security policy for table \"{table}\"");
        assert!(said.contains(&refused), "{table}: {said}");
    }
    let steal = "DELETE FROM sessionary_catalogue._sessions WHERE owner = 'ada' RETURNING session";
    assert_eq!(server.sql_as("bob", steal).unwrap(), "");
}

/// Views join what others have by the numbers of files and by paths.
#[test]
fn nobody_adds_to_what_is_seen_of_anothers_sessions() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    for name in ["ada", "bob"] {
        let machine = server.sharing(name);
        machine.write_session(BOAT, name, &["one", "two"]);
        machine.json(&["push"]);
    }
    let of = |role: &str, column: &str, table: &str| {
        let table = format!("sessionary_catalogue.{table} WHERE owner = '{role}'");
        server.sql(&format!("SELECT min({column}) FROM {table}"))
    };
    let (bundle, session) = (
        of("bob", "bundle", "_bundles"),
        of("bob", "session", "_sessions"),
    );
    let entry = |source: String| {
        format!("({session}::bigint << 24) + 9999, {source}, 0, 0, 0, 0, 'x', 0, 0")
    };
    let of_session = |root: &str, path: &str| {
        format!("number, {bundle}, 'pi', '{root}', '{path}', 'x', '', 0, 0, 0, 0, 0, 0, 0, 0, ''")
    };
    let of_file = |root: &str| format!("number, {bundle}, 'pi', '{root}', 'x', 0, 0, 0");
    let stray = |root: &str| format!("{bundle}, 'pi', '{root}', 'x', 'y', 0");
    let sessions = "session, bundle, agent, root_path, path, id, cwd, modified_ms, file_ms,
        messages, entries, problems, errors, bytes, subagent, list_order";
    let sources = "source, bundle, agent, root_path, relative, size, mtime_ms, consumed";
    let strays = "bundle, agent, root_path, relative, reason, unread";
    let entries = "key, source, start, length, line, hash, kind, agent_sees, flags";
    for (table, columns, anothers, own) in [
        (
            "_session_sources",
            "session, source, part",
            vec![format!(
                "{session}, {}, 'x'",
                of("ada", "source", "_sources")
            )],
            None,
        ),
        (
            "_entries",
            entries,
            vec![entry(of("ada", "source", "_sources"))],
            Some(entry(of("bob", "source", "_sources"))),
        ),
        (
            "_sessions",
            sessions,
            vec![
                of_session("ada/pi", "bob/pi/x"),
                of_session("bob/pi", "ada/pi/x"),
            ],
            Some(of_session("bob/pi", "bob/pi/x")),
        ),
        (
            "_sources",
            sources,
            vec![of_file("ada/pi"), of_file("bobby/pi")],
            Some(of_file("bob/pi")),
        ),
        (
            "_strays",
            strays,
            vec![stray("ada/pi")],
            Some(stray("bob/pi")),
        ),
    ] {
        for values in anothers {
            let said = server.sql_as("bob", &add(table, columns, &values));
            let refused = "violates row-level security policy \"own_";
            assert!(
                said.as_ref().is_err_and(|of| of.contains(refused)),
                "{table}: {said:?}"
            );
        }
        if let Some(values) = own {
            server.sql_as("bob", &add(table, columns, &values)).unwrap();
        }
    }
}

/// A row of these values, and a number that is given out for it.
fn add(table: &str, columns: &str, values: &str) -> String {
    format!(
        "INSERT INTO sessionary_catalogue.{table} ({columns})
         SELECT {values} FROM sessionary_catalogue._take(1) number"
    )
}

/// A session with a secret in each thing that rows say words of.
fn write_secrets(machine: &Machine) {
    let said = |secret: &str| format!("it is {secret} indeed");
    let path = machine.write_session(BOAT, "said", &[&said(SECRETS[0])]);
    let call = |name: &str, arguments: Value| {
        json!({"type": "toolCall", "id": format!("c-{name}"),
        "name": name, "arguments": arguments})
    };
    let command = format!("curl -H 'x-key: {}' example.org", SECRETS[1]);
    let place = format!("notes/{}.md", SECRETS[1]);
    let calls = [
        call("bash", json!({"command": command})),
        call("write", json!({"path": place, "content": said(SECRETS[2])})),
    ];
    let message = json!({"role": "assistant", "content": calls, "model": "m-1", "provider": "p",
        "timestamp": 2});
    let mut lines = fs::read_to_string(&path).unwrap();
    for (number, mut entry) in [
        json!({"type": "message", "message": message}),
        json!({"type": "label", "targetId": "said-0001", "label": said(SECRETS[0])}),
        json!({"type": "session_info", "name": said(SECRETS[1])}),
    ]
    .into_iter()
    .enumerate()
    {
        entry["id"] = json!(format!("said-{:04}", number + 2));
        entry["parentId"] = json!(format!("said-{:04}", number + 1));
        entry["timestamp"] = json!(format!("2026-01-05T09:01:{number:02}.000Z"));
        lines += &format!("{entry}\n");
    }
    fs::write(path, lines).unwrap();
}

#[test]
fn no_row_holds_a_secret_or_says_where_it_was_made() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = full(&server, "ada");
    write_secrets(&ada);
    push(&ada);
    for name in relations(&server) {
        let all = server.sql(&format!("SELECT t::text FROM {name} t"));
        for secret in SECRETS {
            assert!(!holds(all.as_bytes(), secret), "{name}");
        }
        assert!(!all.contains("team.rows"), "{name}");
    }
    assert!(!ada.data().join("team.rows").exists());
    // There were rows that would have held them.
    for (table, column) in [
        ("_sessions", "first_message"),
        ("_sessions", "name"),
        ("_labels", "text"),
        ("_calls", "subject"),
        ("_files", "path"),
    ] {
        let marked = format!(
            "SELECT count(*) FROM sessionary_catalogue.{table}
             WHERE {column} LIKE '%[redacted]%'"
        );
        assert_ne!(server.sql(&marked), "0", "{table}.{column}");
    }
}

/// Of all tables with rows of the contract those that have some of this role.
fn tables_of(server: &Server, role: &str) -> Vec<String> {
    let all = "SELECT c.oid::regclass FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
        WHERE nspname = 'sessionary_catalogue' AND relkind = 'r' AND relrowsecurity ORDER BY 1";
    let has_rows = |name: &&str| {
        let count = format!("SELECT count(*) FROM {name} WHERE owner = '{role}'");
        server.sql(&count) != "0"
    };
    let names = server.sql(all);
    names.lines().filter(has_rows).map(str::to_owned).collect()
}

#[test]
fn who_leaves_a_database_leaves_no_row_there() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    let (ada, bob) = (full(&server, "ada"), server.sharing("bob"));
    bob.write_session(BOAT, "0b", &["of bob"]);
    bob.json(&["push"]);
    // As it is when the id of a file's session has changed, and the push was killed.
    server.sql(
        "UPDATE sessionary.sources SET session = 'other',
            manifest = jsonb_set(manifest::jsonb, '{session}', '\"other\"')::text
         WHERE host = 'ada' AND session = 'ada-own'",
    );
    assert!(tables_of(&server, "ada").len() > 10);
    let others = tables_of(&server, "bob");
    ada.team(&["leave"]);
    assert_eq!(tables_of(&server, "ada"), [""; 0]);
    assert_eq!(tables_of(&server, "bob"), others);
}

/// The server is asked between the batch with the new manifest and what the push does at its end.
#[test]
fn a_file_whose_session_changes_leaves_no_row_of_the_one_before() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    for id in ["0a", "0b"] {
        ada.write_session(BOAT, id, &["one", "two"]);
    }
    ada.json(&["push"]);
    assert_eq!(server.sql(IDS), "0a 0b");
    let surroundings = Surroundings {
        home: Some(ada.home().to_path_buf()),
        ..Surroundings::default()
    };
    let mut store = store::open(&server.address("ada"), &surroundings, &|_| ()).unwrap();
    let there = store.manifests("ada").unwrap().unwrap();
    let mut manifests: Vec<_> = there.files.into_values().collect();
    assert_eq!(manifests[0].session, "0a");
    manifests[0].session = "0c".to_owned();
    let batch = Batch {
        manifests,
        ..Batch::default()
    };
    store.put("ada", &batch).unwrap();
    assert_eq!(server.sql(IDS), "0b");
}

/// Whoever writes may choose no number that another one would have got.
#[test]
fn nobody_takes_the_numbers_of_rows_to_come() {
    let Some(server) = Server::with(&["ada", "eve"]) else {
        return;
    };
    let (ada, eve) = (server.sharing("ada"), server.sharing("eve"));
    eve.write_session(BOAT, "0e", &["of eve"]);
    eve.json(&["push"]);
    let add = |number: &str| {
        format!(
            "INSERT INTO sessionary_catalogue._bundles (bundle, host, agent, session, seal)
             SELECT {number}, 'eve', 'pi', 'x', 'y' FROM generate_series(1, 500) n"
        )
    };
    let own = "(SELECT max(session) FROM sessionary_catalogue._sessions)";
    let said = server.sql_as("eve", &add(&format!("{own} + n")));
    ada.write_session(BOAT, "0a", &["of ada"]);
    ada.json(&["push"]);
    assert!(said.unwrap_err().contains("row-level security"));
    // Nor does it help to have been given numbers before.
    let taken = "SELECT min(number) FROM sessionary_catalogue._take(600) number";
    let number = server.sql_as("eve", taken).unwrap();
    let said = server
        .sql_as("eve", &add(&format!("{number} + n")))
        .unwrap_err();
    assert!(said.contains("row-level security"), "{said}");
    assert!(
        server
            .sql_as("eve", "SELECT nextval('sessionary_catalogue._numbers')")
            .is_err()
    );
}

/// As it was made before the server gave out the numbers of rows.
#[test]
fn a_database_with_older_tables_is_brought_up_to_date_with_its_rows() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    server.sql("DROP SCHEMA sessionary, sessionary_catalogue CASCADE");
    // Roles that others have are not taken over.
    let roles = "sessionary_reader_team, sessionary_writer_team";
    server.sql(&format!("REVOKE {roles} FROM ada"));
    server.sql(
        "CREATE SCHEMA sessionary;
         CREATE TABLE sessionary.migrations (
             number integer PRIMARY KEY, done timestamptz NOT NULL DEFAULT now());
         GRANT SELECT ON sessionary.migrations TO PUBLIC",
    );
    let migrations = Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations");
    let migrations = fs::read_dir(migrations).unwrap().collect_paths();
    for (number, path) in (1..=4).zip(migrations) {
        server.sql(&fs::read_to_string(path).unwrap());
        let done = format!("INSERT INTO sessionary.migrations (number) VALUES ({number})");
        server.sql(&done);
    }
    server.sql(&format!("GRANT {roles} TO ada"));
    let add = "INSERT INTO sessionary.hosts (host, id, version) VALUES ('older', 'x', 1);
        INSERT INTO sessionary_catalogue._bundles (bundle, host, agent, session, seal)
        SELECT nextval('sessionary_catalogue._numbers'), 'older', 'pi', 'x', 'y'
        FROM generate_series(1, 20)";
    server.sql_as("ada", add).unwrap();
    ada.write_session(BOAT, "0a", &["of ada"]);
    let output = ada.output(&["push"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && said.contains("team init"),
        "{said}"
    );
    let admin = Machine::new("admin");
    server.admit(&admin, "admin");
    admin.team(&["init", &server.address("admin"), "--host", "admin"]);
    ada.json(&["push"]);
    let bundles = "SELECT host, count(*) FROM sessionary_catalogue._bundles GROUP BY 1 ORDER BY 1";
    assert_eq!(server.sql(bundles), "ada|1\nolder|20");
}

#[test]
fn rows_that_are_missing_or_of_nothing_are_made_up_for_by_a_push() {
    let Some(server) = Server::with(&["ada", "zoe"]) else {
        return;
    };
    let (ada, zoe) = (full(&server, "ada"), server.sharing("zoe"));
    // As an older version left them.
    server.sql("DELETE FROM sessionary_catalogue._bundles WHERE bundle % 2 = 0");
    server.sql("UPDATE sessionary_catalogue._bundles SET seal = 'old' WHERE bundle % 3 = 0");
    server
        .sql_as(
            "ada",
            "INSERT INTO sessionary_catalogue._bundles (bundle, host, agent, session, seal)
        SELECT number, 'ada', 'pi', 'none', 'old' FROM sessionary_catalogue._take(1) number",
        )
        .unwrap();
    let lost = "DELETE FROM sessionary_catalogue._sessions WHERE bundle NOT IN
        (SELECT bundle FROM sessionary_catalogue._bundles)";
    server.sql(lost);
    push(&ada);
    let of_nothing = "SELECT count(*) FROM sessionary_catalogue._bundles WHERE session = 'none'";
    assert_eq!(server.sql(of_nothing), "0");
    pull(&zoe);
    equal(&zoe, "UTC");
}

/// The ids of the sessions that have rows.
const IDS: &str = "SELECT string_agg(id, ' ' ORDER BY id) FROM sessionary_catalogue._sessions";
/// How many of them know the directory in which they ran.
const KNOWN_CWDS: &str = "SELECT count(*) FROM sessionary_catalogue._sessions WHERE cwd <> ''";

/// Two sessions of Gemini in one project, whose directory stands in a file beside both: where.
fn write_documents(machine: &Machine) -> std::path::PathBuf {
    let project = machine.home().join(".gemini/tmp/boat");
    fs::create_dir_all(project.join("chats")).unwrap();
    let beside = project.join(".project_root");
    fs::write(&beside, machine.cwd(BOAT).display().to_string()).unwrap();
    for (number, id) in ["7d1c0a52", "8e2d1b63"].into_iter().enumerate() {
        let message = json!({"id": format!("o{number}"), "timestamp": "2026-01-05T09:00:01.000Z",
            "type": "user", "content": [{"text": "of the boat"}]});
        let document = json!({"sessionId": id, "startTime": "2026-01-05T09:00:00.000Z",
            "lastUpdated": "2026-01-05T09:00:00.000Z", "messages": [message]});
        let path = format!("chats/session-2026-01-05T09-0{number}-{id}.json");
        fs::write(project.join(path), document.to_string()).unwrap();
    }
    beside
}

/// A session of Claude with what a tool printed in a file of its own: the folder of its files.
fn write_with_a_result(machine: &Machine, id: &str) -> std::path::PathBuf {
    let project = machine.home().join(".claude/projects/-code-boat");
    fs::create_dir_all(project.join(id).join("tool-results")).unwrap();
    let line = json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": id,
        "timestamp": "2026-01-05T09:00:00.000Z", "cwd": machine.cwd(BOAT), "version": "2.1.0",
        "message": {"role": "user", "content": "one"}});
    fs::write(project.join(format!("{id}.jsonl")), format!("{line}\n")).unwrap();
    fs::write(project.join(id).join("tool-results/x1.txt"), "printed\n").unwrap();
    project
}

/// A push that names something that it left out.
fn push_leaves_out(machine: &Machine, says: &str) {
    let output = machine.output(&["push"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && said.contains(says),
        "{says}: {said}"
    );
}

/// As a newer version of the program would have written them.
#[test]
fn rows_stay_while_a_manifest_of_their_session_cannot_be_read() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    let [gone, stays] = ["0a", "0b"].map(|id| ada.write_session(BOAT, id, &["one", "two"]));
    let claude = write_with_a_result(&ada, "0c4e9c1a-1111-4222-8333-444455556666");
    let beside = write_documents(&ada);
    ada.json(&["push"]);
    let sources = "SELECT string_agg(relative, ' ' ORDER BY relative)
        FROM sessionary_catalogue._sources";
    let before = [IDS, sources, KNOWN_CWDS].map(|of| server.sql(of));
    assert!(before[0].starts_with("0a 0b 0c4e9c1a"), "{before:?}");
    assert!(before[1].contains("tool-results/x1.txt"), "{before:?}");
    assert_eq!(before[2], "5");
    server.sql(
        "UPDATE sessionary.sources
         SET manifest = jsonb_set(manifest::jsonb, '{version}', '2')::text
         WHERE path NOT LIKE '%tool-results%' AND path NOT LIKE '%/chats/%'",
    );
    for gone in [gone, beside] {
        fs::remove_file(gone).unwrap();
    }
    fs::remove_dir_all(claude).unwrap();
    ada.say(&stays, "three");
    push_leaves_out(&ada, "layout 2");
    assert_eq!([IDS, sources, KNOWN_CWDS].map(|of| server.sql(of)), before);
    // What is here still is sent as this version says it.
    let entries = "SELECT entries FROM sessionary_catalogue._sessions WHERE id = '0b'";
    assert_eq!(server.sql(entries), "4");
}

#[test]
fn rows_are_made_again_where_a_file_beside_their_session_has_gone() {
    let Some(server) = Server::with(&["ada", "zoe"]) else {
        return;
    };
    let (ada, zoe) = (server.sharing("ada"), server.sharing("zoe"));
    let beside = write_documents(&ada);
    ada.json(&["push"]);
    assert_eq!(server.sql(KNOWN_CWDS), "2");
    // Here it is read as before, but a link is not sent.
    let elsewhere = ada.home().join("where-it-ran");
    fs::rename(&beside, &elsewhere).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &beside).unwrap();
    assert_eq!(ada.json(&["push"])["taken_back"], 1);
    assert_eq!(server.sql(KNOWN_CWDS), "0");
    pull(&zoe);
    equal(&zoe, "UTC");
}

/// Nobody knows then of which repository they are: what was sent of them stays as it was,
/// until `--prune` takes back what is of none that is named.
#[test]
fn sessions_that_lost_their_directory_stay_as_they_were_sent() {
    let Some(server) = Server::with(&["ada", "zoe"]) else {
        return;
    };
    let (ada, zoe) = (server.sharing("ada"), server.sharing("zoe"));
    let beside = write_documents(&ada);
    ada.json(&["push"]);
    fs::remove_file(beside).unwrap();
    assert_eq!(ada.json(&["push"])["taken_back"], 0);
    assert_eq!(server.sql(KNOWN_CWDS), "2");
    pull(&zoe);
    equal(&zoe, "UTC");
}

/// The file that says where sessions ran is sent with the first of them.
#[test]
fn a_session_that_is_purged_takes_the_directory_from_no_other() {
    let Some(server) = Server::with(&["ada", "zoe"]) else {
        return;
    };
    let (ada, zoe) = (server.sharing("ada"), server.sharing("zoe"));
    write_documents(&ada);
    ada.json(&["push"]);
    let both = server.sql(IDS);
    let (first, second) = both.split_once(' ').unwrap();
    ada.json(&["purge", first]);
    for _ in 0..2 {
        ada.json(&["push"]);
        assert_eq!(server.sql(IDS), second);
        assert_eq!(server.sql(KNOWN_CWDS), "1");
        pull(&zoe);
        equal(&zoe, "UTC");
    }
    // With the last of them it goes.
    ada.json(&["purge", second]);
    ada.json(&["push"]);
    assert_eq!(server.sql("SELECT count(*) FROM sessionary.sources"), "0");
}

/// They may hold what newer rules leave out.
#[test]
fn rows_of_what_nobody_can_read_any_more_go() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    let [gone, _] = ["0a", "0b"].map(|id| ada.write_session(BOAT, id, &["one", "two"]));
    ada.json(&["push"]);
    let lines = fs::read(&gone).unwrap();
    fs::remove_file(&gone).unwrap();
    server.sql("DELETE FROM sessionary.blocks");
    server.sql("UPDATE sessionary_catalogue._bundles SET seal = 'of older rules'");
    for _ in 0..2 {
        push_leaves_out(&ada, "_0a.jsonl: not all of its blocks");
        assert_eq!(server.sql(IDS), "0b");
    }
    fs::write(&gone, lines).unwrap();
    ada.json(&["push"]);
    assert_eq!(server.sql(IDS), "0a 0b");
}

/// A key of PostgreSQL's takes neither.
#[test]
fn a_session_whose_id_is_none_keeps_no_other_from_being_sent() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    ada.write_session(BOAT, "0a", &["one"]);
    let digits = (0_u32..900).map(|of| format!("{:04x}", of.wrapping_mul(2_654_435_761) >> 16));
    let long: String = digits.collect();
    for (file, id) in [("0b", "0\0b"), ("0c", long.as_str())] {
        let path = ada.write_session(BOAT, file, &["one"]);
        let text = fs::read_to_string(&path).unwrap();
        let (from, to) = (json!(file).to_string(), json!(id).to_string());
        fs::write(path, text.replacen(&from, &to, 1)).unwrap();
    }
    push_leaves_out(
        &ada,
        "_0b.jsonl: the id of its session has a control character",
    );
    push_leaves_out(
        &ada,
        "_0c.jsonl: the id of its session has more than 1,024 bytes",
    );
    assert_eq!(server.sql(IDS), "0a");
}

/// Neither sees what the other one has not committed yet.
#[test]
fn two_that_write_in_one_place_at_once_leave_no_session_twice() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    ada.json(&["push"]);
    server.sql(
        "CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS
             'BEGIN PERFORM pg_sleep(1); RETURN NULL; END';
         CREATE TRIGGER wait AFTER INSERT ON sessionary_catalogue._bundles
             FOR EACH STATEMENT EXECUTE FUNCTION public.wait()",
    );
    let surroundings = Surroundings {
        home: Some(ada.home().to_path_buf()),
        ..Surroundings::default()
    };
    let key = BundleKey {
        agent: "pi".to_owned(),
        session: "0a".to_owned(),
    };
    let bundle = Bundle {
        key,
        seal: "of both".to_owned(),
        places: Vec::new(),
    };
    let both = Barrier::new(2);
    let write = || {
        let mut store = store::open(&server.address("ada"), &surroundings, &|_| ()).unwrap();
        let rows = Rows {
            bundles: vec![bundle.clone()],
            tables: Vec::new(),
        };
        let batch = Batch {
            rows: Some(rows),
            ..Batch::default()
        };
        both.wait();
        store.put("ada", &batch).unwrap();
    };
    std::thread::scope(|scope| {
        scope.spawn(write);
        scope.spawn(write);
    });
    let bundles = "SELECT count(*) FROM sessionary_catalogue._bundles";
    assert_eq!(server.sql(bundles), "1");
}

#[test]
fn numbers_texts_and_nothing_are_told_apart_in_every_form() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    ada.write_session(BOAT, "0a", &["one", "two"]);
    ada.json(&["push"]);
    let asked = "SELECT 1 AS a, 0.5::float8 AS b, sum(entries) AS c, NULL AS d, 'x, \"y\"' AS e,
        1 = 1 AS f, '' AS a, E'\\u001b[2J' AS g FROM sessions -- all";
    assert_eq!(
        ada.team(&["sql", "--csv", asked]),
        "a,b,c,d,e,f,a,g\r\n1,0.5,3,,\"x, \"\"y\"\"\",true,\"\",\u{1b}[2J\r\n"
    );
    assert_eq!(
        ada.team(&["sql", "--jsonl", asked]),
        "{\"a\":1,\"b\":0.5,\"c\":3,\"d\":null,\"e\":\"x, \\\"y\\\"\",\"f\":true,\"a:7\":\"\",\"g\":\"\\u001b[2J\"}\n"
    );
    let answer = ada.json(&["sql", "SELECT id, entries FROM sessions"]);
    assert_eq!(answer["schema_version"], 1);
    assert_eq!(answer["columns"], json!(["id", "entries"]));
    assert_eq!(answer["rows"], json!([["0a", 3]]));
    let table = ada.team(&["sql", "SELECT id, entries, name FROM sessions"]);
    assert_eq!(table, "id  entries  name\n0a        3  NULL\n");
    assert!(
        ada.team(&["sql", "--schema"])
            .contains("\nforks(session, parent, ")
    );
    let none = ada.output(&["sql", "SELECT id FROM sessions WHERE false"]);
    assert_eq!(none.status.code(), Some(1));
    for wrong in [
        "SELEC 1",
        "SELECT 1; SELECT 2",
        "DELETE FROM sessions",
        "SELECT no FROM sessions",
    ] {
        let output = ada.output(&["sql", wrong]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{wrong}: {said}");
        assert!(said.contains("docs/team.md"), "{said}");
        let (error, _) = said
            .split_once("\nhint: ")
            .expect("a hint behind the error");
        assert!(error.contains("error: the database: "), "{said}");
    }
    // The dialect is not to blame where the server ends the talk.
    let output = ada.output(&["sql", "SELECT pg_terminate_backend(pg_backend_pid())"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(!said.contains("hint: "), "{said}");
    // What writes is refused, whatever the role may do by other programs.
    let writes = "SELECT nextval('_numbers')";
    assert_eq!(ada.output(&["sql", writes]).status.code(), Some(2));
}

#[test]
fn days_are_those_of_the_zone_that_is_asked_for() {
    let Some(server) = Server::with(&["ada"]) else {
        return;
    };
    let ada = server.sharing("ada");
    let folder = ada.home().join(".config/sessionary");
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join("config.toml"), "timezone = \"Asia/Tokyo\"\n").unwrap();
    let asked = "SELECT current_setting('TimeZone') AS zone";
    for (typed, zone) in [
        (&["sql", "--csv", asked][..], "Asia/Tokyo"),
        (&["--utc", "sql", "--csv", asked], "UTC"),
        (&["sql", "--csv", "--utc", asked], "UTC"),
    ] {
        assert_eq!(ada.team(typed), format!("zone\r\n{zone}\r\n"));
    }
}

#[test]
fn a_folder_says_that_it_has_no_sql() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    ada.write_session(BOAT, "0a", &["one"]);
    ada.json(&["push"]);
    let output = ada.output(&["sql", "SELECT 1"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        said.contains("cannot be asked in SQL") && said.contains("team pull"),
        "{said}"
    );
}
