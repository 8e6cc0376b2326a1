//! Which folders does the index hold, under which names, and how are those forgotten that nobody
//! names any more?

use std::fs;
use std::path::Path;

use sessionary::index::ListScope;
use sessionary::{Config, Freshness, Index, RootSpec};

use crate::histories::dump;
use crate::sandbox::Sandbox;

fn session(id: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}}\n\
         {{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"of {id}\"}}}}\n"
    )
}

/// Two folders with a session each.
fn home() -> Sandbox {
    let home = Sandbox::new();
    home.write("one/--w--/a.jsonl", &session("a"));
    home.write("two/--w--/b.jsonl", &session("b"));
    home.settle();
    home
}

fn ask(home: &Sandbox, roots: &[&str], args: &[&str]) -> serde_json::Value {
    home.json(
        &with(home, roots, args)
            .iter()
            .map(String::as_str)
            .collect::<Vec<_>>(),
    )
}

/// The arguments of a command that these roots are named in.
fn with(home: &Sandbox, roots: &[&str], args: &[&str]) -> Vec<String> {
    let mut all = vec!["--no-default-roots".to_owned(), "--json".to_owned()];
    for root in roots {
        all.push(format!("--root=pi:{}", home.home.join(root).display()));
    }
    all.extend(args.iter().map(|arg| (*arg).to_owned()));
    all
}

fn ids(answer: &serde_json::Value) -> Vec<&str> {
    let sessions = answer["sessions"].as_array().expect("sessions");
    let mut ids: Vec<&str> = sessions.iter().filter_map(|s| s["id"].as_str()).collect();
    ids.sort_unstable();
    ids
}

fn rows(home: &Sandbox, roots: &[&str], query: &str) -> serde_json::Value {
    ask(home, roots, &["sql", query])["rows"].clone()
}

/// The index equals the files.
fn verify(home: &Sandbox, roots: &[&str]) {
    let verified = ask(home, roots, &["verify"]);
    for what in ["differences", "behind"] {
        assert_eq!(verified[what], serde_json::json!([]), "{verified}");
    }
}

const BOTH: &str = "SELECT id, current FROM sessions ORDER BY id";

#[test]
fn what_is_named_no_more_stays_until_it_is_forgotten() {
    let home = home();
    ask(&home, &["one", "two"], &["sync"]);
    let all = serde_json::json!([["a", 1], ["b", 1]]);
    assert_eq!(rows(&home, &["one", "two"], BOTH), all);
    // A script names one of them.
    ask(&home, &["one"], &["sync"]);
    assert_eq!(ids(&ask(&home, &["one"], &["list", "--all"])), ["a"]);
    assert_eq!(
        rows(&home, &["one"], BOTH),
        serde_json::json!([["a", 1], ["b", 0]])
    );
    verify(&home, &["one"]);
    // Who names both again has both, and reads neither again.
    let report = ask(&home, &["one", "two"], &["sync"]);
    assert_eq!(report["report"]["files_changed"], 0, "{report}");
    assert_eq!(rows(&home, &["one", "two"], BOTH), all);

    let two = home.home.join("two").display().to_string();
    let refused = with(&home, &["one", "two"], &["roots", "forget", &two]);
    let refused: Vec<&str> = refused.iter().map(String::as_str).collect();
    let refused = home.output(&refused);
    assert_eq!(refused.status.code(), Some(2));
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("is still named"), "{said}");
    assert_eq!(rows(&home, &["one", "two"], BOTH), all);

    let seq = "SELECT last_change FROM freshness";
    let before = rows(&home, &["one"], seq);
    let forgotten = ask(&home, &["one"], &["roots", "forget", &two]);
    assert_eq!(forgotten["roots"][0]["path"], two);
    assert_eq!(forgotten["roots"][0]["sessions"], 1);
    assert_eq!(rows(&home, &["one"], BOTH), serde_json::json!([["a", 1]]));
    let gone = format!("SELECT what, id FROM changes WHERE seq > {}", before[0][0]);
    assert_eq!(
        rows(&home, &["one"], &gone),
        serde_json::json!([["gone", "b"]])
    );
    verify(&home, &["one"]);
    let left = ask(&home, &["one"], &["roots"]);
    assert_eq!(left["roots"].as_array().map(Vec::len), Some(1), "{left}");
    assert!(home.home.join("two/--w--/b.jsonl").is_file());
    // It can be named again.
    assert_eq!(
        ids(&ask(&home, &["one", "two"], &["list", "--all"])),
        ["a", "b"]
    );
}

