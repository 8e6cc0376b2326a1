//! Is "here" the repository, with all its work trees?

use std::fs;

use serde_json::{Value, json};

use crate::sandbox::Sandbox;

/// A session of pi that was started in `folder` on this day of January 2026.
fn session(home: &Sandbox, id: &str, day: u64, folder: &str) {
    let time = format!("2026-01-0{day}T09:00:00.000Z");
    let text = format!(
        concat!(
            r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{time}","cwd":"{folder}"}}"#,
            "\n",
            r#"{{"type":"message","id":"m1","parentId":null,"timestamp":"{time}","message":{{"role":"user","content":"Look at {id}"}}}}"#,
            "\n",
        ),
        id = id,
        time = time,
        folder = folder
    );
    let path = home.write(&format!(".pi/agent/sessions/--x--/{id}.jsonl"), &text);
    home.touch(&path, 1_767_222_000 + day * 86_400);
}

/// A repository `code/app` with a linked work tree `app-fix`, and sessions in and beside them.
fn home() -> Sandbox {
    let mut home = Sandbox::new();
    home.write("code/app/.git/HEAD", "ref: refs/heads/main\n");
    home.write("code/app/.git/worktrees/fix/commondir", "../..\n");
    home.write("code/app/.git/worktrees/fix/gitdir", "~/app-fix/.git\n");
    home.write("app-fix/.git", "gitdir: ~/code/app/.git/worktrees/fix\n");
    home.write("code/app/src/main.rs", "");
    for (day, id, folder) in [
        (1, "elsewhere", "~/code/other"),
        (2, "top", "~/code/app"),
        (3, "deep", "~/code/app/src/deep/gone"),
        (4, "linked", "~/app-fix"),
        (5, "beside", "~/code/app-other"),
    ] {
        session(&home, id, day, folder);
    }
    home.cwd = home.home.join("code/app/src");
    home
}

fn ids(answer: &Value) -> Vec<&str> {
    let rows = answer["sessions"].as_array().expect("rows");
    rows.iter()
        .map(|row| row["id"].as_str().expect("an id"))
        .collect()
}

#[test]
fn in_a_subfolder_the_repository_is_here() {
    let mut home = home();
    let answer = home.json(&["list", "--json"]);
    assert_eq!(ids(&answer), ["linked", "deep", "top"]);
    assert_eq!(answer["elsewhere"], 2);
    let (app, fix) = (home.home.join("code/app"), home.home.join("app-fix"));
    assert_eq!(answer["within"], json!([app, fix]));
    assert_eq!(answer["cwd"], Value::Null);
    let found = home.json(&["search", "--here", "look", "--json"]);
    assert_eq!(
        (&found["total"], &found["elsewhere"]),
        (&3.into(), &2.into())
    );
    assert_eq!(found["within"], answer["within"]);
    for (last, id) in [("last", "linked"), ("last~1", "deep"), ("last~2", "top")] {
        let shown = home.json(&["resume", last, "--print", "--json"]);
        assert_eq!(shown["session"]["id"], id);
    }
    // The first columns that tell the sessions apart.
    let table = home.run(&["list"]);
    assert!(
        table.contains("PROJECT") && table.contains("~/app-fix"),
        "{table}"
    );
    home.cwd = app.clone();
    let narrow = home.json(&["list", "--dir", "--json"]);
    assert_eq!(ids(&narrow), ["top"]);
    assert_eq!(narrow["cwd"], json!(app));
    assert!(!home.run(&["list", "--dir"]).contains("PROJECT"));
    assert_eq!(
        home.json(&["search", "look", "--dir", "--json"])["total"],
        1
    );
    assert_eq!(
        home.json(&["show", "last", "--dir", "--json"])["session"]["id"],
        "top"
    );
    let none = home.run(&["show", "last~1", "--dir"]);
    assert!(
        none.contains("there is only one session in $HOME/code/app")
            || none.contains("there is only one session in ~/code/app"),
        "{none}"
    );
    assert_eq!(ids(&home.json(&["list", "--all", "--json"])).len(), 5);
}

