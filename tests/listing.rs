//! Does `list` sort, filter, page and fold as it was asked to?

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, SystemTime};

use insta::assert_snapshot;
use serde_json::Value;
use sessionary::index::ListScope;
use sessionary::{Config, Freshness, Index};

use crate::cli::home;
use crate::histories::dump;
use crate::sandbox::Sandbox;

/// Ids of an answer's rows, cut to what tells them apart here.
fn ids(answer: &Value) -> Vec<String> {
    let rows = answer["sessions"].as_array().expect("rows");
    rows.iter()
        .map(|row| row["id"].as_str().expect("an id").chars().take(8).collect())
        .collect()
}

/// Three sessions of pi, newest first c, b, a, with what is sorted and filtered by.
fn three() -> Sandbox {
    let home = Sandbox::new();
    for (id, day, folder, name, cost, error, words) in [
        ("a", 1, "~/code/app", Some("First"), Some(0.5), true, 1),
        ("b", 2, "~/code/app/deep", None, None, false, 30),
        ("c", 3, "~/code/docs", Some("Third"), Some(0.25), false, 1),
    ] {
        let time = format!("2026-01-0{day}T09:00:00.000Z");
        let mut lines = vec![format!(
            r#"{{"type":"session","version":3,"id":"{id}{id}{id}{id}","timestamp":"{time}","cwd":"{folder}"}}"#
        )];
        lines.push(format!(
            r#"{{"type":"message","id":"m1","parentId":null,"timestamp":"{time}","message":{{"role":"user","content":"{}"}}}}"#,
            "word ".repeat(words)
        ));
        if let Some(cost) = cost {
            lines.push(format!(
                r#"{{"type":"message","id":"m2","parentId":"m1","timestamp":"{time}","message":{{"role":"assistant","content":[],"provider":"p","model":"m","usage":{{"input":1,"output":2,"totalTokens":3,"cost":{{"total":{cost}}}}},"stopReason":"{}"}}}}"#,
                if error { "error" } else { "stop" }
            ));
        }
        if let Some(name) = name {
            lines.push(format!(
                r#"{{"type":"session_info","id":"m3","parentId":"m1","timestamp":"{time}","name":"{name}"}}"#
            ));
        }
        let text = lines.join("\n") + "\n";
        let path = home.write(&format!(".pi/agent/sessions/--x--/{id}.jsonl"), &text);
        home.touch(&path, 1_767_222_000 + day * 86_400);
    }
    home
}

#[test]
fn every_filter_and_every_order() {
    let home = three();
    let listed = |arguments: &[&str]| {
        let all = [&["list", "--all", "--json"][..], arguments].concat();
        ids(&home.json(&all)).concat()
    };
    let (a, b, c) = ("aaaa", "bbbb", "cccc");
    for (arguments, expected) in [
        (&[][..], &[c, b, a][..]),
        (&["--reverse"], &[a, b, c]),
        (&["--sort", "modified"], &[c, b, a]),
        (&["--sort", "created", "--reverse"], &[a, b, c]),
        (&["--sort", "size"], &[c, a, b]),
        // What is not recorded comes last, whichever way.
        (&["--sort", "cost"], &[a, c, b]),
        (&["--sort", "cost", "--reverse"], &[c, a, b]),
        (&["--sort", "tokens"], &[c, a, b]),
        (&["--sort", "messages"], &[c, a, b]),
        (&["--sort", "errors"], &[a, c, b]),
        (&["--named"], &[c, a]),
        (&["--errors"], &[a]),
        (&["--model", "M"], &[c, a]),
        (&["--model", "gpt"], &[]),
        (&["--cost", "0.3"], &[a]),
        (&["--cost", "0"], &[c, a]),
        (&["--since", "2026-01-02"], &[c, b]),
        (&["--until", "2026-01-02"], &[b, a]),
        (&["--since", "4d", "--until", "2026-01-02"], &[b]),
        (&["--project", "APP"], &[a]),
        (&["--project", "../app"], &[b, a]),
        (&["--project", "code"], &[]),
        (&["--agent", "clido"], &[]),
        (&["--limit", "2"], &[c, b]),
        (&["--limit", "2", "--page", "2"], &[a]),
        (&["--limit", "2", "--page", "3"], &[]),
        (
            &["--sort", "cost", "--named", "--limit", "1", "--page", "2"],
            &[c],
        ),
    ] {
        assert_eq!(listed(arguments), expected.concat(), "{arguments:?}");
        // As rows a line, and as a table, the same sessions in the same order.
        let all = [&["list", "--all"][..], arguments].concat();
        let lines = home.output(&[&all[..], &["--jsonl"]].concat()).stdout;
        let lines: String = String::from_utf8(lines)
            .expect("UTF-8")
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["id"].clone())
            .filter_map(|id| id.as_str().map(str::to_owned))
            .collect();
        assert_eq!(lines, expected.concat(), "{arguments:?}");
        let table = home.run(&all);
        let table: String = table
            .lines()
            .take_while(|line| !line.starts_with("---"))
            .filter_map(|line| [a, b, c].into_iter().find(|id| line.contains(id)))
            .collect();
        assert_eq!(table, expected.concat(), "{arguments:?}");
    }
}

