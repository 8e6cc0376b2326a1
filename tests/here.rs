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
    fs::create_dir(home.home.join(".git")).expect("a folder");
    assert_eq!(ids(&home.json(&["list", "--json"])), below);
    home.cwd = home.home.clone();
    assert_eq!(ids(&home.json(&["list", "--json"])), [""; 0]);
}