#[test]
fn work_trees_that_are_gone_are_remembered_and_clean_asks_for_that_apart() {
    let home = home();
    let file = home.home.join(".local/share/sessionary/worktrees.json");
    assert_eq!(ids(&home.json(&["list", "--json"])).len(), 3);
    assert!(file.exists());
    fs::remove_dir_all(home.home.join("app-fix")).expect("it was there");
    fs::remove_dir_all(home.home.join("code/app/.git/worktrees")).expect("it was there");
    let answer = home.json(&["list", "--json"]);
    assert_eq!(ids(&answer), ["linked", "deep", "top"]);
    // What cannot be read or written is not needed.
    let kept = fs::read(&file).expect("the file");
    for rubbish in [&b"\xff\xfe{}"[..], b"[]", b"{\"repositories\":[{}]}", b""] {
        fs::write(&file, rubbish).expect("rubbish");
        assert_eq!(ids(&home.json(&["list", "--json"])), ["deep", "top"]);
    }
    fs::write(&file, kept).expect("as it was");
    let said = home.run(&["clean", "--yes"]);
    assert!(said.contains("worktrees.json stays"), "{said}");
    assert_eq!(ids(&home.json(&["list", "--json"])).len(), 3);
    let said = home.run(&["clean", "--yes", "--data"]);
    assert!(!said.contains("stays") && !file.exists(), "{said}");
    assert!(!home.home.join(".local/share/sessionary").exists());
    assert_eq!(ids(&home.json(&["list", "--json"])), ["deep", "top"]);
}

#[test]
fn outside_a_repository_a_directory_counts_with_all_below_it() {
    let mut home = home();
    home.cwd = home.home.join("code");
    let below = ["beside", "deep", "top", "elsewhere"];
    assert_eq!(ids(&home.json(&["list", "--json"])), below);
    // A home folder in git is no repository to work on, nor does it count as a whole.
    home.write(".git/HEAD", "");
    assert_eq!(ids(&home.json(&["list", "--json"])), below);
    home.cwd = home.home.clone();
    assert_eq!(ids(&home.json(&["list", "--json"])), [""; 0]);
    // Everything is below it, so none of that is near.
    let said = home.run(&["list"]);
    assert!(
        said.contains("No sessions in ~. --all lists 5 sessions."),
        "{said}"
    );
}

#[test]
fn what_lies_in_another_repository_is_not_here() {
    let mut home = home();
    home.write("code/app/vendor/lib/.git/HEAD", "");
    home.write("code/app/empty/.git/description", "");
    home.write(
        "code/app/.git/worktrees/near/gitdir",
        "~/code/app/near/.git\n",
    );
    home.write("code/app/.git/worktrees/near/commondir", "../..\n");
    home.write("code/app/near/.git", "gitdir: ../.git/worktrees/near\n");
    session(&home, "nested", 6, "~/code/app/vendor/lib/src");
    session(&home, "empty", 7, "~/code/app/empty");
    session(&home, "near", 8, "~/code/app/near/src");
    let all = ["near", "empty", "linked", "deep", "top"];
    assert_eq!(ids(&home.json(&["list", "--json"])), all);
    assert_eq!(
        home.json(&["search", "--here", "look", "--json"])["total"],
        5
    );
    home.cwd = home.home.join("code/app/vendor/lib");
    assert_eq!(ids(&home.json(&["list", "--json"])), ["nested"]);
    // Outside of a repository all below counts.
    home.cwd = home.home.join("code");
    assert_eq!(ids(&home.json(&["list", "--json"])).len(), 7);
    // Git's own files are no work tree, and none is learned.
    home.cwd = home.home.join("code/app/.git");
    let answer = home.json(&["list", "--json"]);
    assert_eq!(ids(&answer), all);
    assert_eq!(answer["within"].as_array().map(Vec::len), Some(3));
}

#[test]
fn a_work_tree_that_became_something_else_is_not_here() {
    let mut home = home();
    session(&home, "within", 6, "~/app-fix/other/src");
    assert_eq!(ids(&home.json(&["list", "--json"])).len(), 4);
    let own = ["deep", "top"];
    // A folder that has nothing to do with it, with another repository in it.
    fs::remove_file(home.home.join("app-fix/.git")).expect("it was there");
    home.write("app-fix/other/.git/HEAD", "");
    assert_eq!(ids(&home.json(&["list", "--json"])), own);
    // A repository of its own, though the pointer to it is still there.
    home.write("app-fix/.git/HEAD", "");
    assert_eq!(ids(&home.json(&["list", "--json"])), own);
    let last = home.json(&["resume", "last", "--print", "--json"]);
    assert_eq!(last["session"]["id"], "deep");
    // A copy of a repository has none of its work trees.
    home.write("copy/.git/HEAD", "");
    home.write("copy/.git/worktrees/fix/gitdir", "~/app-fix/.git\n");
    home.cwd = home.home.join("copy");
    assert_eq!(ids(&home.json(&["list", "--json"])), [""; 0]);
}