/// What somebody did on a day is listed, also where the session went on later; where nothing
/// happened in between it is not.
#[test]
fn sessions_of_a_period_may_have_gone_on_later() {
    let home = Sandbox::new();
    for (id, days) in [
        ("goes-on", &[5, 6, 9][..]),
        ("pauses", &[4, 9]),
        ("later", &[7, 9]),
    ] {
        let time = |day: &i32| format!("2026-01-0{day}T09:00:00.000Z");
        let first = time(&days[0]);
        let mut text = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"{first}\",\"cwd\":\"/x\"}}\n"
        );
        let mut parent = "null".to_owned();
        for day in days {
            let message = r#""message":{"role":"user","content":"walrus"}}"#;
            let time = time(day);
            text += &format!(
                "{{\"type\":\"message\",\"id\":\"m{day}\",\"parentId\":{parent},\"timestamp\":\"{time}\",{message}\n"
            );
            parent = format!("\"m{day}\"");
        }
        home.write(&format!(".pi/agent/sessions/--x--/{id}.jsonl"), &text);
    }
    let listed = |arguments: &[&str]| {
        let all = [&["list", "--all", "--json"][..], arguments].concat();
        let mut ids = ids(&home.json(&all));
        ids.sort();
        ids
    };
    let day = ["--since", "2026-01-06", "--until", "2026-01-06"];
    assert_eq!(listed(&day), ["goes-on"]);
    // What began then, though nothing else happened.
    let first = ["--since", "2026-01-05", "--until", "2026-01-05"];
    assert_eq!(listed(&first), ["goes-on"]);
    assert_eq!(listed(&day[..2]), ["goes-on", "later", "pauses"]);
    assert_eq!(listed(&day[2..]), [""; 0]);
}

