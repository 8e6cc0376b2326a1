//! Is what three machines share what one machine has that holds the same sessions?

use std::collections::BTreeMap;
use std::fs;

use serde_json::{Value, json};
use sessionary::index::{ListScope, SearchScope};

use crate::machine::{BOAT, DIARY, Folder, Machine};

const TEXTS: [&str; 6] = [
    "the tiller is loose",
    "anchor and chain, the token is ghp_abcdefghijklmnopqrstuvwxyz0123456789",
    "a sail in the wind",
    "tiller repaired; the wind was north",
    "chain counted twice",
    "nothing said about the anchor",
];
const QUERIES: [&str; 8] = [
    "tiller",
    "anchor",
    "wind",
    "chain",
    "\"the wind\"",
    "role:user",
    "redacted",
    "zebra",
];

/// What is true of a session wherever it lies.
fn rows(machine: &Machine) -> BTreeMap<String, Value> {
    let list = machine.index().list(&ListScope::default()).unwrap();
    let rows = list.sessions.iter().map(|row| {
        let mut value = serde_json::to_value(row).unwrap();
        let fields = value.as_object_mut().unwrap();
        // Where it lies, and on which machine it ran.
        for field in ["path", "cwd", "host", "label", "resume"] {
            fields.remove(field);
        }
        (row.id.clone(), value)
    });
    rows.collect()
}

/// The entries that a query finds.
fn hits(machine: &Machine, query: &str) -> Vec<(String, Vec<Value>)> {
    let answer = machine
        .index()
        .search(query, &SearchScope::default())
        .unwrap();
    let mut hits: Vec<_> = answer
        .sessions
        .iter()
        .map(|group| {
            let hits = group.hits.iter().map(|hit| {
                let value = serde_json::to_value(hit).unwrap();
                json!({"address": value["address"], "text": value["snippet"]})
            });
            let mut hits: Vec<Value> = hits.collect();
            hits.sort_by_key(ToString::to_string);
            (group.session.id.clone(), hits)
        })
        .collect();
    hits.sort_by(|a, b| a.0.cmp(&b.0));
    hits
}

/// A machine whose own sessions are those that all have of these.
fn one_machine(machines: &[&Machine], of: &Machine) -> Machine {
    let one = Machine::new("one");
    for machine in machines {
        for at in 0..2 {
            let id = id(machine, at);
            let path = machine.session_path(BOAT, &id);
            let mut text = fs::read_to_string(&path).unwrap();
            if machine.name != of.name {
                text = text.replace("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "[redacted]");
            }
            let from = machine.cwd(BOAT).display().to_string();
            let text = text.replace(&from, &one.cwd(BOAT).display().to_string());
            let to = one.session_path(BOAT, &id);
            fs::create_dir_all(to.parent().unwrap()).unwrap();
            fs::write(&to, text).unwrap();
            let modified = fs::metadata(&path).unwrap().modified().unwrap();
            fs::File::options()
                .append(true)
                .open(&to)
                .unwrap()
                .set_modified(modified)
                .unwrap();
        }
    }
    one
}

fn id(machine: &Machine, at: usize) -> String {
    format!("{}-{at}", machine.name)
}

#[test]
fn three_machines_and_one_folder() {
    let store = Folder::new();
    union_of(&|name| Machine::sharing(name, &store.address()));
}

/// Three machines share what they have, go on, and share that.
pub fn union_of(sharing: &dyn Fn(&str) -> Machine) {
    let machines = ["ada", "bob", "eve"].map(sharing);
    let all: Vec<&Machine> = machines.iter().collect();
    for (number, machine) in machines.iter().enumerate() {
        machine.write_session(
            DIARY,
            &format!("{}-private", machine.name),
            &["tiller and anchor"],
        );
        for at in 0..2 {
            let texts: Vec<&str> = TEXTS
                .into_iter()
                .cycle()
                .skip(number + at)
                .take(4)
                .collect();
            machine.write_session(BOAT, &id(machine, at), &texts);
        }
    }
    let everybody = || {
        machines
            .iter()
            .for_each(|machine| drop(machine.json(&["push"])));
        machines
            .iter()
            .for_each(|machine| drop(machine.json(&["pull"])));
    };
    everybody();
    all_equal(&all);
    // They go on, and what is added comes too.
    for machine in &machines {
        machine.say(
            &machine.session_path(BOAT, &id(machine, 1)),
            "the anchor at last",
        );
    }
    everybody();
    all_equal(&all);
}

/// Each machine has what one machine has that holds all of it.
fn all_equal(machines: &[&Machine]) {
    for machine in machines {
        let one = one_machine(machines, machine);
        let mut own = rows(machine);
        // It has shared nothing of its diary, and has it.
        assert!(own.remove(&format!("{}-private", machine.name)).is_some());
        assert_eq!(own.len(), 6);
        assert_eq!(own, rows(&one));
        for query in QUERIES {
            let mut found = hits(machine, query);
            found.retain(|(session, _)| !session.ends_with("-private"));
            assert_eq!(found, hits(&one, query), "{query}");
        }
    }
}

#[test]
fn whose_a_session_is_and_of_which_repository() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let bob = Machine::sharing("bob", &store.address());
    ada.write_session(BOAT, "0a", &["hello"]);
    ada.json(&["push"]);
    bob.json(&["pull"]);
    let index = bob.index();
    let list = index.list(&ListScope::default()).unwrap();
    let row = serde_json::to_value(&list.sessions[0]).unwrap();
    assert_eq!(row["host"], "ada");
    assert!(
        row["path"]
            .as_str()
            .unwrap()
            .contains("/sessionary/team/ada/pi/"),
        "{row}"
    );
    let of_boat = index
        .search(&format!("hello repo:{BOAT}"), &SearchScope::default())
        .unwrap();
    assert_eq!(of_boat.sessions.len(), 1);
    // What came from another machine is not sent on as one's own.
    assert_eq!(bob.json(&["push"])["sessions"], json!([]));
}

/// A directory that was a checkout of the one repository, and of the other one after it.
#[test]
fn of_one_directory_the_sessions_of_two_repositories() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let bob = Machine::sharing("bob", &store.address());
    ada.team(&["share", DIARY]);
    ada.write_session(BOAT, "0a", &["of the boat"]);
    ada.json(&["push"]);
    bob.json(&["pull"]);
    let of = |machine: &Machine| {
        let all = "SELECT id, repository FROM sessions ORDER BY id";
        serde_json::to_value(machine.index().sql(all, &[]).unwrap().rows).unwrap()
    };
    assert_eq!(of(&bob), json!([["0a", BOAT]]));
    let config = ada.cwd(BOAT).join(".git/config");
    let text = fs::read_to_string(&config).unwrap();
    fs::write(&config, text.replace(BOAT, DIARY)).unwrap();
    ada.write_session(BOAT, "0b", &["of the diary"]);
    ada.json(&["push"]);
    bob.json(&["pull"]);
    assert_eq!(of(&ada), json!([["0a", BOAT], ["0b", DIARY]]));
    assert_eq!(of(&bob), of(&ada));
}
