//! What does `search` print: places, reasons, counts, hints and errors?

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use serde_json::Value;
use sessionary::model::SessionRow;

use crate::sandbox::Sandbox;

/// The home of the documents' tour.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/tour");
    for entry in walkdir::WalkDir::new(&from).sort_by_file_name() {
        let entry = entry.expect("a fixture");
        if entry.file_type().is_file() {
            let below = entry.path().strip_prefix(&from).expect("below it");
            let text = std::fs::read_to_string(entry.path()).expect("text");
            let path = home.write(&below.display().to_string(), &text);
            home.touch(&path, 1_767_355_200); // 2026-01-02T12:00:00Z
        }
    }
    home
}

#[test]
fn a_place_its_neighbours_and_the_score() {
    let home = home();
    assert_snapshot!(home.run(&["search", "apt", "--context", "1"]), @r"
    Linker error in CI  ~/code/app · pi · 2h
      assistant 5e550004: The linker error names sqlite3: the system library is missing. I can install…
      user · 2h · abandoned branch  019b8d5e:5e550005
        Install it with apt
      assistant 5e550006: bash sudo apt-get install -y libsqlite3-dev

      user 5e550005: Install it with apt
      assistant · bash · 2h · abandoned branch  019b8d5e:5e550006
        sudo apt-get install -y libsqlite3-dev
      toolResult 5e550007: bash E: Could not open lock file /var/lib/dpkg/lock-frontend
    --- stderr
    2 matches in 1 session. --here searches this repository or directory only.
    Next: sessionary show 019b8d5e:5e550005 · sessionary resume 019b8d5e
    ");
    assert_snapshot!(home.run(&["search", "linker", "role:user", "--explain"]), @r"
    Linker error in CI  ~/code/app · pi · 2h
      user · 2h  019b8d5e:5e550001
        Why does the build end with a linker error?
        score 2.25 = words 1.50 × standing 1.5 × recency 1.00 × text 1
    --- stderr
    1 match in 1 session. --here searches this repository or directory only.
    Next: sessionary show 019b8d5e:5e550001 · sessionary resume 019b8d5e
    ");
}

#[test]
fn counts_and_single_hits() {
    assert_snapshot!(home().run(&["search", "error", "--passages", "--limit", "2", "--facets"]), @r"
    Linker error in CI  ~/code/app · pi · 2h
      session_info · 2h  019b8d5e:5e55000b
        Linker error in CI

    Linker error in CI  ~/code/app · pi · 2h
      user · 2h  019b8d5e:5e550001
        Why does the build end with a linker error?

    agents    pi 4
    projects  app 4
    roles     assistant 1 · session_info 1 · toolResult 1 · user 1
    days      2026-01-05 4
    --- stderr
    2 of 4 matches, in 1 session; --limit 0 shows all. --here searches this repository or directory only.
    Next: sessionary show 019b8d5e:5e55000b · sessionary resume 019b8d5e
    ");
}

#[test]
fn text_and_typos() {
    let home = home();
    assert_snapshot!(home.run(&["search", "/ld: .* -l\\w+/"]), @r"
    Linker error in CI  ~/code/app · pi · 2h
      toolResult · bash · 2h  019b8d5e:5e550003
        …`cc` failed: exit status: 1 = note: ld: cannot find -lsqlite3 error: could not compile `app`
    --- stderr
    1 match in 1 session. --here searches this repository or directory only.
    Next: sessionary show 019b8d5e:5e550003 · sessionary resume 019b8d5e
    ");
    assert_snapshot!(home.run(&["search", "*NKER*", "agent:clido"]), @r"
    Set up a release workflow  ~/code/app · clido · 3d
      assistant · 3d  f47ac10b:L3
        …builds on three systems and strips the symbols by a linker flag.
    --- stderr
    1 match in 1 session. --here searches this repository or directory only.
    Next: sessionary show f47ac10b:L3 · sessionary resume f47ac10b
    ");
    assert_snapshot!(home.run(&["search", "likner"]), @r"
    Linker error in CI  ~/code/app · pi · 2h
      session_info · 2h  019b8d5e:5e55000b
        Linker error in CI
      user · 2h  019b8d5e:5e550001
        Why does the build end with a linker error?
      assistant · 2h  019b8d5e:5e550004
        The linker error names sqlite3: the system library is missing. I can install it, or build it…

    Set up a release workflow  ~/code/app · clido · 3d
      assistant · 3d  f47ac10b:L3
        …builds on three systems and strips the symbols by a linker flag.
    --- stderr
    4 matches in 2 sessions. Also searched: linker; --exact leaves them out. --here searches this repository or directory only.
    Next: sessionary show 019b8d5e:5e55000b · sessionary resume 019b8d5e
    ");
    assert_snapshot!(home.run(&["search", "--exact", "likner"]), @r#"
    --- stderr
    Nothing found for likner.
    --- exit Some(1)
    "#);
}

#[test]
fn ids() {
    let home = home();
    assert_snapshot!(home.run(&["search", "019b8d5e"]), @r"
    019b8d5e  session  Linker error in CI  ~/code/app · pi · 2h
    --- stderr
    019b8d5e is an id; no text contains it.
    ");
    assert_snapshot!(home.run(&["search", "5e550003"]), @r"
    019b8d5e:5e550003  entry  Linker error in CI  ~/code/app · pi · 2h
    --- stderr
    5e550003 is an id; no text contains it.
    ");
}

#[test]
fn why_nothing_is_found() {
    let home = home();
    assert_snapshot!(home.run(&["search", "linker zeppelin"]), @r"
    Linker error in CI  ~/code/app · pi · 2h
      session_info · 2h  019b8d5e:5e55000b
        Linker error in CI
      user · 2h  019b8d5e:5e550001
        Why does the build end with a linker error?
      assistant · 2h  019b8d5e:5e550004
        The linker error names sqlite3: the system library is missing. I can install it, or build it…

    Set up a release workflow  ~/code/app · clido · 3d
      assistant · 3d  f47ac10b:L3
        …builds on three systems and strips the symbols by a linker flag.
    --- stderr
    4 matches in 2 sessions. None of them contains zeppelin. --here searches this repository or directory only.
    Next: sessionary show 019b8d5e:5e55000b · sessionary resume 019b8d5e
    ");
    assert_snapshot!(home.run(&["search", "linker japanese"]), @r"
    Translate the page on installing to Japanese  ~/code/docs · pi · 1d
      user · 1d  019b84d7:6e550001
        Translate the page on installing to Japanese

    Linker error in CI  ~/code/app · pi · 2h
      session_info · 2h  019b8d5e:5e55000b
        Linker error in CI
      user · 2h  019b8d5e:5e550001
        Why does the build end with a linker error?
      assistant · 2h  019b8d5e:5e550004
        The linker error names sqlite3: the system library is missing. I can install it, or build it…

    Set up a release workflow  ~/code/app · clido · 3d
      assistant · 3d  f47ac10b:L3
        …builds on three systems and strips the symbols by a linker flag.
    --- stderr
    5 matches in 3 sessions. --here searches this repository or directory only.
    Next: sessionary show 019b84d7:6e550001 · sessionary resume 019b84d7
    ");
    assert_snapshot!(home.run(&["search", "linker role:robot"]), @r"
    --- stderr
    column 13: no entry has role:robot; known: user, assistant, toolResult
    Nothing found for linker role:robot. No passage within the filters contains linker. Without the filters: 4 matches.
    --- exit Some(1)
    ");
    assert_snapshot!(home.run(&["search", "role:robot"]), @r"
    --- stderr
    column 6: no entry has role:robot; known: user, assistant, toolResult
    Nothing found for role:robot.
    --- exit Some(1)
    ");
    assert_snapshot!(home.run(&["search", "rol:user"]), @r"
    --- stderr
    column 1: rol: is no filter, so rol:user is searched as text; did you mean role:user?
    Nothing found for rol:user.
    --- exit Some(1)
    ");
}

#[test]
fn queries_that_cannot_be_read() {
    let home = home();
    assert_snapshot!(home.run(&["search", "linker /a(b/"]), @r#"
    --- stderr
    error: column 10: expected a regular expression (unclosed group); to search for the text, write "/a(b/"
    hint: `sessionary search --help` explains queries
    --- exit Some(2)
    "#);
    assert_snapshot!(home.run(&["search", "is:errors"]), @r#"
    --- stderr
    error: column 4: expected `error`, `branch` or `named` after `is:`; did you mean is:error?
    hint: `sessionary search --help` explains queries
    --- exit Some(2)
    "#);
    assert_snapshot!(home.run(&["search", "foo AND"]), @r#"
    --- stderr
    column 5: AND is left out: expected a word on both sides of AND; to search for the word itself, write "and"
    Nothing found for foo AND. No passage contains foo.
    --- exit Some(1)
    "#);
    assert_snapshot!(home.run(&["search", "on:someday"]), @r#"
    --- stderr
    error: column 4: expected a date or a length of time; such as 2026-10, 2026-10-05, 2026-10-05T14:30, today, yesterday, last-week, monday, oct, 3d, 2w
    hint: `sessionary search --help` explains queries
    --- exit Some(2)
    "#);
    assert_snapshot!(home.run(&["search", "foo", "--json", "--cursor", "x"]), @r#"
    --- stderr
    {"schema_version":1,"error":{"kind":"usage","message":"this cursor cannot be read: give the `cursor` of the page before as it is, or leave it out","hints":[]}}
    --- exit Some(2)
    "#);
}

#[test]
fn json_goes_on_by_cursors_and_keeps_to_its_bytes() {
    let home = home();
    let refused = home.run(&["search", "error", "--json", "--max-bytes", "100"]);
    assert!(
        refused.contains("exit Some(2)") && refused.contains("the shortest answer takes"),
        "{refused}"
    );
    let first = home.json(&["search", "error", "--json", "--max-bytes", "2000"]);
    let cursor = first["cursor"].as_str().expect("a cursor");
    let next = home.json(&["search", "error", "--json", "--cursor", cursor]);
    let hits = |answer: &Value| -> Vec<String> {
        let sessions = answer["sessions"].as_array().expect("sessions");
        let hits = sessions
            .iter()
            .flat_map(|one| one["hits"].as_array().expect("hits"));
        hits.map(|hit| hit["address"].to_string()).collect()
    };
    assert_eq!(hits(&first).len(), 1);
    let all = home.json(&["search", "error", "--json"]);
    assert_eq!([hits(&first), hits(&next)].concat(), hits(&all));
    assert_eq!(all["cursor"], Value::Null);
    // Of what is not printed nothing counts.
    let few = [
        "search",
        "error",
        "--json",
        "--fields",
        "address,session.id",
    ];
    let whole = home.output(&few).stdout.len();
    let bound = whole.to_string();
    assert!(whole < 1500, "{whole}");
    let page = home.json(&[&few[..], &["--max-bytes", bound.as_str()]].concat());
    assert_eq!((hits(&page), &page["cut"]), (hits(&all), &Value::Null));
    // And all of what is.
    let less = (whole - 1).to_string();
    let page = home
        .output(&[&few[..], &["--max-bytes", less.as_str()]].concat())
        .stdout;
    let page_is: Value = serde_json::from_slice(&page).expect("JSON");
    assert!(page.len() < whole && page_is["cursor"].is_string());
}

#[test]
fn ids_may_hold_colons() {
    let home = Sandbox::new();
    let text = [
        r#"{"type":"session","version":3,"id":"run:7","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#,
        r#"{"type":"message","id":"e:1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"a colon in both ids"}}"#,
    ];
    home.write(
        ".pi/agent/sessions/--w--/colon.jsonl",
        &(text.join("\n") + "\n"),
    );
    for name in ["run:7", "run:7:e:1"] {
        let answer = home.json(&["--json", "search", name]);
        assert_eq!(answer["named"][0]["address"], name);
        let shown = home.output(&["show", name]);
        let shown = String::from_utf8_lossy(&shown.stdout);
        assert!(shown.contains("a colon in both ids"), "{name}: {shown}");
    }
}

#[test]
fn filters_beside_or_and_what_is_left_out() {
    let home = home();
    assert_snapshot!(home.run(&["search", "(role:user OR kind:session_info) linker"]), @r"
    Linker error in CI  ~/code/app · pi · 2h
      session_info · 2h  019b8d5e:5e55000b
        Linker error in CI
      user · 2h  019b8d5e:5e550001
        Why does the build end with a linker error?
    --- stderr
    2 matches in 1 session. --here searches this repository or directory only.
    Next: sessionary show 019b8d5e:5e55000b · sessionary resume 019b8d5e
    ");
    assert_snapshot!(home.run(&["search", "agent:clido sqlite3 OR role:assistant bundled =>"]), @r#"
    Linker error in CI  ~/code/app · pi · 2h
      assistant · 2h  019b8d5e:5e550009
        With `rusqlite = { features = ["bundled"] }` the build passes and nothing needs to be installed.
    --- stderr
    column 47: => has no letters or digits and is left out; *=>* finds it as it is written
    1 match in 1 session. --here searches this repository or directory only.
    Next: sessionary show 019b8d5e:5e550009 · sessionary resume 019b8d5e
    "#);
    assert_snapshot!(home.run(&["search", "(agent:clido OR label:nowhere) sqlite3"]), @r"
    --- stderr
    column 23: no entry has label:nowhere; known: fixed
    Nothing found for (agent:clido OR label:nowhere) sqlite3. No passage within the filters contains sqlite3. Without the filters: 1 match.
    --- exit Some(1)
    ");
}

#[test]
fn what_looks_like_a_key_in_plain_text_is_a_word() {
    let sandbox = crate::sandbox::Sandbox::new();
    let session =
        ".local/share/agentuse/project/d56553675460857d/session/01KE6P4YM00000000000000000-logs";
    sandbox.write(
        &format!("{session}/session.json"),
        r#"{"id": "01KE6P4YM00000000000000000", "agent": {"id": "logs", "name": "logs", "isSubAgent": false}, "model": "anthropic:x",
            "version": "1", "project": {"root": "/w", "cwd": "/w"}, "time": {"created": 1767603600000, "updated": 1767603600009}}"#,
    );
    sandbox.write(
        &format!("{session}/01KE6P4ZK80000000000000001/artifact/tool-output-tools-bash-01KE6P52H00000000000000000.txt"),
        "{\"zebraword\":\"failed\"}\n{\"zebraword\":\"ok\"}\n",
    );
    for query in ["*zebraword*", r"/zebra\w+/", "zebraword", "zebra*"] {
        let found = sandbox.json(&["search", query, "--json"]);
        assert_eq!(found["total"], 1, "{query}: {found}");
    }
}

/// What a filter on sessions finds is what the rows of `list` say.
#[test]
fn filters_on_sessions_go_by_what_lists_say() {
    let home = Sandbox::new();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let project = home.home.join("mono");
    std::fs::create_dir_all(project.join(".git")).expect("a repository");
    for (from, to) in [
        ("report", ""),
        ("tour/clido", "old laptop"),
        ("agentuse/subagents", ".local/share/agentuse"),
        ("agentuse/errors", ".local/share/agentuse"),
        ("agentuse/suspended", ".local/share/agentuse"),
    ] {
        let from = fixtures.join(from);
        for entry in walkdir::WalkDir::new(&from) {
            let entry = entry.expect("a fixture");
            let below = entry.path().strip_prefix(&from).expect("below it");
            if entry.file_type().is_file() && !below.ends_with("expected.json") {
                let text = std::fs::read_to_string(entry.path()).expect("text");
                let text = text.replace("/home/ada/mono", &project.display().to_string());
                home.write(&Path::new(to).join(below).display().to_string(), &text);
            }
        }
    }
    let old = format!(
        "clido:{}=old",
        home.home.join("old laptop/sessions").display()
    );
    let ask = |arguments: &[&str]| {
        let all = [&["--root", &old, "--json"], arguments].concat();
        let output = home.output(&all);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_ne!(output.status.code(), Some(2), "{arguments:?}: {said}");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let found = |query: &str| -> BTreeSet<PathBuf> {
        let answer = ask(&["search", "--limit", "0", "--", query]);
        let sessions = answer["sessions"].as_array().expect("sessions").clone();
        let row = |group: Value| serde_json::from_value::<SessionRow>(group["session"].clone());
        sessions
            .into_iter()
            .map(|group| row(group).expect("a row").path)
            .collect()
    };
    let list = ask(&["list", "--all", "--subagents"]);
    let rows: Vec<SessionRow> = serde_json::from_value(list["sessions"].clone()).expect("rows");
    let everything = found("-agent:nobody");
    assert!(everything.len() > 10, "{everything:?}");
    let own = |row: &SessionRow, name: &str| {
        let own = row.own.as_ref().and_then(|own| own[name].as_str());
        own.map(str::to_owned)
    };
    let is = |text: &Option<String>, part: &str| {
        text.as_ref()
            .is_some_and(|text| text.to_lowercase().contains(part))
    };
    let pi = rows
        .iter()
        .find(|row| row.agent == "pi")
        .expect("one of pi");
    let (id, path) = (&pi.id[..pi.id.len() - 1], pi.path.display().to_string());
    let root = home.home.join("old laptop").display().to_string();
    type Passes<'a> = &'a dyn Fn(&SessionRow) -> bool;
    let filters: [(String, Passes<'_>); 14] = [
        ("agent:PI".into(), &|row| row.agent == "pi"),
        ("agent:agentuse".into(), &|row| row.agent == "agentuse"),
        ("project:APP".into(), &|row| row.cwd.ends_with("/app")),
        ("cwd:/home/ada/code".into(), &|row| {
            row.cwd.starts_with("/home/ada/code/")
        }),
        ("cwd:/home/ada/co".into(), &|_| false),
        ("root:old".into(), &|row| {
            row.label.as_deref() == Some("old")
        }),
        (format!("root:\"{root}\""), &|row| {
            row.path.starts_with(&root)
        }),
        (format!("session:{id}"), &|row| row.id.starts_with(id)),
        (format!("session:\"{path}\""), &|row| row.path == pi.path),
        ("is:named".into(), &|row| row.name.is_some()),
        ("name:A".into(), &|row| is(&row.name, "a")),
        ("model:qwen".into(), &|row| is(&row.model, "qwen")),
        ("provider:anthropic".into(), &|row| {
            is(&row.provider, "anthropic")
        }),
        ("status:running".into(), &|row| {
            own(row, "status").as_deref() == Some("running")
        }),
    ];
    for (filter, passes) in filters {
        let (passed, not): (Vec<&SessionRow>, Vec<&SessionRow>) = rows
            .iter()
            .filter(|row| everything.contains(&row.path))
            .partition(|row| passes(row));
        assert!(!not.is_empty(), "{filter}");
        assert_eq!(passed.is_empty(), filter == "cwd:/home/ada/co", "{filter}");
        let paths = |rows: Vec<&SessionRow>| rows.into_iter().map(|row| row.path.clone()).collect();
        assert_eq!(found(&filter), paths(passed), "{filter}");
        assert_eq!(found(&format!("-{filter}")), paths(not), "-{filter}");
    }
    // Sessions of agentuse are where their project is.
    let here = ["--json", "search", "--here", "--", "-agent:nobody"];
    let output = home.command(&here).current_dir(&project).output();
    let answer: Value = serde_json::from_slice(&output.expect("it runs").stdout).expect("JSON");
    let groups = answer["sessions"].as_array().expect("sessions").iter();
    let told: BTreeSet<&str> = groups
        .filter_map(|group| group["session"]["path"].as_str())
        .collect();
    let of_project = |row: &&SessionRow| {
        let own = own(row, "projectRoot");
        everything.contains(&row.path) && own.is_some_and(|own| Path::new(&own) == project)
    };
    let there = rows
        .iter()
        .filter(of_project)
        .filter_map(|row| row.path.to_str());
    assert_eq!(told, there.collect());
    assert!(!told.is_empty());
    let facets = ask(&["search", "--facets", "--", "-agent:nobody"]);
    for (facet, of) in [
        (
            "agents",
            (&|row: &SessionRow| row.agent.clone()) as &dyn Fn(&SessionRow) -> String,
        ),
        ("projects", &|row| {
            row.cwd.rsplit('/').next().unwrap_or_default().to_owned()
        }),
    ] {
        let counts = facets["facets"][facet].as_array().expect("counts").iter();
        let told: BTreeSet<String> = counts
            .map(|one| one["value"].as_str().expect("a value").to_owned())
            .collect();
        let there = rows.iter().filter(|row| everything.contains(&row.path));
        assert_eq!(told, there.map(of).collect(), "{facet}");
    }
}

#[test]
fn facets_of_phrases_in_output_are_an_upper_bound_where_there_are_many() {
    let home = home();
    let _ = home.json(&["sync", "--json"]);
    let phrase = home.run(&["search", "\"exit status\"", "--facets"]);
    assert!(phrase.contains("agents    pi"), "{phrase}");
    let much = phrases(14, &"lorem ipsum dolor sit amet ".repeat(2000));
    let phrase = much.run(&["search", "\"quartz obsidian\"", "--exact", "--facets"]);
    assert!(phrase.contains("agents    at most pi 70"), "{phrase}");
    let word = home.run(&["search", "status", "--facets"]);
    assert!(word.contains("agents    pi"), "{word}");
}

#[test]
fn a_phrase_without_a_hit_names_the_missing_word() {
    let told = home().run(&["search", "\"linkr error\"", "--exact"]);
    assert!(told.contains("No passage contains linkr."), "{told}");
}

/// Sessions in which a tool printed texts with two words, of which every fifth holds them as a
/// phrase.
fn phrases(sessions: usize, filler: &str) -> Sandbox {
    let home = Sandbox::new();
    for session in 0..sessions {
        let mut lines = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"p{session}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/w\"}}\n"
        );
        for entry in 0..5 {
            let (one, other) = match entry == 0 && session % 2 == 0 {
                true => ("quartz", "obsidian"),
                false => ("obsidian", "quartz"),
            };
            let line = serde_json::json!({"type": "message", "id": format!("e{session}-{entry}"), "parentId": null,
                "timestamp": "2026-01-05T09:00:01.000Z", "message": {"role": "toolResult", "toolCallId": "c",
                "toolName": "bash", "content": [{"type": "text", "text": format!("{one} {other} {session} {entry} {filler}")}]}});
            lines.push_str(&format!("{line}\n"));
        }
        home.write(&format!(".pi/agent/sessions/--w--/{session}.jsonl"), &lines);
    }
    home.settle();
    let _ = home.json(&["sync", "--json"]);
    home
}

#[test]
fn totals_are_the_same_whatever_the_limit() {
    let phrase = "\"quartz obsidian\"";
    let limits = ["1", "5", "20", "0"];
    let told = |home: &Sandbox, query: &str| {
        let each = limits.map(|limit| {
            let answer = home.json(&["search", query, "--exact", "--limit", limit, "--json"]);
            let hits = answer["sessions"].as_array().expect("sessions").iter();
            let hits: usize = hits
                .map(|group| group["hits"].as_array().map_or(0, Vec::len))
                .sum();
            let totals = ["total", "total_sessions", "total_exact"];
            (hits, totals.map(|name| answer[name].clone()))
        });
        assert!(
            each.iter().all(|(_, totals)| *totals == each[0].1),
            "{each:?}"
        );
        let [total, sessions, exact] = each[0].1.clone();
        let [total, sessions] = [total, sessions].map(|number| number.as_u64().expect("a number"));
        (each.map(|(hits, _)| hits), total, sessions, exact == true)
    };
    // What is little is read and counted.
    let little = phrases(14, "");
    assert_eq!(told(&little, phrase), ([1, 5, 7, 7], 7, 7, true));
    // What is much is counted as what it is: the most that there can be, in sessions as well.
    let much = phrases(14, &"lorem ipsum dolor sit amet ".repeat(2000));
    assert_eq!(told(&much, phrase), ([1, 5, 7, 7], 70, 14, false));
    let text = much.run(&["search", phrase, "--exact", "--limit", "5"]);
    assert!(
        text.contains("5 of at most 70 matches, in at most 14 sessions"),
        "{text}"
    );
    let text = much.run(&["search", phrase, "--exact"]);
    assert!(
        text.contains("7 of at most 70 matches, in at most 14 sessions; there are no more."),
        "{text}"
    );
    // Nothing is nothing, and words are certain.
    assert_eq!(told(&much, "\"quartz lorem\""), ([0; 4], 0, 0, true));
    assert_eq!(told(&much, "quartz").1, 70);
    assert!(told(&much, "quartz").3);
    // What is elsewhere is the most that there can be, too.
    let text = much.run(&["search", phrase, "--exact", "--here"]);
    assert!(text.contains("at most 70 more elsewhere"), "{text}");
}

#[test]
fn a_wrong_query_is_told_before_anything_is_read() {
    let home = home();
    let output = home.output(&["--index", "index", "search", "(error is:x"]);
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    assert!(!home.cwd.join("index").exists());
}

/// A session with a setting of each kind, a labelled call, and an answer that is an error.
fn a_labelled_call() -> Sandbox {
    let home = Sandbox::new();
    let at = r#""timestamp":"2026-01-01T12:00:00.000Z""#;
    let lines = [
        format!(r#"{{"type":"session","version":3,"id":"calls",{at},"cwd":"/code/app"}}"#),
        format!(
            r#"{{"type":"model_change","id":"m1","parentId":null,{at},"provider":"anthropic","modelId":"opus"}}"#
        ),
        format!(
            r#"{{"type":"thinking_level_change","id":"t1","parentId":"m1",{at},"thinkingLevel":"medium"}}"#
        ),
        format!(
            r#"{{"type":"message","id":"a1","parentId":"t1",{at},"message":{{"role":"assistant","content":[{{"type":"text","text":"I run the tests."}},{{"type":"toolCall","id":"c1","name":"bash","arguments":{{"command":"cargo test"}}}}]}}}}"#
        ),
        format!(
            r#"{{"type":"message","id":"r1","parentId":"a1",{at},"message":{{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{{"type":"text","text":"no rule to make target"}}],"isError":true}}}}"#
        ),
        format!(
            r#"{{"type":"label","id":"l1","parentId":"r1",{at},"targetId":"a1","label":"todo"}}"#
        ),
    ];
    home.write(
        ".pi/agent/sessions/--code-app--/s.jsonl",
        &(lines.join("\n") + "\n"),
    );
    home
}

#[test]
fn what_only_filters_find_is_an_entry_and_shows_what_it_says() {
    let home = a_labelled_call();
    // Of text that is read from the files, and of the same from the index.
    for _ in 0..2 {
        let found = |query: &str| {
            let answer = home.json(&["search", query, "--json"]);
            let hits = answer["sessions"][0]["hits"].as_array().cloned();
            let hits = hits.unwrap_or_default();
            assert_eq!(answer["total"], hits.len(), "{query}");
            let shown =
                |hit: &Value| format!("{} {}", hit["entry"], hit["snippet"]).replace('"', "");
            let mut shown: Vec<String> = hits.iter().map(shown).collect();
            shown.sort();
            shown
        };
        let (call, error) = ("a1 I run the tests.", "r1 no rule to make target");
        assert_eq!(found("is:error"), [error]);
        assert_eq!(found("label:todo"), [call]);
        assert_eq!(found("is:error OR label:todo"), [call, error]);
        assert_eq!(found("on:2026-01-01"), [call, "l1 todo", error]);
        assert_eq!(found("kind:model_change"), ["m1 anthropic"]);
        assert_eq!(found("on:2026-01-01 -kind:message,label").len(), 2);
        // Words find all that is said.
        assert_eq!(found("anthropic"), ["m1 anthropic"]);
        let _ = home.output(&["sync"]);
    }
}

/// A home of sessions, each of a number of messages with the second of the day of each.
fn home_of(sessions: &[(&str, &[(u32, &str)])]) -> Sandbox {
    let home = Sandbox::new();
    for (id, messages) in sessions {
        let mut text = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-02T00:00:00.000Z\",\"cwd\":\"/w\"}}\n"
        );
        for (second, said) in *messages {
            text.push_str(&format!(
                "{{\"type\":\"message\",\"id\":\"{id}{second}\",\"parentId\":null,\"timestamp\":\"2026-01-02T00:00:{second:02}.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{said}\"}}}}\n"
            ));
        }
        home.write(&format!(".pi/agent/sessions/--w--/{id}.jsonl"), &text);
    }
    home
}

/// The answer to a search, and the sessions in it in their order.
fn found(home: &Sandbox, query: &[&str]) -> (Value, Vec<String>) {
    let arguments = [&["search", "--json"], query].concat();
    let output = home.command(&arguments).output().expect("sessionary runs");
    let answer: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let groups = answer["sessions"].as_array().cloned().unwrap_or_default();
    let ids = groups
        .iter()
        .map(|group| group["session"]["id"].to_string());
    let ids = ids.map(|id| id.trim_matches('"').to_owned()).collect();
    (answer, ids)
}

#[test]
fn the_newest_of_several_words_are_sessions_that_contain_them_all() {
    let home = home_of(&[
        ("old", &[(1, "walrus"), (2, "narwhal")]),
        ("new", &[(11, "walrus narwhal")]),
        ("half", &[(21, "walrus")]),
        ("late", &[(3, "narwhal"), (31, "walrus")]),
    ]);
    let (answer, ids) = found(&home, &["--newest", "walrus", "narwhal"]);
    assert_eq!(ids, ["late", "new", "old"], "{answer}");
    assert_eq!(
        (&answer["ranking"], &answer["total"]),
        (&"newest".into(), &5.into())
    );
    // A word that stands nowhere says nothing about any session.
    let (answer, ids) = found(&home, &["--newest", "walrus", "narwhal", "xyzzyplugh"]);
    assert_eq!(ids, ["late", "new", "old"], "{answer}");
    assert_eq!(answer["missing"], serde_json::json!(["xyzzyplugh"]));
}

#[test]
fn where_no_session_contains_all_words_the_newest_are_those_with_the_most() {
    let home = home_of(&[
        ("one", &[(1, "walrus and narwhal")]),
        ("two", &[(2, "narwhal and beluga")]),
        ("three", &[(3, "beluga")]),
    ]);
    let (answer, ids) = found(&home, &["--newest", "walrus", "narwhal", "beluga"]);
    assert_eq!(ids, ["two", "one"], "{answer}");
    let note = answer["notes"][0].as_str().unwrap_or_default();
    assert!(note.contains("2 of 3"), "{answer}");
}

#[test]
fn what_filters_leave_out_is_not_said_to_be_nowhere() {
    let mut home = home_of(&[
        ("one", &[(1, "walrus"), (2, "narwhal")]),
        ("two", &[(3, "narwhal")]),
    ]);
    for (query, told) in [
        (
            &["walrus narwhal before:2026-01-02T00:00:02"][..],
            "1 match in 1 session. None of them contains narwhal within the filters.",
        ),
        (
            &[
                "--newest",
                "walrus narwhal after:2026-01-02T00:00:01 -name:x xyzzyplugh",
            ],
            "None of them contains walrus, nor xyzzyplugh within the filters.",
        ),
        (&["walrus xyzzyplugh"], "None of them contains xyzzyplugh. "),
    ] {
        let said = home.run(&[&["search", "--exact"], query].concat());
        assert!(said.contains(told), "{query:?}: {said}");
    }
    // Of what somebody pasted a few words tell enough.
    let pasted: Vec<String> = (0..3000).map(|at| format!("pasted{at}")).collect();
    let said = home.run(&["search", "--exact", &pasted.join(" ")]);
    let told = "No session contains pasted0, nor pasted1, nor pasted2, nor pasted3, nor pasted4, nor 2,995 other words.";
    assert!(said.contains(told), "{said}");
    home.cwd = home.home.join("there");
    std::fs::create_dir(&home.cwd).expect("a folder");
    let said = home.run(&["search", "--here", "walrus narwhal"]);
    let told = "No session here contains walrus, nor narwhal. 3 more elsewhere";
    assert!(said.contains(told), "{said}");
}

#[test]
fn of_the_most_words_that_a_session_contains_it_is_said_where() {
    let home = home_of(&[
        ("one", &[(1, "walrus"), (5, "narwhal")]),
        ("two", &[(6, "narwhal")]),
        ("three", &[(7, "walrus")]),
    ]);
    for (query, told) in [
        (
            "walrus narwhal since:2026-01-02T00:00:05",
            "Within the filters no session contains all of the words. These contain 1 of 2",
        ),
        ("walrus narwhal beluga", "2 matches in 1 session."),
    ] {
        let said = home.run(&["search", "--newest", query]);
        assert!(said.contains(told), "{query:?}: {said}");
    }
}

#[test]
fn a_word_that_stands_nowhere_is_searched_with_a_typo_at_once() {
    let home = home_of(&[
        ("one", &[(1, "the walrus swims")]),
        ("two", &[(2, "a narwhal swims")]),
    ]);
    for indexed in [false, true] {
        if indexed {
            assert!(
                home.command(&["sync"])
                    .output()
                    .expect("it runs")
                    .status
                    .success()
            );
        }
        let (answer, ids) = found(&home, &["walros", "swims"]);
        assert_eq!(ids, ["one", "two"], "{answer}");
        let said = (&answer["missing"], &answer["also"]);
        let expected = (serde_json::json!(["walros"]), serde_json::json!(["walrus"]));
        assert_eq!(said, (&expected.0, &expected.1), "{indexed}");
    }
}
