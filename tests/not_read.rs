//! What lies on this machine and is not read is said where somebody misses it.

use serde_json::json;

use crate::sandbox::Sandbox;

/// What commands say about a home in which only sessions of other agents lie.
#[test]
fn an_empty_list_says_what_is_not_read() {
    let home = Sandbox::new();
    home.write(".junie/sessions/one/events.jsonl", "{}\n");
    home.write(".junie/sessions/two/events.jsonl", "{}\n");
    home.write(".config/Cursor/User/globalStorage/state.vscdb", "made up");
    // What is read is not in the list, nor is a folder without files.
    home.write(".cursor/projects/x/agent-transcripts/y/y.lock", "");
    std::fs::create_dir_all(home.home.join(".factory/sessions")).unwrap();
    let junie = "Junie: 2 files, 6 B, not read by this version (~/.junie/sessions)";
    let said = home.run(&["list"]);
    assert!(said.contains(junie), "{said}");
    assert!(said.contains("No sessions were found"), "{said}");
    for arguments in [&["sync"][..], &["status", "--roots"], &["search", "x"], &[]] {
        let said = home.run(arguments);
        assert!(said.contains(junie), "{arguments:?}: {said}");
        assert!(!said.contains("Cursor: "), "{arguments:?}: {said}");
        assert!(!said.contains("Droid"), "{arguments:?}: {said}");
        #[cfg(target_os = "linux")]
        assert!(
            said.contains("Cursor's editor: 1 file, 7 B"),
            "{arguments:?}: {said}"
        );
    }
    let roots = home.json(&["status", "--roots", "--json"]);
    let others = roots["not_read"].as_array().unwrap();
    let junie = others
        .iter()
        .find(|other| other["agent"] == "Junie")
        .unwrap();
    assert_eq!(
        (&junie["files"], &junie["has_more"]),
        (&json!(2), &json!(false))
    );
}

/// A folder that is named is read, whosever it is.
#[test]
fn a_folder_that_is_named_is_not_missed() {
    let home = Sandbox::new();
    home.write(".omp/agent/sessions/--x--/one.jsonl", "{}\n");
    assert!(home.run(&["sync"]).contains("Oh My Pi: 1 file, 3 B"));
    let root = format!("pi:{}", home.home.join(".omp/agent/sessions").display());
    let said = home.run(&["--root", &root, "sync"]);
    assert!(!said.contains("Oh My Pi"), "{said}");
}

/// An agent that is read writes another shape: its sessions are there and say nothing.
#[test]
fn files_of_an_unknown_shape_are_told() {
    let home = Sandbox::new();
    let line = json!({"schema": "indus/transcript@2", "kind": "entry", "text": "hello"});
    for name in ["a", "b", "c"] {
        home.write(
            &format!(".pindusagi/sessions/--x--/{name}.ndjson"),
            &format!("{line}\n"),
        );
    }
    let said = home.run(&["sync"]);
    let expected = "induscode: 3 files of a shape that this version does not know; \
                    first: ~/.pindusagi/sessions/--x--/a.ndjson, line 1";
    assert!(said.contains(expected), "{said}");
    assert!(home.run(&["status", "--roots"]).contains(expected));
    // A session that has only begun is of a known shape.
    let home = Sandbox::new();
    let header = json!({"type": "session", "version": 3, "id": "s", "cwd": "~/code/parser"});
    home.write(".pi/agent/sessions/--x--/s.jsonl", &format!("{header}\n"));
    let said = home.run(&["sync"]);
    assert!(!said.contains("shape"), "{said}");
}

/// Lines that cannot be read are told where there are many.
#[test]
fn many_lines_that_cannot_be_read_are_told() {
    let home = Sandbox::new();
    let mut lines = json!({"type": "session", "version": 3, "id": "s", "cwd": "~/x"}).to_string();
    for id in 0..99 {
        let message = json!({"role": "user", "content": "hello"});
        let entry = json!({"type": "message", "id": id.to_string(), "message": message});
        lines += &format!("\n{entry}");
    }
    let path = ".pi/agent/sessions/--x--/s.jsonl";
    home.write(path, &format!("{lines}\nnot a line\n"));
    assert!(!home.run(&["sync"]).contains("cannot be read"));
    home.write(path, &format!("{lines}\n{}", "not a line\n".repeat(10)));
    let said = home.run(&["sync"]);
    let expected = "pi: 10 of 110 lines cannot be read; `sessionary sql 'SELECT * FROM problems'`";
    assert!(said.contains(expected), "{said}");
}