#[test]
fn one_folder_is_one_root_under_every_name_it_ever_had() {
    let home = home();
    std::os::unix::fs::symlink("one", home.home.join("link")).expect("a link");
    ask(&home, &["link"], &["sync"]);
    let by = |names: &[&str]| {
        let listed = ask(&home, names, &["list", "--all"]);
        let path = listed["sessions"][0]["path"].as_str().map(str::to_owned);
        (listed["sessions"].as_array().map(Vec::len), path)
    };
    let named = by(&["link"]);
    assert_eq!(named.0, Some(1));
    // The name it had first is shown; nothing is stored twice.
    assert_eq!(by(&["one"]), named);
    assert_eq!(by(&["two/../one/"]), named);
    assert_eq!(
        rows(&home, &["one"], "SELECT count(*) FROM sessions"),
        serde_json::json!([[1]])
    );
    // What is written is taken in by either name.
    let file = home.home.join("one/--w--/a.jsonl");
    let more = fs::read_to_string(&file)
        .expect("it")
        .replace("\"id\":\"a\"", "\"id\":\"c\"");
    let more: String = more
        .lines()
        .skip(1)
        .map(|line| format!("{line}\n"))
        .collect();
    let mut text = fs::read_to_string(&file).expect("it");
    text.push_str(&more);
    fs::write(&file, text).expect("written");
    let listed = ask(&home, &["one"], &["list", "--all"]);
    assert_eq!(listed["sessions"][0]["messageCount"], 2, "{listed}");
    verify(&home, &["one"]);
    verify(&home, &["link"]);
    for name in ["one", "link"] {
        let status = ask(&home, &[name], &["status"]);
        assert_eq!(status["roots"][0]["sessions"], 1, "{status}");
    }
    // When the first name leads elsewhere it is another folder's.
    fs::remove_file(home.home.join("link")).expect("the link");
    std::os::unix::fs::symlink("two", home.home.join("link")).expect("another");
    assert_eq!(ids(&ask(&home, &["link"], &["list", "--all"])), ["b"]);
    assert_eq!(ids(&ask(&home, &["one"], &["list", "--all"])), ["a"]);
    verify(&home, &["one", "link"]);
}

/// Whoever has named the folder above it, as `~/.claude` beside its `projects`, finds each session
/// once, and by its id.
#[test]
fn what_lies_in_a_root_within_a_root_is_one_session() {
    for (agent, at) in [("pi", "one"), ("claude", "projects")] {
        let home = Sandbox::new();
        let line = match agent {
            "pi" => session,
            _ => |id: &str| {
                format!(
                    "{{\"type\":\"user\",\"uuid\":\"u\",\"parentUuid\":null,\"sessionId\":\"{id}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\",\"message\":{{\"role\":\"user\",\"content\":\"of {id}\"}}}}\n"
                )
            },
        };
        let one = "0198c0de-0000-7000-8000-000000000001";
        let two = "0198c0de-0000-7000-8000-000000000002";
        home.write(&format!("{at}/-w-/{one}.jsonl"), &line(one));
        home.write(&format!("{at}/sub/-w-/{two}.jsonl"), &line(two));
        home.settle();
        let named = |roots: &[&str], args: &[&str]| {
            let root = |root: &&str| format!("--root={agent}:{}", home.home.join(root).display());
            let roots: Vec<String> = roots.iter().map(root).collect();
            let flags = ["--no-default-roots", "--json"].into_iter();
            let all = flags.chain(roots.iter().map(String::as_str));
            home.json(&all.chain(args.iter().copied()).collect::<Vec<_>>())
        };
        let (outer, inner) = (at, format!("{at}/sub"));
        // Whether the agent would find something in it, or not.
        let project = format!("{at}/sub/-w-");
        for roots in [
            &[outer, &project],
            &[outer][..],
            &[outer, &inner],
            &[outer],
            &[&inner, outer],
            &[&inner],
        ] {
            let listed = named(roots, &["list", "--all"]);
            let both = [one, two];
            let expected = if roots == [&*inner] {
                &both[1..]
            } else {
                &both
            };
            assert_eq!(ids(&listed), expected, "{roots:?}");
            assert_eq!(named(roots, &["show", two])["session"]["id"], two);
            let verified = named(roots, &["verify"]);
            for what in ["differences", "behind"] {
                assert_eq!(verified[what], serde_json::json!([]), "{verified}");
            }
        }
    }
}

/// One of several files is one of them where it is read with the others.
#[test]
fn a_session_of_several_files_is_left_as_a_whole() {
    let home = Sandbox::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/copilot/named");
    let (mut folder, mut files) = (None, 0);
    for file in walkdir::WalkDir::new(&from).into_iter().flatten() {
        let below = file.path().strip_prefix(&from).unwrap();
        let to = home.home.join("ss").join(below);
        match file.file_type().is_dir() {
            true => fs::create_dir_all(to).unwrap(),
            false => {
                files += 1;
                if below.ends_with("events.jsonl") {
                    folder = to.parent().map(Path::to_path_buf);
                }
                fs::copy(file.path(), to).unwrap();
            }
        }
    }
    let folder = folder.expect("a session");
    assert!(files > 1, "{files}");
    home.settle();
    let at = |path: &Path| dump::root("copilot", "copilot", path);
    let outer = at(folder.parent().unwrap());
    let outer = Config::new(home.home.join("index"), vec![outer]);
    let mut both = outer.clone();
    both.roots.push(at(&folder));
    let rows = |config: &Config| {
        let index = Index::open(config, Freshness::Check).unwrap();
        dump::clean(&index, "roots within roots");
        index.list(&ListScope::default()).unwrap().sessions.len()
    };
    for config in [&outer, &both, &outer] {
        assert_eq!(rows(config), 1);
    }
}