#[test]
fn a_bare_repository_and_its_work_trees_see_the_same() {
    let mut home = Sandbox::new();
    home.write("app.git/HEAD", "");
    home.write("app.git/objects/x", "");
    home.write("app.git/refs/x", "");
    home.write("app.git/config", "[core]\n\tbare = true\n");
    home.write("app.git/worktrees/fix/gitdir", "~/fix/.git\n");
    home.write("app.git/worktrees/fix/commondir", "../..\n");
    home.write("fix/.git", "gitdir: ~/app.git/worktrees/fix\n");
    session(&home, "bare", 1, "~/app.git");
    session(&home, "fix", 2, "~/fix");
    for from in ["fix", "app.git", "app.git/refs"] {
        home.cwd = home.home.join(from);
        assert_eq!(
            ids(&home.json(&["list", "--json"])),
            ["fix", "bare"],
            "{from}"
        );
        let _ = fs::remove_dir_all(home.home.join(".local"));
    }
}

#[test]
fn a_page_goes_on_in_another_work_tree_and_when_one_comes() {
    let mut home = home();
    let first = home.json(&["list", "--json", "--limit", "1", "--max-bytes", "9000"]);
    let found = home.json(&["search", "--here", "look", "--json", "--limit", "1"]);
    assert_eq!(ids(&first), ["linked"]);
    home.write("code/app/.git/worktrees/new/gitdir", "~/new/.git\n");
    home.write("code/app/.git/worktrees/new/commondir", "../..\n");
    home.write("new/.git", "gitdir: ~/code/app/.git/worktrees/new\n");
    home.cwd = home.home.join("app-fix");
    let cursor = |answer: &Value| answer["cursor"].as_str().expect("a cursor").to_owned();
    let next = home.json(&["list", "--json", "--cursor", &cursor(&first)]);
    assert_eq!(ids(&next), ["deep", "top"]);
    let next = home.json(&[
        "search",
        "--here",
        "look",
        "--json",
        "--cursor",
        &cursor(&found),
    ]);
    assert_eq!(next["sessions"].as_array().map(Vec::len), Some(2));
}

#[cfg(target_os = "linux")]
#[test]
fn a_directory_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let mut home = home();
    home.cwd = home.home.join(std::ffi::OsStr::from_bytes(b"re\xffpo"));
    fs::create_dir(&home.cwd).expect("a folder");
    for (at, arguments) in [
        ("within", &["list", "--json"][..]),
        ("within", &["list", "--json", "--max-bytes", "9000"]),
        ("within", &["search", "--here", "look", "--json"]),
        ("cwd", &["list", "--dir", "--json"]),
        ("cwd", &["search", "look", "--dir", "--json"]),
    ] {
        let place = home.json(arguments)[at].to_string();
        assert!(place.contains("re\u{fffd}po"), "{arguments:?}: {place}");
    }
}

#[test]
fn clean_asks_for_pins_apart() {
    let home = home();
    let pins = home.write(".local/share/sessionary/pins.json", "{\"pins\":[]}\n");
    let damaged = home.write(".local/share/sessionary/pins.json.damaged", "");
    let trees = home.write(".local/share/sessionary/worktrees.json", "{}\n");
    let said = home.run(&["clean", "--yes"]);
    assert!(
        said.contains(
            "pins.json, ~/.local/share/sessionary/pins.json.damaged stay: they hold what"
        ),
        "{said}"
    );
    assert!(
        said.contains("worktrees.json stays: it holds what"),
        "{said}"
    );
    // A question for each.
    #[cfg(target_os = "linux")]
    if let Some(said) = home.on_terminal(&["clean"], "n\ny\n") {
        assert!(said.contains("worktrees.json stays"), "{said}");
        assert!(
            !pins.exists() && !damaged.exists() && trees.exists(),
            "{said}"
        );
    }
    home.write(".local/share/sessionary/pins.json", "{\"pins\":[]}\n");
    let said = home.run(&["clean", "--yes", "--data"]);
    assert!(!said.contains("stay") && !pins.exists(), "{said}");
    assert!(!home.home.join(".local/share/sessionary").exists());
}

#[test]
fn clean_says_what_it_removed_and_where() {
    let home = home();
    let json = |answer: &str| serde_json::from_str::<Value>(answer).expect("JSON");
    home.write(".local/share/sessionary/worktrees.json", "{}\n");
    let said = home.run(&["clean", "--yes", "--data"]);
    assert!(
        said.starts_with("Removed 3 B in ~/.local/share/sessionary.\n"),
        "{said}"
    );
    let nothing = home.output(&["clean", "--yes", "--json"]);
    let answer = json(&String::from_utf8_lossy(&nothing.stdout));
    assert_eq!(
        (&answer["removed"], &answer["bytes"]),
        (&json!([]), &json!(0))
    );
    assert_eq!(nothing.status.code(), Some(1));
}
