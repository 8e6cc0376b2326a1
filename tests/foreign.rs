//! Sessions of other machines: are they found and read as one's own are, do they stay as they are,
//! and go on only as a fork?

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::sandbox::Sandbox;
use crate::shells::offered;

const REMOTE: &str = "github.com/ada/boat";
const TEAM: &str = ".local/share/sessionary/team";

/// A session of pi in this folder, which has written `src/mast.rs` there.
fn pi(home: &Sandbox, path: &str, id: &str, folder: &str) -> PathBuf {
    // Else what was used in one is a copy of what was used in the other.
    let minute = id.len();
    let message = |id: &str, parent: &str, message: Value| {
        let time = format!("2026-01-02T09:0{minute}:0{}.000Z", &id[1..]);
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": time, "message": message})
    };
    let usage = json!({"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "totalTokens": 15,
        "cost": {"input": 0.1, "output": 0.2, "cacheRead": 0, "cacheWrite": 0, "total": 0.3}});
    let lines = [
        json!({"type": "session", "version": 3, "id": id, "timestamp": "2026-01-02T09:00:00.000Z", "cwd": folder}),
        message(
            "m1",
            "",
            json!({"role": "user", "content": format!("Paint {id}")}),
        ),
        message(
            "m2",
            "m1",
            json!({"role": "assistant", "provider": "stub", "model": "m", "usage": usage,
            "content": [{"type": "text", "text": "Painted"}, {"type": "toolCall", "id": "c1", "name": "write",
                "arguments": {"path": "src/mast.rs", "content": format!("// by {id}\n")}}]}),
        ),
        message(
            "m3",
            "m2",
            json!({"role": "toolResult", "toolCallId": "c1", "toolName": "write", "isError": false,
            "content": [{"type": "text", "text": "Successfully wrote 9 bytes to src/mast.rs"}]}),
        ),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let path = home.write(
        path,
        &text.replace(r#""parentId":"""#, r#""parentId":null"#),
    );
    // Else it may be in use.
    home.touch(&path, 1_767_600_000);
    path
}

/// A checkout with a session of this machine, and one of the same repository of a laptop's.
fn home() -> Sandbox {
    let mut home = Sandbox::new();
    home.write("code/boat/.git/HEAD", "ref: refs/heads/main\n");
    let url = "[remote \"origin\"]\n\turl = git@github.com:ada/boat.git\n";
    home.write("code/boat/.git/config", url);
    home.write("code/boat/src/mast.rs", "// by theirs\n");
    pi(
        &home,
        ".pi/agent/sessions/--x--/mine.jsonl",
        "mine",
        "~/code/boat",
    );
    theirs(&home, "theirs", "/Users/ada/boat");
    let said = json!({"/Users/ada/boat": REMOTE}).to_string();
    home.write(&format!("{TEAM}/laptop/repositories.json"), &said);
    home.cwd = home.home.join("code/boat");
    home
}

fn theirs(home: &Sandbox, id: &str, folder: &str) -> PathBuf {
    pi(
        home,
        &format!("{TEAM}/laptop/pi/--y--/{id}.jsonl"),
        id,
        folder,
    )
}

fn ids(answer: &Value) -> Vec<String> {
    let rows = answer["sessions"].as_array().expect("rows").iter();
    let id = |row: &Value| {
        row.get("session").unwrap_or(row)["id"]
            .as_str()
            .map(str::to_owned)
    };
    let mut ids: Vec<String> = rows.filter_map(id).collect();
    ids.sort();
    ids
}

fn row(answer: &Value, id: &str) -> Value {
    let rows = answer["sessions"].as_array().expect("rows").iter();
    let mut rows = rows.map(|row| row.get("session").unwrap_or(row));
    rows.find(|row| row["id"] == id).expect("a row").clone()
}

#[test]
fn they_are_listed_found_and_read_as_ones_own() {
    let home = home();
    let here = home.json(&["list", "--json"]);
    assert_eq!(ids(&here), ["mine", "theirs"]);
    let (mine, theirs) = (row(&here, "mine"), row(&here, "theirs"));
    assert_eq!(
        (&mine["host"], &theirs["host"]),
        (&Value::Null, &json!("laptop"))
    );
    assert_eq!(theirs["repository"], REMOTE);
    assert_eq!(theirs["cwd"], "/Users/ada/boat");
    assert!(theirs["resume"].is_null() && mine["resume"].is_object());
    for what in [
        "messageCount",
        "entries",
        "cost",
        "tokens",
        "listed_by_agent",
        "created",
    ] {
        assert_eq!(mine[what], theirs[what], "{what}");
    }
    // What goes on is one's own.
    assert_eq!(
        home.json(&["show", "last", "--json"])["session"]["id"],
        "mine"
    );
    assert_eq!(
        home.json(&["list", "--json", "--limit", "1"])["sessions"][0]["id"],
        "theirs"
    );
    let listed = home.run(&["list"]);
    assert!(listed.contains("pi=laptop"), "{listed}");
    assert!(home.run(&["tree", "theirs"]).contains("laptop"));
    assert!(home.run(&["show", "theirs"]).contains("Paint theirs"));
    assert_eq!(
        home.json(&["show", "theirs", "--json"])["session"]["host"],
        "laptop"
    );
    assert!(home.run(&["roots"]).contains("pi=laptop"));
    let verified = home.run(&["verify"]);
    assert!(!verified.contains("--- exit"), "{verified}");
    let report = home.json(&["report", "--json"]);
    assert!(report.to_string().contains("0.6"), "{report}");
    let report = home.json(&["report", "--by", "host", "--json"]);
    let of = |at: usize| {
        (
            report["rows"][at]["key"].clone(),
            report["rows"][at]["cost"].clone(),
        )
    };
    let both = [of(0), of(1)];
    assert!(both.contains(&(json!("laptop"), json!(0.3))), "{report}");
    assert!(both.contains(&(Value::Null, json!(0.3))), "{report}");
    let asked = "SELECT id, host, repository FROM sessions ORDER BY id";
    let rows = home.json(&["sql", asked, "--json"])["rows"].clone();
    assert_eq!(
        rows,
        json!([["mine", "", REMOTE], ["theirs", "laptop", REMOTE]])
    );
    // Only what is asked for.
    let alone = home.json(&["list", "--all", "--no-default-roots", "--json"]);
    assert_eq!(ids(&alone), [""; 0]);
}

/// Of a session and its copy from another machine, by whatever they are asked for.
#[test]
fn ones_own_copy_comes_first() {
    let home = Sandbox::new();
    let said = json!({"type": "message", "id": "abcd1234", "parentId": null,
        "timestamp": "2026-01-02T09:00:01.000Z", "message": {"role": "user", "content": "camshaft"}});
    let header = json!({"type": "session", "version": 3, "id": "engine42",
        "timestamp": "2026-01-02T09:00:00.000Z", "cwd": "/w"});
    for folder in [&format!("{TEAM}/laptop/pi"), ".pi/agent/sessions"] {
        let path = home.write(
            &format!("{folder}/--w--/engine42.jsonl"),
            &format!("{header}\n{said}\n"),
        );
        home.touch(&path, 1_767_600_000);
    }
    let hosts = |rows: &Value| -> Vec<Value> {
        let rows = rows.as_array().expect("rows").iter();
        rows.map(|row| row["session"]["host"].clone()).collect()
    };
    let both = [Value::Null, json!("laptop")];
    for (query, what) in [
        ("camshaft", "sessions"),
        ("abcd1234", "named"),
        ("abcd123", "named"),
        ("engine42", "named"),
    ] {
        let found = home.json(&["search", "--every-copy", "--json", query]);
        assert_eq!(hosts(&found[what]), both, "{query}: {found}");
    }
}

#[test]
fn hosts_are_asked_for_and_counted() {
    let home = home();
    let found = |query: &str| {
        let query = format!("{query} paint");
        ids(&home.json(&["search", "--json", "--every-copy", "--", &query]))
    };
    assert_eq!(found(""), ["mine", "theirs"]);
    assert_eq!(found("host:laptop"), ["theirs"]);
    assert_eq!(found("host:Laptop,tower"), ["theirs"]);
    assert_eq!(found("-host:laptop"), ["mine"]);
    assert_eq!(found("root:laptop"), ["theirs"]);
    assert_eq!(found("host:lap"), [""; 0]);
    let nothing = home.json(&["search", "host:latop paint", "--json"]);
    assert_eq!(nothing["unknown"][0]["known"], json!(["laptop"]));
    assert_eq!(nothing["unknown"][0]["suggestion"], "host:laptop");
    let facets = home.json(&["search", "paint", "--facets", "--json"])["facets"].clone();
    assert_eq!(facets["hosts"], json!([{"value": "laptop", "count": 2}]));
    assert!(
        home.run(&["search", "paint", "--facets"])
            .contains("hosts     laptop 2\n")
    );
    assert!(home.run(&["search", "paint"]).contains("pi · laptop"));
    assert_eq!(offered(&home, "bash", &["search", "host:"]), "host:laptop");
}

/// Its checkout is another folder there.
#[test]
fn a_line_of_ones_own_checkout_may_be_of_another_machine() {
    let home = home();
    let of = |answer: &Value| {
        let call = answer["calls"][0]["session"].clone();
        (call["id"].clone(), call["host"].clone())
    };
    let theirs = (json!("theirs"), json!("laptop"));
    assert_eq!(of(&home.json(&["blame", "src/mast.rs", "--json"])), theirs);
    let said = home.run(&["blame", "src/mast.rs:1"]);
    assert!(
        said.contains("pi on laptop") && said.contains("/Users/ada/boat"),
        "{said}"
    );
    let log = home.json(&["log", "src/mast.rs", "--json"]);
    assert_eq!(ids(&log), ["mine", "theirs"]);
    // In another repository it is another file.
    let url = "[remote \"origin\"]\n\turl = git@github.com:ada/ship.git\n";
    home.write("code/boat/.git/config", url);
    let none = home.json(&["blame", "src/mast.rs", "--json"]);
    assert_eq!(none["calls"], json!([]));
    assert_eq!(ids(&home.json(&["log", "src/mast.rs", "--json"])), ["mine"]);
}

/// What has the name of a directory here is another one.
#[test]
fn a_directory_of_another_machine_is_not_here() {
    let home = home();
    theirs(&home, "other", &home.cwd.display().to_string());
    let here = home.json(&["list", "--json"]);
    assert_eq!(ids(&here), ["mine", "theirs"]);
    assert_eq!(
        row(&home.json(&["list", "--all", "--json"]), "other")["repository"],
        Value::Null
    );
    assert_eq!(
        ids(&home.json(&["search", "--here", "paint", "--json"])),
        ["mine", "theirs"]
    );
    // A database could do more than be read.
    let database = home.write(
        &format!("{TEAM}/laptop/opencode/opencode.db"),
        "SQLite format 3\0",
    );
    let said = home.json(&["status", "--json"]);
    assert_eq!(said["problems"], 0, "{said}");
    fs::remove_file(database).expect("it was there");
    // What it was of is told later.
    let folder = home.cwd.display().to_string();
    let said = json!({"/Users/ada/boat": REMOTE, folder: REMOTE}).to_string();
    home.write(&format!("{TEAM}/laptop/repositories.json"), &said);
    let here = home.json(&["list", "--json"]);
    assert_eq!(ids(&here), ["mine", "other", "theirs"]);
    // Nor are its settings read for it.
    let folder = home.home.join("elsewhere");
    home.write(
        "elsewhere/.pi/settings.json",
        r#"{"sessionDir": "sessions"}"#,
    );
    pi(&home, "elsewhere/sessions/led.jsonl", "led", "/w");
    theirs(&home, "leads", &folder.display().to_string());
    let all = home.json(&["list", "--all", "--json"]);
    assert_eq!(ids(&all), ["leads", "mine", "other", "theirs"]);
}

/// Whatever a copy on another machine says.
#[test]
fn of_a_session_and_its_copy_elsewhere_ones_own_is_meant() {
    let home = home();
    let folder = home.home.join("code/boat");
    let own = pi(
        &home,
        ".pi/agent/sessions/--x--/both.jsonl",
        "0199b07h",
        folder.to_str().unwrap(),
    );
    theirs(&home, "0199b07h", "/home/eve/boat");
    home.settle();
    let shown = home.json(&["show", "0199b07h", "--json"]);
    assert_eq!(shown["session"]["host"], Value::Null, "{shown}");
    let said = home.run(&["delete", "0199b07h", "--yes"]);
    assert!(!said.contains("--- exit"), "{said}");
    assert!(!own.exists());
}

#[test]
fn nothing_of_it_is_written_here() {
    let home = home();
    let file = home
        .home
        .join(format!("{TEAM}/laptop/pi/--y--/theirs.jsonl"));
    let before = fs::read(&file).expect("the session");
    let _ = home.run(&["archive", "on"]);
    let _ = home.run(&["sync"]);
    for arguments in [
        &["delete", "theirs", "--yes"][..],
        &["name", "theirs", "Mast"],
        &["label", "theirs:m1", "good"],
        &["append", "theirs", "--user", "More"],
        &["branch", "theirs:m1"],
        &["migrate", "theirs"],
        &["archive", "forget", "theirs", "--yes"],
    ] {
        let said = home.run(arguments);
        let expected = "theirs is a session of laptop, of which there is a copy here to be read";
        assert!(said.contains(expected), "{arguments:?}: {said}");
        assert!(said.contains("`sessionary fork theirs`"), "{said}");
        assert!(said.contains("`sessionary team status`"), "{said}");
        assert!(said.ends_with("--- exit Some(2)\n"), "{said}");
    }
    assert_eq!(fs::read(&file).expect("the session"), before);
    // The archive has one's own.
    let _ = home.run(&["sync"]);
    fs::remove_file(&file).expect("it was there");
    let mine = home.home.join(".pi/agent/sessions/--x--/mine.jsonl");
    fs::remove_file(mine).expect("it was there");
    let left = home.json(&["list", "--all", "--json"]);
    assert_eq!(ids(&left), ["mine"]);
    assert_eq!(row(&left, "mine")["archived"], true);
}

/// The sessions of pi of this machine.
fn own_files(home: &Sandbox) -> Vec<PathBuf> {
    let below = walkdir::WalkDir::new(home.home.join(".pi")).into_iter();
    let files = below.flatten().filter(|file| file.file_type().is_file());
    files.map(walkdir::DirEntry::into_path).collect()
}

fn header(file: &Path) -> Value {
    let text = fs::read_to_string(file).expect("a session");
    serde_json::from_str(text.lines().next().expect("a line")).expect("a header")
}

#[test]
fn a_fork_of_it_is_ones_own() {
    let home = home();
    let said = home.run(&["fork", "theirs"]);
    assert!(!said.contains("--- exit"), "{said}");
    let mut files = own_files(&home);
    files.retain(|file| !file.ends_with("mine.jsonl"));
    let [fork] = &files[..] else {
        panic!("{files:?}");
    };
    assert_eq!(header(fork)["cwd"].as_str(), home.cwd.to_str());
    let theirs = home
        .home
        .join(format!("{TEAM}/laptop/pi/--y--/theirs.jsonl"));
    assert_eq!(header(fork)["parentSession"].as_str(), theirs.to_str());
    let listed = home.json(&["list", "--json"]);
    let rows = listed["sessions"].as_array().expect("rows");
    let fork = rows
        .iter()
        .find(|row| row["path"].as_str() == fork.to_str());
    assert_eq!(fork.expect("a row")["host"], Value::Null);
    // As a name says, it can have one.
    let id = fork.expect("a row")["id"]
        .as_str()
        .expect("an id")
        .to_owned();
    assert!(!home.run(&["name", &id, "Mast"]).contains("--- exit"));
}

#[cfg(target_os = "linux")]
#[test]
fn it_goes_on_as_a_fork_if_that_is_confirmed() {
    let home = home();
    let tells = "#!/bin/sh\nprintf '%s\\n' \"$PWD\" \"$@\"\n";
    let agent = home.write("bin/pi", tells);
    fs::set_permissions(agent, fs::Permissions::from_mode(0o755)).expect("a program");
    let _ = home.run(&["sync"]);
    // Nobody is there to be asked.
    let said = home.run(&["resume", "theirs"]);
    assert!(said.contains("goes on here only as a fork"), "{said}");
    assert!(said.ends_with("--- exit Some(2)\n"), "{said}");
    for asked in [
        &["resume", "theirs", "--print"][..],
        &["resume", "theirs", "--json"],
    ] {
        let said = home.run(asked);
        assert!(
            said.contains("is a session of laptop") && said.contains("exit Some(2)"),
            "{said}"
        );
    }
    for no in ["n\n", "\n"] {
        let Some(seen) = home.on_terminal(&["resume", "theirs"], no) else {
            return;
        };
        assert!(
            seen.contains("Fork it for ~/code/boat and continue the fork? [y/N]"),
            "{seen}"
        );
        assert!(
            seen.ends_with("No: nothing was written or started.\n--- exit Some(1)\n"),
            "{seen}"
        );
    }
    assert_eq!(own_files(&home).len(), 1);
    let seen = home
        .on_terminal(&["resume", "theirs"], "y\n")
        .expect("a terminal");
    let files = own_files(&home);
    let fork = files.iter().find(|file| !file.ends_with("mine.jsonl"));
    let fork = fork
        .expect("a fork")
        .strip_prefix(&home.home)
        .expect("a path below");
    let started = format!("$HOME/code/boat\n--session\n$HOME/{}\n", fork.display());
    assert!(seen.ends_with(&started), "{seen}");
}

#[test]
fn what_cannot_be_forked_is_said_to_be_so() {
    let home = home();
    let line = json!({"type": "user", "uuid": "u1", "parentUuid": null, "sessionId": "c1", "cwd": "/Users/ada/boat",
        "timestamp": "2026-01-02T09:00:00.000Z", "version": "2.1.0", "isSidechain": false, "userType": "external",
        "message": {"role": "user", "content": "Paint the keel"}});
    home.write(
        &format!("{TEAM}/laptop/claude/-y-/c1.jsonl"),
        &format!("{line}\n"),
    );
    assert!(ids(&home.json(&["list", "--json"])).contains(&"c1".to_owned()));
    for verb in ["resume", "fork"] {
        let said = home.run(&[verb, "c1"]);
        assert!(said.contains("sessions of claude cannot be"), "{said}");
        assert!(said.ends_with("--- exit Some(2)\n"), "{said}");
    }
}