/// A folder that pi's settings name holds files of all projects; folders in it are the outer
/// root's.
#[test]
fn of_a_flat_root_within_a_root_only_its_own_files_are() {
    let home = Sandbox::new();
    for (path, id) in [("out/-w-", "a"), ("out/flat", "b"), ("out/flat/deep", "c")] {
        home.write(&format!("{path}/{id}.jsonl"), &session(id));
    }
    let at = |path: &str, flat| RootSpec {
        flat,
        ..dump::root("pi", "pi", &home.home.join(path))
    };
    let outer = Config::new(home.home.join("index"), vec![at("out", false)]);
    let mut both = outer.clone();
    both.roots.insert(0, at("out/flat", true));
    for config in [&outer, &both, &outer, &both] {
        let index = Index::open(config, Freshness::Check).unwrap();
        let rows = index.list(&ListScope::default()).unwrap().sessions;
        let mut ids: Vec<String> = rows.into_iter().map(|row| row.id).collect();
        ids.sort();
        assert_eq!(ids, ["a", "b", "c"]);
        dump::clean(&index, "roots within roots");
    }
}

/// Directories vouch for the files in them, and not for a root among them.
#[test]
fn a_root_that_is_one_no_more_is_read_with_the_outer_one() {
    let home = Sandbox::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agentuse/subagents/project");
    for to in ["ls", "ls/inner"] {
        let to = home.home.join(to);
        for file in walkdir::WalkDir::new(&from).into_iter().flatten() {
            let to = to.join(file.path().strip_prefix(&from).unwrap());
            match file.file_type().is_dir() {
                true => fs::create_dir_all(to).unwrap(),
                false => drop(fs::copy(file.path(), to).unwrap()),
            }
        }
    }
    home.settle();
    let at = |path: &str| dump::root("agentuse", "agentuse", &home.home.join(path));
    let outer = Config::new(home.home.join("index"), vec![at("ls")]);
    let both = Config {
        roots: vec![at("ls"), at("ls/inner")],
        ..outer.clone()
    };
    let paths = |config: &Config| {
        let index = Index::open(config, Freshness::Check).unwrap();
        dump::clean(&index, "roots within roots");
        let rows = index.list(&ListScope::default()).unwrap().sessions;
        let mut paths: Vec<_> = rows.into_iter().map(|row| row.path).collect();
        paths.sort();
        paths
    };
    let all = paths(&outer);
    assert!(
        all.iter()
            .any(|path| path.to_string_lossy().contains("inner")),
        "{all:?}"
    );
    for config in [&outer, &both, &both, &outer, &outer] {
        assert_eq!(paths(config), all);
    }
}

#[test]
fn the_command_lists_and_forgets() {
    let home = home();
    let with_roots = |roots: &[&str], args: &[&str]| {
        let all = with(&home, roots, args);
        let all: Vec<&str> = all
            .iter()
            .map(String::as_str)
            .filter(|arg| *arg != "--json")
            .collect();
        home.run(&all)
    };
    ask(&home, &["one", "two"], &["sync"]);
    insta::assert_snapshot!(with_roots(&["one"], &["roots"]), @r"
    AGENT  ROOT   SESSIONS  NAMED
    pi     ~/one         1  yes
    pi     ~/two         1  no
    ");
    insta::assert_snapshot!(with_roots(&["one"], &["roots", "forget", "/nowhere"]), @r"
    --- stderr
    error: /nowhere: no such folder in the index
    hint: `sessionary roots` lists them
    --- exit Some(2)
    ");
    insta::assert_snapshot!(with_roots(&["one"], &["roots", "forget"]), @r"
    forgotten: ~/two, 1 session
    ");
    insta::assert_snapshot!(with_roots(&["one"], &["roots", "forget"]), @r"
    --- stderr
    Nothing to forget: every folder in the index is still named.
    --- exit Some(1)
    ");
    assert!(Path::new(&home.home).join("two").is_dir());
}

#[test]
fn of_a_folder_of_two_agents_that_is_forgotten_which_is_named_no_more() {
    let home = home();
    let one = home.home.join("one").display().to_string();
    let named = |agents: &[&str], args: &[&str]| {
        let mut all = vec!["--no-default-roots".to_owned(), "--json".to_owned()];
        all.extend(agents.iter().map(|agent| format!("--root={agent}:{one}")));
        all.extend(args.iter().map(|arg| (*arg).to_owned()));
        home.json(&all.iter().map(String::as_str).collect::<Vec<_>>())
    };
    for (stays, goes) in [("indusagi", "pi"), ("pi", "indusagi")] {
        named(&[stays], &["sync"]);
        named(&[goes], &["sync"]);
        let forgotten = named(&[stays], &["roots", "forget", &one]);
        let agents = |answer: &serde_json::Value| {
            let roots = answer["roots"].as_array().expect("roots").iter();
            roots.map(|root| root["agent"].clone()).collect::<Vec<_>>()
        };
        assert_eq!(agents(&forgotten), [goes]);
        assert_eq!(agents(&named(&[stays], &["roots"])), [stays]);
    }
}
