//! Which session does a name mean, and what is said where it means none, or several?

use crate::sandbox::Sandbox;

/// A session of pi with this title that was started on this day of January 2026, with the entry
/// `m1`.
fn session(home: &Sandbox, id: &str, day: u64, title: &str, name: Option<&str>) {
    let time = format!("2026-01-0{day}T09:00:00.000Z");
    let mut text = format!(
        concat!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{time}","cwd":"~/code/parser"}}"#,
            "\n",
            r#"{{"type":"message","id":"m1","parentId":null,"timestamp":"{time}","message":{{"role":"user","content":"{title}"}}}}"#,
            "\n",
        ),
        id = id,
        time = time,
        title = title
    );
    if let Some(name) = name {
        text.push_str(&format!(
            "{{\"type\":\"session_info\",\"id\":\"m2\",\"parentId\":\"m1\",\"timestamp\":\"{time}\",\"name\":\"{name}\"}}\n"
        ));
    }
    let path = home.write(&format!(".pi/agent/sessions/--x--/{day}.jsonl"), &text);
    home.touch(&path, 1_767_222_000 + day * 86_400);
}

/// The id of the session that `show` takes `name` for, or what it says.
fn shown(home: &Sandbox, name: &str) -> String {
    let output = home.output(&["show", name, "--json"]);
    match serde_json::from_slice::<serde_json::Value>(&output.stdout) {
        Ok(shown) => shown["session"]["id"].as_str().expect("an id").to_owned(),
        Err(_) => String::from_utf8_lossy(&output.stderr).into_owned(),
    }
}

#[test]
fn delete_takes_neither_last_nor_a_title_and_names_what_may_have_been_meant() {
    let home = Sandbox::new();
    let id = "019b8d10-0000-7000-8000-00000000000a";
    session(&home, "named", 1, "Look", Some("last"));
    session(&home, id, 3, "Throwaway: regex playground", None);
    for last in ["last", "last~1", "last~7"] {
        let said = home.run(&["delete", last, "--dry-run"]);
        let refused = format!("{last}: what is removed is not named by where it stands in a list");
        assert!(said.contains(&refused), "{said}");
    }
    let meant = format!(r#"did you mean "Throwaway: regex playground" ({id})?"#);
    for name in ["throwaway", "throwaway: regex playground"] {
        let said = home.run(&["delete", name, "--dry-run"]);
        assert!(
            said.contains(&meant) && said.contains("exit Some(1)"),
            "{said}"
        );
        assert!(!said.contains("title, or `last`"), "{said}");
    }
    let said = home.run(&["delete", "Throwaway: regex playground", "--dry-run"]);
    let title = format!("that is the title of a session without a name: its id is {id}");
    assert!(said.contains(&title), "{said}");
    let said = home.run(&["delete", "019b8d", "--dry-run"]);
    assert!(said.contains("019b8d is too short a part of"), "{said}");
    let said = home.run(&["delete", &id[..8], "--dry-run"]);
    assert!(said.contains("3.jsonl"), "{said}");
    home.write("code/parser/README.md", "# A project");
    for nothing in ["no such thing", "README.md"] {
        let said = home.run(&["delete", nothing, "--dry-run"]);
        assert!(
            said.contains("hint: a session that is removed is named by its id (8 letters of it, or as many as lists show)"),
            "{said}"
        );
        assert!(!said.contains("did you mean"), "{said}");
    }
}

#[test]
fn last_is_the_newest_session_whatever_ids_there_are() {
    let home = Sandbox::new();
    session(&home, "last", 1, "Look", None);
    session(&home, "second", 2, "Look", None);
    session(&home, "newest", 3, "Look", None);
    assert_eq!(shown(&home, "last"), "newest");
    assert_eq!(shown(&home, "last~1"), "second");
    assert_eq!(shown(&home, "last~2"), "last");
    let path = home.home.join(".pi/agent/sessions/--x--/1.jsonl");
    assert_eq!(shown(&home, &path.display().to_string()), "last");
}

#[test]
fn last_counts_the_rows_of_a_list_of_which_subagents_are_none() {
    let home = Sandbox::new();
    session(&home, "older", 1, "Look", None);
    let id = "11111111-1111-4111-8111-111111111111";
    let line = |own: &str| {
        format!(
            r#"{{"type":"user","uuid":"u1","parentUuid":null,"sessionId":"{id}",{own}"cwd":"~/code/parser","timestamp":"2026-01-03T09:00:00.000Z","message":{{"role":"user","content":"Look around"}}}}"#
        ) + "\n"
    };
    let folder = ".claude/projects/-x";
    home.write(&format!("{folder}/{id}.jsonl"), &line(""));
    let started = line(r#""isSidechain":true,"agentId":"a1","#);
    home.write(&format!("{folder}/{id}/subagents/agent-a1.jsonl"), &started);
    let rows = home.json(&["list", "--json"]);
    let ids: Vec<_> = rows["sessions"].as_array().expect("rows").iter().collect();
    assert_eq!(ids.len(), 2, "{rows}");
    for (at, row) in ids.into_iter().enumerate() {
        assert_eq!(shown(&home, &format!("last~{at}")), row["id"]);
    }
    let third = shown(&home, "last~2");
    assert!(third.contains("last~2"), "{third}");
}

#[test]
fn a_part_of_a_title_may_hold_a_colon() {
    let home = Sandbox::new();
    session(&home, "one", 1, "fix", None);
    session(&home, "two", 2, "fix: the linker again", None);
    session(&home, "add12", 3, "add: dark mode", None);
    session(&home, "add13", 4, "version 0: zero", None);
    session(&home, "00a", 5, "Look", None);
    session(&home, "00b", 6, "at last: the end", None);
    for (name, id) in [
        ("fix: the", "two"),
        ("add: dark", "add12"),
        ("0: ze", "add13"),
        ("last: the", "00b"),
        // Entries come first.
        ("fix:m1", "one"),
        ("add12:m1", "add12"),
        ("last:L2", "00b"),
    ] {
        assert_eq!(shown(&home, name), id, "{name}");
    }
    for (name, said) in [
        ("fix:nope", "session one has no entry"),
        ("last:nope", "session 00b has no entry"),
        ("0:nope", "2 sessions fit"),
        ("0:m1", "2 sessions fit"),
        ("nope:m1", "no session is named"),
        ("last~9:m1", "there are only 6 sessions"),
    ] {
        assert!(shown(&home, name).contains(said), "{}", shown(&home, name));
    }
}

#[test]
fn candidates_are_told_apart_by_what_a_person_knows() {
    let home = Sandbox::new();
    let title = "Fix the flaky test ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    session(
        &home,
        "019b8d10-0000-7000-8000-00000000000a",
        1,
        title,
        None,
    );
    session(
        &home,
        "019b8d10-0001-7000-8000-00000000000a",
        2,
        title,
        None,
    );
    let said = home.run(&["show", "flaky"]);
    assert!(
        said.contains("hint: 019b8d10-0001 · 3d · ~/code/parser · Fix the flaky test ghp_[")
            && said.contains("hint: 019b8d10-0000 · 4d · "),
        "{said}"
    );
    assert!(
        !said.contains("jsonl") && !said.contains("ghp_abc"),
        "{said}"
    );
    // Two files with one id.
    session(
        &home,
        "019b8d10-0001-7000-8000-00000000000a",
        3,
        title,
        None,
    );
    let said = home.run(&["show", "019b8d10-0001"]);
    assert!(
        said.contains("hint: ~/.pi/agent/sessions/--x--/3.jsonl · 2d · "),
        "{said}"
    );
}