#[test]
fn pages_and_what_was_asked_about() {
    let home = three();
    let all = |arguments: &[&str]| home.run(&[&["list", "--all"][..], arguments].concat());
    assert_snapshot!(all(&["--sort", "cost", "--limit", "2"]), @r"
    AGE  SESSION  AGENT  MSGS   COST  PROJECT      TITLE
    4d   aaaa     pi        2  $0.50  ~/code/app   First
    2d   cccc     pi        2  $0.25  ~/code/docs  Third
    --- stderr
    1 to 2 of 3 sessions; next: --page 2.
    ");
    assert_snapshot!(all(&["--limit", "2", "--page", "2", "--errors"]), @r"
    --- stderr
    That page is past the last one: 1 session in all.
    --- exit Some(1)
    ");
    assert_snapshot!(all(&["--since", "tomorrow"]), @r"
    --- stderr
    error: --since tomorrow: not a time
    hint: for example 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026-10 or 2026-10-05
    --- exit Some(2)
    ");
    assert_snapshot!(all(&["--cost", "9"]), @r"
    --- stderr
    No matching sessions; there are 3 in all.
    --- exit Some(1)
    ");
    assert_snapshot!(all(&["--sort", "colour"]), @r#"
    --- stderr
    error: invalid value 'colour' for '--sort <KEY>'
      [possible values: modified, created, messages, tokens, cost, size, errors]

    For more information, try '--help'.
    --- exit Some(2)
    "#);
    assert_snapshot!(home.run(&["list", "--page", "2"]), @r#"
    --- stderr
    error: the following required arguments were not provided:
      --limit <N>

    Usage: sessionary list --limit <N> --page <P>

    For more information, try '--help'.
    --- exit Some(2)
    "#);
    let page = home.json(&["list", "--all", "--json", "--limit", "1", "--page", "2"]);
    assert_eq!((&page["total"], &page["elsewhere"]), (&3.into(), &0.into()));
    let mut there = three();
    there.cwd = there.home.join("code/app");
    std::fs::create_dir_all(&there.cwd).expect("a folder");
    assert_snapshot!(there.run(&["list", "--cost", "100"]), @r#"
    --- stderr
    No matching sessions in ~/code/app; there are 2.
    --- exit Some(1)
    "#);
    let mut below = three();
    below.cwd = below.home.join("code/app/deep");
    std::fs::create_dir_all(&below.cwd).expect("a folder");
    assert_snapshot!(below.run(&["list", "--named"]), @r#"
    --- stderr
    No matching sessions in ~/code/app/deep; there is 1. 1 session in ~/code/app. --all lists 2 sessions.
    --- exit Some(1)
    "#);
}

/// In one folder that two agents are said to have, each file is a session of both.
#[test]
fn pages_of_a_folder_of_two_agents_have_its_sessions_of_both() {
    let home = three();
    let folder = home.home.join(".pi/agent/sessions");
    let roots = ["pi", "clido"].map(|agent| format!("{agent}:{}", folder.display()));
    let listed = |arguments: &[&str]| {
        let named = [
            "--no-default-roots",
            "--root",
            &roots[0],
            "--root",
            &roots[1],
        ];
        home.json(&[&named[..], &["list", "--all", "--json"], arguments].concat())
    };
    let whole = ids(&listed(&[]));
    assert_eq!(whole.len(), 6, "{whole:?}");
    let mut page = listed(&["--limit", "4", "--max-bytes", "90000"]);
    let mut pages = ids(&page);
    while let Some(cursor) = page["cursor"].as_str() {
        page = listed(&["--limit", "1", "--cursor", cursor]);
        pages.extend(ids(&page));
    }
    assert_eq!(pages, whole);
}

#[test]
fn subagents_are_a_count_on_their_parent() {
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agentuse/subagents/project");
    let root = format!("agentuse:{}", fixture.display());
    let home = Sandbox::new();
    let list = |arguments: &[&str]| {
        let all = [
            "--no-default-roots",
            "--root",
            &root,
            "list",
            "--all",
            "--color",
            "never",
        ];
        home.run(&[&all[..], arguments].concat())
    };
    assert_snapshot!(list(&[]), @r#"
    AGE  SESSION   AGENT     MSGS  SUBS  PROJECT             TITLE
    2h   01KE6P4Y  agentuse     1     2  /home/ada/mono/sub  agents/triage
    "#);
    assert_snapshot!(list(&["--subagents"]), @r#"
    AGE  SESSION   AGENT     MSGS  SUBS  PROJECT             TITLE
    2h   01KE6P4Y  agentuse     1     2  /home/ada/mono/sub  agents/triage
    2h   01KE6P54  agentuse     1        /home/ada/mono/sub  [unlisted: a subagent's session] spell
    2h   01KE6P53  agentuse     1     1  /home/ada/mono/sub  [unlisted: a subagent's session] mail
    "#);
}

/// A thread of Codex in this folder, and one that it started in another, in which something failed.
fn with_subagent() -> Sandbox {
    let home = Sandbox::new();
    let write = |number: u32, folder: &str, source: &str, more: &str| {
        let id = format!("{number}19b8d5e-7c80-7000-8000-000000000000");
        let time = "2026-01-05T09:00:00.000Z";
        let meta = format!(
            r#"{{"timestamp":"{time}","type":"session_meta","payload":{{"id":"{id}","timestamp":"{time}","cwd":"~/{folder}","source":{source}}}}}"#
        );
        let typed = format!(
            r#"{{"timestamp":"{time}","type":"event_msg","payload":{{"type":"user_message","message":"Count."}}}}"#
        );
        let path = format!(".codex/sessions/2026/01/05/rollout-2026-01-05T09-00-00-{id}.jsonl");
        home.write(&path, &format!("{meta}\n{typed}\n{more}"));
    };
    write(1, "code/app", "\"cli\"", "");
    let spawned = r#"{"subagent":{"thread_spawn":{"parent_thread_id":"119b8d5e-7c80-7000-8000-000000000000","depth":1}}}"#;
    let failed = r#"{"timestamp":"2026-01-05T09:00:01.000Z","type":"event_msg","payload":{"type":"error","message":"no"}}"#;
    write(2, "code/deep", spawned, &format!("{failed}\n"));
    home
}

/// A session counts the subagents below it, but one that a filter leaves out does not.
#[test]
fn a_subagent_is_a_row_where_no_parent_counts_it() {
    let mut home = with_subagent();
    for folder in ["app", "deep"] {
        std::fs::create_dir_all(home.home.join("code").join(folder)).expect("a folder");
    }
    let (parent, child) = ("119b8d5e", "219b8d5e");
    for (arguments, expected) in [
        (&[][..], &[parent][..]),
        (&["--sort", "errors"], &[parent]),
        (&["--until", "2026-01-06"], &[parent]),
        (&["--errors"], &[child]),
        (&["--errors", "--limit", "1"], &[child]),
        (&["--project", "deep"], &[child]),
        (&["--project", "app"], &[parent]),
    ] {
        let all = home.json(&[&["list", "--all", "--json"], arguments].concat());
        assert_eq!(ids(&all), expected, "{arguments:?}");
        assert_eq!(all["total"], expected.len(), "{arguments:?}");
    }
    for (folder, expected, elsewhere) in [("app", parent, 0), ("deep", child, 1)] {
        home.cwd = home.home.join("code").join(folder);
        for more in [&[][..], &["--sort", "errors"]] {
            let here = home.json(&[&["list", "--json"], more].concat());
            assert_eq!(ids(&here), [expected], "{folder}");
            assert_eq!(
                (&here["total"], &here["elsewhere"]),
                (&1.into(), &elsewhere.into())
            );
        }
    }
}

/// Where two agents have the same file nothing tells its rows apart but their roots.
#[test]
fn a_file_of_two_agents_is_on_two_pages() {
    let place = tempfile::tempdir().expect("a folder");
    let folder = place.path().join("sessions");
    std::fs::create_dir_all(folder.join("--x--")).expect("a folder");
    let then = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_600_000);
    for number in 0..60 {
        let path = folder.join(format!("--x--/{number}.jsonl"));
        std::fs::write(&path, "{\"kept\":1}\n").expect("a file");
        let file = std::fs::File::options().append(true).open(&path);
        let set = file.and_then(|file| file.set_modified(then));
        set.expect("its time");
    }
    let roots = ["pi", "clido"].map(|agent| dump::root(agent, agent, &folder));
    let config = Config::new(place.path().join("index"), roots.to_vec());
    let index = Index::open(&config, Freshness::Check).expect("an index");
    let mut shown = BTreeSet::new();
    for offset in 0..120 {
        let scope = ListScope {
            offset,
            limit: Some(1),
            ..ListScope::default()
        };
        let page = index.list(&scope).expect("a page").sessions;
        shown.extend(page.into_iter().map(|row| (row.agent, row.path)));
    }
    assert_eq!(shown.len(), 120);
}

/// A blank name is none, for a list as for a search.
#[test]
fn a_blank_name_is_none() {
    let home = Sandbox::new();
    let lines = [
        r#"{"type":"meta","schema_version":1,"session_id":"c","project_path":"/w","start_time":"2026-01-05T09:00:00.000Z"}"#,
        r#"{"type":"user_message","role":"user","content":[{"type":"text","text":"walrus"}]}"#,
        r#"{"type":"title","title":"  "}"#,
        "",
    ];
    home.write("clido/sessions/_w/c.jsonl", &lines.join("\n"));
    assert_eq!(home.json(&["list", "--all", "--json"])["total"], 1);
    assert_eq!(
        home.json(&["list", "--all", "--json", "--named"])["total"],
        0
    );
    for (query, sessions) in [("walrus is:named", 0), ("walrus -is:named", 1)] {
        let found = home.json(&["search", "--json", query]);
        let found = found["sessions"].as_array().expect("sessions").len();
        assert_eq!(found, sessions, "{query}");
    }
}

#[test]
fn a_row_says_how_its_agent_takes_it_up_again() {
    let home = home();
    let list = home.json(&["list", "--all", "--json"]);
    let said: Vec<String> = list["sessions"]
        .as_array()
        .expect("rows")
        .iter()
        .map(|row| {
            row["resume"]
                .to_string()
                .replace(&home.home.display().to_string(), "~")
        })
        .collect();
    assert_snapshot!(said.join("\n"), @r#"
    {"argv":["pi","--session","~/.pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl"],"cwd":"~/code/parser"}
    {"argv":["pi","--session","~/.pi/agent/sessions/--code-docs--/2026-01-04T09-00-00-000Z_0b.jsonl"],"cwd":"~/code/docs"}
    {"argv":["clido","--resume","f47ac10b-58cc-4372-a567-0e02b2c3d479"],"cwd":"~/code/parser"}
    null
    "#);
    let shown = home.json(&["show", "last", "--json"]);
    assert_eq!(shown["session"], list["sessions"][0]);
    let found = home.json(&["search", "tokenizer", "--json"]);
    assert_eq!(found["sessions"][0]["session"], list["sessions"][0]);
}

/// Sixty sessions that begin with a hundred thousand letters each: more than is kept of a list
/// until it is written.
fn sixty_long_sessions() -> Sandbox {
    let home = Sandbox::new();
    for number in 0..60 {
        let lines = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{number:08}\",\"timestamp\":\"2026-01-01T09:00:00.000Z\",\"cwd\":\"/c\"}}\n\
             {{\"type\":\"message\",\"id\":\"m\",\"parentId\":null,\"timestamp\":\"2026-01-01T09:00:00.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{number} ghp_{}{}\"}}}}\n",
            "a1".repeat(18),
            " and".repeat(25_000),
        );
        let path = home.write(&format!(".pi/agent/sessions/--x--/{number}.jsonl"), &lines);
        home.touch(&path, 1_767_222_000 + number);
    }
    home
}

#[test]
fn a_list_of_any_length_is_the_sum_of_its_pages() {
    let home = sixty_long_sessions();
    let sessions = |arguments: &[&str]| {
        let mut answer = home.json(&[&["list", "--all", "--json"][..], arguments].concat());
        match answer["sessions"].take() {
            Value::Array(sessions) => sessions,
            other => panic!("{other}"),
        }
    };
    let all = sessions(&[]);
    assert_eq!(all.len(), 60);
    assert!(serde_json::to_string(&all).unwrap().len() > 5 << 20);
    let pages = (1..=6).flat_map(|page| sessions(&["--limit", "10", "--page", &page.to_string()]));
    assert_eq!(all, pages.collect::<Vec<_>>());
    let numbers = all
        .iter()
        .map(|row| row["id"].as_str().unwrap().parse::<u64>().unwrap());
    assert_eq!(
        numbers.collect::<Vec<_>>(),
        (0..60).rev().collect::<Vec<_>>()
    );
    let is_masked = |row: &Value| {
        row["firstMessage"]
            .as_str()
            .unwrap()
            .contains("ghp_[redacted]")
    };
    assert!(all.iter().all(is_masked));

    // Each row is read once: some while the list is opened, the others when it is their turn.
    #[cfg(target_os = "linux")]
    {
        let read = || {
            let io = std::fs::read_to_string("/proc/thread-self/io").unwrap();
            let read = io.lines().find_map(|line| line.strip_prefix("rchar: "));
            read.unwrap().parse::<u64>().unwrap()
        };
        let root = crate::histories::dump::root("pi", "pi", &home.home.join(".pi/agent/sessions"));
        let config = sessionary::Config::new(home.home.join("index"), vec![root]);
        let synced = sessionary::Indexer::open(&config).and_then(|mut index| index.sync());
        assert_eq!(synced.unwrap().files_changed, 60);
        // What was changed just now is looked into once more.
        home.settle();
        drop(sessionary::Index::open(&config, sessionary::Freshness::Check).unwrap());
        // What is left of the WAL would be read, too.
        let catalogue = home.home.join("index/v5/catalogue.sqlite");
        let empty = "PRAGMA wal_checkpoint(TRUNCATE)";
        rusqlite::Connection::open(catalogue)
            .and_then(|catalogue| catalogue.query_row(empty, [], |_| Ok(())))
            .unwrap();
        let scope = sessionary::index::ListScope::default();
        let before = read();
        let index = sessionary::Index::open(&config, sessionary::Freshness::Check).unwrap();
        let page = index.ask(|snapshot| snapshot.page(&scope)).unwrap();
        let opened = read() - before;
        assert!(opened < 1_000_000, "{opened} bytes read");
        let _ = index
            .stream(|snapshot| snapshot.write_page(&page, &mut std::io::sink()))
            .unwrap();
        let written = read() - before - opened;
        assert!(
            (4_800_000..7_000_000).contains(&written),
            "{written} bytes read"
        );
        assert!(opened + written < 7_000_000, "{}", opened + written);
    }
}

/// Between the look at all rows and the last of them other processes write.
#[test]
fn rows_of_a_long_list_are_as_they_are_when_they_are_written() {
    let home = sixty_long_sessions();
    let folder = home.home.join(".pi/agent/sessions");
    let root = crate::histories::dump::root("pi", "pi", &folder);
    let config = sessionary::Config::new(home.home.join("index"), vec![root]);
    let sync = || {
        let synced = sessionary::Indexer::open(&config).and_then(|mut index| index.sync());
        synced.unwrap()
    };
    sync();
    let index =
        sessionary::Index::open(&config, sessionary::Freshness::AsCommitted).expect("an index");
    let scope = sessionary::index::ListScope::default();
    let page = index.ask(|snapshot| snapshot.page(&scope)).expect("a page");
    // Of those that were read ahead; of those behind rows of one window, of its neighbours and of
    // none.
    for gone in ["59", "31", "15", "14", "13", "0"] {
        std::fs::remove_file(folder.join(format!("--x--/{gone}.jsonl"))).unwrap();
    }
    let grown = folder.join("--x--/12.jsonl");
    let mut text = std::fs::read_to_string(&grown).unwrap();
    text.push_str("{\"type\":\"session_info\",\"id\":\"n\",\"parentId\":\"m\",\"timestamp\":\"2026-01-01T09:00:01.000Z\",\"name\":\"grown\"}\n");
    std::fs::write(&grown, text).unwrap();
    let report = sync();
    assert_eq!(report.vanished, 6);
    let written = |page: &sessionary::index::ListPage| {
        let mut out = Vec::new();
        let (told, _) = index
            .stream(|snapshot| snapshot.write_page_lines(page, &mut out))
            .unwrap();
        let rows = out
            .split(|byte| *byte == b'\n')
            .filter(|row| !row.is_empty());
        let rows: Vec<Value> = rows
            .map(|row| serde_json::from_slice(row).unwrap())
            .collect();
        assert_eq!(rows.len(), told.sessions);
        rows
    };
    let rows = written(&page);
    let numbers = rows
        .iter()
        .map(|row| row["id"].as_str().unwrap().parse::<u64>().unwrap());
    let left = (0..60u64)
        .rev()
        .filter(|n| ![59, 31, 15, 14, 13, 0].contains(n));
    assert_eq!(numbers.collect::<Vec<_>>(), left.collect::<Vec<_>>());
    let named = |row: &&Value| row["name"] == "grown";
    assert_eq!(rows.iter().filter(named).count(), 1);

    // In an index that was rebuilt other sessions have these numbers.
    sessionary::Indexer::open(&config)
        .and_then(|mut index| index.rebuild())
        .unwrap();
    assert_eq!(written(&page), Vec::<Value>::new());
    let page = index.ask(|snapshot| snapshot.page(&scope)).unwrap();
    assert_eq!(written(&page).len(), 54);
}

#[test]
fn a_range_of_times_the_wrong_way_round_is_an_error() {
    let home = three();
    let wrong = ["list", "--all", "--since", "2026-10", "--until", "2026-09"];
    assert_snapshot!(home.run(&wrong), @r"
    --- stderr
    error: --since 2026-10 is not before the end of --until 2026-09
    hint: --since takes the earlier time, --until the later one
    --- exit Some(2)
    ");
    let month = ["list", "--all", "--since", "2026-01", "--until", "2026-01"];
    assert!(home.output(&month).status.success());
}

/// Ids of the rows that `--as` prints, cut to what tells them apart here.
fn own_ids(home: &Sandbox, arguments: &[&str]) -> Vec<char> {
    let output = home.output(&[&["list", "--as", "pi", "--jsonl"], arguments].concat());
    let said = String::from_utf8_lossy(&output.stdout);
    let rows = said
        .lines()
        .map(|line| serde_json::from_str(line).expect("a row"));
    rows.map(|row: Value| {
        row["id"]
            .as_str()
            .and_then(|id| id.chars().next())
            .expect("an id")
    })
    .collect()
}

/// For programs that stand in for pi: what it lacks is left out, as `undefined` is.
#[test]
fn the_list_that_pi_itself_would_show() {
    let home = three();
    let path = ".pi/agent/sessions/--x--/none.jsonl";
    let header = r#"{"type":"session","version":3,"id":"d","timestamp":"then"}"#;
    let path = home.write(path, &format!("{header}\n"));
    home.touch(&path, 1_767_600_000);
    let listed = home.output(&["list", "--as", "pi", "--jsonl", "--with-text"]);
    let said = String::from_utf8(listed.stdout).expect("text");
    let rows: Vec<&str> = said.lines().collect();
    let sessions = home.home.join(".pi/agent/sessions");
    let sessions = sessions.to_str().expect("a path");
    // Changed last, as its file says: of its own times none is one.
    let row = format!(
        r#"{{"path":"{sessions}/--x--/none.jsonl","id":"d","cwd":"","created":null,"modified":1767600000000,"messageCount":0,"firstMessage":"(no messages)","allMessagesText":""}}"#
    );
    assert_eq!(rows[0], row);
    let docs = home.home.join("code/docs");
    let docs = docs.to_str().expect("a path");
    let row = format!(
        r#"{{"path":"{sessions}/--x--/c.jsonl","id":"cccc","cwd":"{docs}","name":"Third","created":1767430800000,"modified":1767430800000,"messageCount":2,"firstMessage":"word ","allMessagesText":"word "}}"#
    );
    assert_eq!(rows[1], row);
    let folder = home.home.join(".pi/agent/sessions/--x--");
    let folder = folder.to_str().expect("a path");
    let sessions = home.home.join(".pi/agent/sessions");
    let sessions = sessions.to_str().expect("a path");
    assert_eq!(
        own_ids(&home, &["--sessions", sessions])[1..],
        ['c', 'b', 'a']
    );
    // Of one folder for all: those whose header names the directory.
    assert_eq!(own_ids(&home, &["--session-dir", folder]).len(), 4);
    assert_eq!(
        own_ids(&home, &["--session-dir", folder, "--in", docs]),
        ['c']
    );
    // Of a folder for each: those in the one that pi has for the directory, whatever they say.
    assert_eq!(own_ids(&home, &["--in", "/x"]).len(), 4);
    assert_eq!(
        home.output(&["list", "--as", "pi", "--jsonl", "--in", docs])
            .status
            .code(),
        Some(1)
    );
    for wrong in [
        &["list", "--as", "pi"][..],
        &["list", "--in", "/x"],
        &["list", "--as", "pi", "--jsonl", "--all"],
    ] {
        assert_eq!(home.output(wrong).status.code(), Some(2), "{wrong:?}");
    }
    let codex = home.run(&["list", "--as", "codex", "--jsonl"]);
    assert!(codex.contains("exit Some(2)"), "{codex}");
}
