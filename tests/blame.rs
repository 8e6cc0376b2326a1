//! Which session wrote a line, touched a file, made a commit? Sessions of several agents write
//! files whose authors are known.

mod certain;
mod commands;
mod stores;

use std::process::Command;

use serde_json::Value;

use crate::sandbox::Sandbox;
use stores::{AGENTS, Session, Step};

const FIRST: &str = "0a000000-0000-4000-8000-000000000001";
const SECOND: &str = "0b000000-0000-4000-8000-000000000002";
const THIRD: &str = "0c000000-0000-4000-8000-000000000003";

const FILE: &str = "use std::fs;\n\nfn main() {\n    let first = begin();\n}\n";
const OLD: &str = "    let first = begin();\n";
const NEW: &str = "    let first = begin();\n    let second = go_on(first);\n";

fn session(home: &Sandbox, (agent, id): (&str, &str), minute: u32, steps: &[Step<'_>]) {
    let cwd = "code/parser";
    Session {
        agent,
        id,
        cwd,
        minute,
        steps,
    }
    .write(home);
}

/// For each line of the file a letter: `1` and `2` for the sessions, `~` and `$` before it where
/// the line is not quite theirs, `-` for none.
fn blamed(home: &Sandbox, file: &str) -> String {
    let answer = home.json(&["blame", file, "--json"]);
    assert_eq!(answer["complete"], true, "{answer}");
    let lines = answer["lines"].as_array().expect("lines").iter();
    lines.map(|line| letter(&answer, line)).collect()
}

fn letter(answer: &Value, line: &Value) -> String {
    let Some(call) = line["call"].as_u64() else {
        assert_eq!(line["origin"], "no_session");
        return "-".to_owned();
    };
    let session = &answer["calls"][call as usize]["session"]["id"];
    let session = match session.as_str() {
        Some(FIRST) => "1",
        Some(SECOND) => "2",
        other => panic!("{other:?}"),
    };
    let sign = match line["origin"].as_str() {
        Some("edit") => "",
        Some("white_space") => "~",
        Some("command") => "$",
        other => panic!("{other:?}"),
    };
    format!("{sign}{session}")
}

#[test]
fn lines_are_their_sessions_whatever_the_agents() {
    for (number, agent) in AGENTS.into_iter().enumerate() {
        let other = AGENTS[(number + 1) % AGENTS.len()];
        let home = Sandbox::new();
        let file = FILE.replace(OLD, NEW).replace("begin()", "begin(1)");
        home.write(
            "code/parser/src/main.rs",
            &file.replace("}\n", "}\n// By hand.\n"),
        );
        session(
            &home,
            (agent, FIRST),
            0,
            &[
                Step::Prompt("Write a program"),
                Step::Write("src/main.rs", FILE),
                Step::Refused("src/main.rs", "fn other() {", "fn third() {\n// By hand."),
                Step::Prompt("Count from one"),
                Step::Edit(
                    "src/main.rs",
                    "    let first = begin();",
                    "    let first = begin(1);",
                ),
            ],
        );
        session(
            &home,
            (other, SECOND),
            5,
            &[
                Step::Prompt("Go on"),
                Step::Edit(
                    "src/main.rs",
                    "    let first = begin(1);\n",
                    "    let first = begin(1);\n    let second = go_on(first);\n",
                ),
                // Whether the empty line is still the one behind this nobody knows.
                Step::Unanswered("src/main.rs", "use std::fs;", "use std::fs;\nuse std::io;"),
            ],
        );
        assert_eq!(blamed(&home, "src/main.rs"), "1-112--", "{agent}, {other}");
        // Of each line is known what was asked for.
        let one = home.json(&["blame", "src/main.rs:4", "--json"]);
        let call = &one["calls"][0];
        assert_eq!(call["prompt"], "Count from one", "{agent}: {one}");
        assert_eq!(one["lines"].as_array().map(Vec::len), Some(1));
    }
}

#[test]
fn what_was_read_before_is_not_the_sessions_and_ties_are_nobodys() {
    let home = Sandbox::new();
    let file = FILE.replace(OLD, NEW);
    home.write("code/parser/main.rs", &file);
    // It writes the whole file, of which it has read most.
    session(
        &home,
        ("pi", FIRST),
        0,
        &[
            Step::Prompt("Go on"),
            Step::Read("main.rs", FILE),
            Step::Write("main.rs", &file),
        ],
    );
    assert_eq!(blamed(&home, "main.rs"), "----1-");
    // Another one writes the same line, into a file that looks otherwise.
    session(
        &home,
        ("claude", SECOND),
        5,
        &[
            Step::Prompt("Go on"),
            Step::Edit(
                "main.rs",
                "    // Here.\n",
                "    let second = go_on(first);\n    // Here.\n",
            ),
        ],
    );
    assert_eq!(blamed(&home, "main.rs"), "------");
}

#[test]
fn white_space_and_commands_are_told_apart() {
    let home = Sandbox::new();
    let file = FILE.replace(OLD, "\tlet first  = begin();\n") + "static LAST: u8 = 1;\n";
    home.write("code/parser/main.rs", &file);
    session(
        &home,
        ("pi", FIRST),
        0,
        &[
            Step::Prompt("Write a program"),
            Step::Write("main.rs", FILE),
        ],
    );
    session(
        &home,
        ("codex", SECOND),
        5,
        &[
            Step::Prompt("One more line"),
            Step::Run("cat >> main.rs <<'EOF'\nstatic LAST: u8 = 1;\nEOF", ""),
        ],
    );
    assert_eq!(blamed(&home, "main.rs"), "111~1-$2");
    // Nothing but a command is known of this one.
    home.write("code/parser/last.rs", "static LAST: u8 = 1;\n");
    session(
        &home,
        ("codex", SECOND),
        5,
        &[
            Step::Prompt("Another file"),
            Step::Run("cat > last.rs <<'EOF'\nstatic LAST: u8 = 1;\nEOF", ""),
        ],
    );
    let said = home.run(&["blame", "last.rs"]);
    let summary = "\n1 of 1 line was written by commands of sessions.\n";
    assert!(said.ends_with(summary), "{said}");
}

#[test]
fn what_a_fork_copied_is_its_origins_and_a_branch_given_up_counts() {
    let home = Sandbox::new();
    home.write("code/parser/main.rs", FILE);
    let steps = [
        Step::Prompt("Write a program"),
        Step::Write("main.rs", FILE),
    ];
    session(&home, ("pi", FIRST), 0, &steps);
    let path = home
        .home
        .join(format!(".pi/agent/sessions/--x--/{FIRST}.jsonl"));
    let lines = std::fs::read_to_string(&path).unwrap();
    let fork = lines.replacen(FIRST, SECOND, 1).replacen(
        "\"type\":\"session\"",
        &format!(
            "\"type\":\"session\",\"parentSession\":\"{}\"",
            path.display()
        ),
        1,
    );
    home.write(&format!(".pi/agent/sessions/--x--/{SECOND}.jsonl"), &fork);
    // In the origin somebody goes back to before it was written.
    let line = serde_json::json!({"type": "message", "id": "again", "parentId": null,
        "timestamp": "2026-01-02T09:30:00.000Z",
        "message": {"role": "user", "content": [{"type": "text", "text": "Start again"}]}});
    std::fs::write(&path, format!("{lines}{line}\n")).unwrap();
    assert_eq!(blamed(&home, "main.rs"), "11111");
    let call = &home.json(&["blame", "main.rs:1", "--json"])["calls"][0];
    assert_eq!(call["on_active_branch"], false, "{call}");
    assert_eq!(call["prompt"], "Write a program");
}

#[test]
fn a_patch_that_moves_a_file_takes_its_writers_along() {
    let home = Sandbox::new();
    home.write("code/parser/new.rs", &FILE.replace(OLD, NEW));
    session(
        &home,
        ("pi", FIRST),
        0,
        &[Step::Prompt("Write a program"), Step::Write("old.rs", FILE)],
    );
    let moved = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: old.rs\n\
        *** Move to: new.rs\n@@\n     let first = begin();\n+    let second = go_on(first);\n }\n\
        *** End Patch\nEOF";
    session(
        &home,
        ("codex", SECOND),
        5,
        &[Step::Prompt("Move it"), Step::Run(moved, "Success.")],
    );
    assert_eq!(blamed(&home, "new.rs"), "111121");
}

/// A session that writes a file which has another name now.
fn writes(home: &Sandbox, id: &str, minute: u32, file: &str) {
    let steps = [Step::Prompt("Write a program"), Step::Write(file, FILE)];
    session(home, ("pi", id), minute, &steps);
}

fn touching(home: &Sandbox, file: &str) -> Vec<String> {
    let answer = home.json(&["log", file, "--json"]);
    let sessions = answer["sessions"].as_array().expect("sessions").iter();
    let id = |of: &Value| of["session"]["id"].as_str().expect("an id").to_owned();
    sessions.map(id).collect()
}

#[test]
fn a_command_that_moves_a_file_takes_its_writers_along() {
    for (command, old, new) in [
        ("git mv old.rs new.rs", "old.rs", "new.rs"),
        (
            "mkdir -p src && mv -f 'old.rs' src/",
            "old.rs",
            "src/old.rs",
        ),
        (
            "cd src && git mv old new 2>&1; mv old new",
            "src/old/a.rs",
            "src/new/a.rs",
        ),
        ("mv old.rs a.rs\nmv a.rs new.rs", "old.rs", "a.rs"),
    ] {
        let home = Sandbox::new();
        home.write(&format!("code/parser/{new}"), &FILE.replace(OLD, NEW));
        writes(&home, FIRST, 0, old);
        session(
            &home,
            ("codex", SECOND),
            5,
            &[
                Step::Prompt("Move it"),
                Step::Run(command, ""),
                Step::Edit(new, OLD, NEW),
            ],
        );
        assert_eq!(blamed(&home, new), "111121", "{command}");
        assert_eq!(touching(&home, new), [SECOND, FIRST], "{command}");
        // What has the old name now may be what the session wrote.
        home.write(&format!("code/parser/{old}"), FILE);
        assert_eq!(blamed(&home, new).matches('1').count(), 0, "{command}");
        assert_eq!(touching(&home, new), [SECOND], "{command}");
    }
}

/// Over a file that is gone by that; and what a command only seems to move.
#[test]
fn what_was_moved_away_or_over_is_nobodys() {
    let home = Sandbox::new();
    home.write("code/parser/new.rs", FILE);
    writes(&home, FIRST, 0, "new.rs");
    let moves = [Step::Prompt("Move it"), Step::Run("mv old.rs new.rs", "")];
    session(&home, ("pi", SECOND), 5, &moves);
    assert_eq!(blamed(&home, "new.rs"), "-----");
    assert_eq!(touching(&home, "new.rs"), [""; 0]);
    let home = Sandbox::new();
    home.write("code/parser/new.rs", FILE);
    writes(&home, FIRST, 0, "old.rs");
    let steps = [
        Step::Prompt("Move it"),
        Step::Run(
            "mv \"$OLD\" new.rs; echo 'mv old.rs new.rs'; git mv -n old.rs new.rs",
            "",
        ),
    ];
    session(&home, ("pi", SECOND), 5, &steps);
    assert_eq!(blamed(&home, "new.rs"), "-----");
}

/// One session writes these files, then another one runs the command.
fn moving(files: &[&str], command: &str) -> Sandbox {
    let home = Sandbox::new();
    let mut steps = vec![Step::Prompt("Write a program")];
    steps.extend(files.iter().map(|file| Step::Write(file, FILE)));
    session(&home, ("pi", FIRST), 0, &steps);
    let steps = [Step::Prompt("Move it"), Step::Run(command, "")];
    session(&home, ("claude", SECOND), 5, &steps);
    home
}

#[test]
fn a_file_that_comes_into_a_folder_hides_nothing_in_it() {
    for (files, command, moved) in [
        (
            ["helper.rs", "src/total.rs"],
            "mv helper.rs src/",
            "src/helper.rs",
        ),
        (
            ["helper.rs", "src/total.rs"],
            "mv helper.rs src",
            "src/helper.rs",
        ),
        (
            ["lib/old.rs", "lib/util/total.rs"],
            "git mv lib/old.rs .",
            "old.rs",
        ),
        (
            ["src/a/old.rs", "src/b/total.rs"],
            "cd src && mv a/old.rs .",
            "src/old.rs",
        ),
    ] {
        let home = moving(&files, command);
        for file in [files[1], moved] {
            home.write(&format!("code/parser/{file}"), FILE);
            assert_eq!(blamed(&home, file), "11111", "{command}: {file}");
            assert_eq!(touching(&home, file), [FIRST], "{command}: {file}");
        }
        // The file need not be there to be asked about.
        std::fs::remove_file(home.cwd.join(files[1])).expect("removed");
        assert_eq!(touching(&home, files[1]), [FIRST], "{command}");
        assert_eq!(touching(&home, "src"), [""; 0], "{command}");
    }
    // What was there under the file's own name is another one.
    let home = moving(&["src/helper.rs"], "mv helper.rs src/");
    home.write("code/parser/src/helper.rs", FILE);
    assert_eq!(blamed(&home, "src/helper.rs"), "-----");
    assert_eq!(touching(&home, "src/helper.rs"), [""; 0]);
}

#[test]
fn a_folder_takes_another_name_or_comes_into_another_folder() {
    let home = moving(&["old_dir/deep/a.rs"], "mv old_dir new_dir");
    home.write("code/parser/new_dir/deep/a.rs", FILE);
    assert_eq!(blamed(&home, "new_dir/deep/a.rs"), "11111");
    assert_eq!(touching(&home, "new_dir/deep/a.rs"), [FIRST]);
    // In the other folder files are known: there it is part of that one.
    let home = moving(&["lib/mod.rs", "src/total.rs"], "mv lib src");
    home.write("code/parser/src/lib/mod.rs", FILE);
    home.write("code/parser/src/total.rs", FILE);
    for file in ["src/total.rs", "src/lib/mod.rs"] {
        assert_eq!(blamed(&home, file), "11111", "{file}");
        assert_eq!(touching(&home, file), [FIRST], "{file}");
    }
    // The same lines, by hand, in a file that is called as one of the folder's.
    home.write("code/parser/src/mod.rs", FILE);
    assert_eq!(blamed(&home, "src/mod.rs"), "-----");
    assert_eq!(touching(&home, "src/mod.rs"), [""; 0]);
    // Where it is not there nobody knows whether it took the place of the other one.
    let home = moving(&["lib/mod.rs", "src/mod.rs"], "mv lib src");
    home.write("code/parser/src/mod.rs", FILE);
    assert_eq!(blamed(&home, "src/mod.rs"), "-----");
    assert_eq!(touching(&home, "src/mod.rs"), [FIRST]);
    // It did, as a command moved that away.
    let command = "mv src src.old && mv lib src";
    let home = moving(&["src/b.rs", "lib/mod.rs"], command);
    for (file, lines) in [("src/mod.rs", "11111"), ("src/b.rs", "-----")] {
        home.write(&format!("code/parser/{file}"), FILE);
        assert_eq!(blamed(&home, file), lines, "{file}");
    }
    assert_eq!(touching(&home, "src/mod.rs"), [FIRST]);
    assert_eq!(touching(&home, "src/b.rs"), [""; 0]);
}

#[test]
fn a_folder_that_was_put_away_and_taken_out_again_is_followed() {
    let home = Sandbox::new();
    writes(&home, FIRST, 0, "old/a.rs");
    let steps = [
        Step::Prompt("Put it away"),
        Step::Run("mv old archive", ""),
        Step::Run("mv archive/old new", ""),
    ];
    session(&home, ("claude", SECOND), 5, &steps);
    home.write("code/parser/new/a.rs", FILE);
    assert_eq!(blamed(&home, "new/a.rs"), "11111");
    assert_eq!(touching(&home, "new/a.rs"), [FIRST]);
}

#[test]
fn a_folder_comes_into_the_one_that_its_command_makes() {
    let home = moving(&["old/a.rs"], "mkdir -p archive && mv old archive");
    // By hand: what was moved is not there any more.
    home.write("code/parser/archive/a.rs", FILE);
    assert_eq!(blamed(&home, "archive/a.rs"), "-----");
    assert_eq!(touching(&home, "archive/a.rs"), [""; 0]);
    home.write("code/parser/archive/old/a.rs", FILE);
    assert_eq!(blamed(&home, "archive/old/a.rs"), "11111");
}

#[test]
fn a_call_that_failed_says_nothing_of_a_folder() {
    // Before the move the folder may have been there, where the call failed for another reason.
    // Behind it the call does not say that one is there.
    let fails = Step::Refused("new_dir/old_dir/a.rs", "fn other() {", "fn third() {");
    let moves = Step::Run("mv old_dir new_dir", "");
    let orders = [
        ([moves.clone(), fails.clone()], "11111"),
        ([fails, moves], "-----"),
    ];
    for (steps, lines) in orders {
        let home = Sandbox::new();
        writes(&home, FIRST, 0, "old_dir/a.rs");
        let steps = [&[Step::Prompt("Move it")], &steps[..]].concat();
        session(&home, ("claude", SECOND), 5, &steps);
        home.write("code/parser/new_dir/a.rs", FILE);
        assert_eq!(blamed(&home, "new_dir/a.rs"), lines);
    }
}

#[test]
fn every_touch_of_a_folder_counts() {
    // What was read later was there before all the same.
    let home = Sandbox::new();
    let steps = [
        Step::Prompt("Write a program"),
        Step::Write("lib/mod.rs", FILE),
        Step::Write("src/k.rs", FILE),
    ];
    session(&home, ("pi", FIRST), 0, &steps);
    let steps = [
        Step::Prompt("Move it"),
        Step::Run("mv src src.old", ""),
        Step::Write("src/k.rs", "fn other() {}\n"),
        Step::Run("mv lib src", ""),
        Step::Write("src/k.rs", "fn third() {}\n"),
    ];
    session(&home, ("claude", SECOND), 5, &steps);
    home.write("code/parser/src/mod.rs", FILE);
    assert_eq!(blamed(&home, "src/mod.rs"), "-----");
    assert_eq!(touching(&home, "src/mod.rs"), [""; 0]);
}

#[test]
fn a_commit_that_moves_a_file_takes_its_writers_along() {
    let home = Sandbox::new();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    let moved = |from: &str, to: &str| {
        std::fs::create_dir_all(home.cwd.join("src")).expect("a folder");
        std::fs::rename(home.cwd.join(from), home.cwd.join(to)).expect("moved");
    };
    // Sessions of nine o'clock, commits of half past nine.
    writes(&home, FIRST, 0, "one.rs");
    committed(&home, "one.rs", FILE).expect("a commit");
    committed(&home, "other.rs", "// Something else.\n").expect("a commit");
    moved("one.rs", "src/two.rs");
    // By hand, and not committed yet.
    assert_eq!(blamed(&home, "src/two.rs"), "11111");
    git(&home, &["mv", "-k", "other.rs", "src/other.rs"]).expect("moved");
    git(&home, &["add", "-A"]).expect("added");
    git(&home, &["commit", "-qm", "Moved"]).expect("a commit");
    assert_eq!(blamed(&home, "src/two.rs"), "11111");
    moved("src/two.rs", "three.rs");
    // A little was changed with it.
    let text = FILE.replace("}\n", "}\n// By hand.\n");
    git(&home, &["add", "-A"]).expect("added");
    committed(&home, "three.rs", &text).expect("a commit");
    git(&home, &["gc", "-q"]);
    assert_eq!(blamed(&home, "three.rs"), "1111--");
    assert_eq!(touching(&home, "three.rs"), [FIRST]);
    // Of two that went alike nobody knows which it is.
    for name in ["four.rs", "five.rs"] {
        committed(&home, name, FILE).expect("a commit");
    }
    for name in ["three.rs", "four.rs", "five.rs"] {
        std::fs::remove_file(home.cwd.join(name)).expect("removed");
    }
    home.write("code/parser/six.rs", FILE);
    assert_eq!(blamed(&home, "six.rs"), "-----");
    git(&home, &["add", "-A"]).expect("added");
    git(&home, &["commit", "-qm", "Moved"]).expect("a commit");
    assert_eq!(blamed(&home, "six.rs"), "-----");
}

/// A file may have had a name by a command and by the commit behind it, and a patch that moves it
/// names both.
#[test]
fn a_touch_counts_once_whatever_moved_the_file() {
    let home = Sandbox::new();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    writes(&home, FIRST, 0, "one.rs");
    committed(&home, "one.rs", FILE).expect("a commit");
    let mut steps = vec![Step::Prompt("Move it"), Step::Read("one.rs", FILE)];
    steps.push(Step::Run("git mv one.rs two.rs", ""));
    session(&home, ("claude", SECOND), 5, &steps);
    git(&home, &["mv", "one.rs", "two.rs"]).expect("moved");
    git(&home, &["commit", "-qm", "Moved"]).expect("a commit");
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: two.rs\n\
        *** Move to: three.rs\n@@\n     let first = begin();\n+    let second = go_on(first);\n }\n\
        *** End Patch\nEOF";
    let steps = [Step::Prompt("Again"), Step::Run(patch, "Success.")];
    session(&home, ("codex", THIRD), 45, &steps);
    git(&home, &["mv", "two.rs", "three.rs"]).expect("moved");
    committed(&home, "three.rs", &FILE.replace(OLD, NEW)).expect("a commit");
    insta::assert_snapshot!(home.run(&["log", "three.rs"]), @r#"
    SESSION   AGENT   LAST              CHANGED  READ  TITLE
    0c000000  codex   2026-01-02 09:45        1     0  Again
    0b000000  claude  2026-01-02 09:05        0     1  Move it
    0a000000  pi      2026-01-02 09:00        1     0  Write a program
    "#);
}

#[test]
fn as_people_read_it() {
    let home = Sandbox::new();
    home.write("code/parser/main.rs", &(FILE.to_owned() + "// By hand.\n"));
    home.write("code/parser/other.rs", FILE);
    session(
        &home,
        ("pi", FIRST),
        0,
        &[
            Step::Prompt("Write a program"),
            Step::Write("main.rs", FILE),
            Step::Read("main.rs", FILE),
        ],
    );
    session(
        &home,
        ("claude", SECOND),
        5,
        &[Step::Prompt("What is it?"), Step::Read("main.rs", FILE)],
    );
    insta::assert_snapshot!(home.run(&["blame", "main.rs"]), @r#"
    0a000000:a1   pi  2026-01-02 09:00  1  use std::fs;
    0a000000:a1   pi  2026-01-02 09:00  2
    0a000000:a1   pi  2026-01-02 09:00  3  fn main() {
    0a000000:a1   pi  2026-01-02 09:00  4      let first = begin();
                                        5  }
                                        6  // By hand.
    --- stderr
    4 of 6 lines were written by sessions; they changed the file in 1 call.
    "#);
    insta::assert_snapshot!(home.run(&["blame", "main.rs:4"]), @r#"
      let first = begin();
    written by  write
    entry       0a000000:a1
    when        2026-01-02 09:00
    session     Write a program
    agent       pi
    folder      ~/code/parser
    branch      the active branch
    asked for   Write a program
    "#);
    insta::assert_snapshot!(home.run(&["blame", "main.rs:6"]), @r#"
    // By hand.
    --- stderr
    No session is known to have written this line.
    --- exit Some(1)
    "#);
    insta::assert_snapshot!(home.run(&["blame", "main.rs:7"]), @r#"
    --- stderr
    error: main.rs has 6 lines, and no line 7
    --- exit Some(2)
    "#);
    insta::assert_snapshot!(home.run(&["blame", "other.rs"]), @r#"
                           1  use std::fs;
                           2
                           3  fn main() {
                           4      let first = begin();
                           5  }
    --- stderr
    No session is known to have changed ~/code/parser/other.rs.
    --- exit Some(1)
    "#);
    insta::assert_snapshot!(home.run(&["blame", "none.rs"]), @r#"
    --- stderr
    error: cannot access none.rs: No such file or directory (os error 2)
    hint: `sessionary log FILE` lists the sessions that touched a file that is gone
    --- exit Some(2)
    "#);
    insta::assert_snapshot!(home.run(&["log", "main.rs"]), @r#"
    SESSION   AGENT   LAST              CHANGED  READ  TITLE
    0b000000  claude  2026-01-02 09:05        0     1  What is it?
    0a000000  pi      2026-01-02 09:00        1     1  Write a program
    "#);
    insta::assert_snapshot!(home.run(&["log", "other.rs"]), @r#"
    --- stderr
    No session is known to have touched a file of the path other.rs.
    `sessionary search file:other.rs` finds the calls that name any file or folder so.
    --- exit Some(1)
    "#);
    let said = home.run(&["log", "main.rs:4"]);
    let hint = "\n`sessionary blame main.rs:4` is asked of one line.\n";
    assert!(said.contains(hint), "{said}");
    insta::assert_snapshot!(home.run(&["log", "../parser"]), @r#"
    --- stderr
    ../parser is a folder: `log` lists the sessions of one file.
    --- exit Some(1)
    "#);
    insta::assert_snapshot!(home.run(&["blame", "main.rs:1-4"]), @r#"
    --- stderr
    error: cannot access main.rs:1-4: No such file or directory (os error 2)
    hint: FILE:LINE is one line, as in src/main.rs:120; no range of lines
    --- exit Some(2)
    "#);
}

#[test]
fn what_people_are_told_of_files_that_are_not_as_usual() {
    let home = Sandbox::new();
    let line = "static LAST: u8 = 1;\n";
    home.write("code/parser/src/one.rs", line);
    std::fs::write(home.cwd.join("b.bin"), b"\xff\xfe\n").expect("a file");
    let steps = [Step::Prompt("Write it"), Step::Write("src/one.rs", line)];
    session(&home, ("pi", FIRST), 0, &steps);
    insta::assert_snapshot!(home.run(&["blame", "src/one.rs"]), @r#"
    0a000000:a1   pi  2026-01-02 09:00  1  static LAST: u8 = 1;
    --- stderr
    1 of 1 line was written by sessions; they changed the file in 1 call.
    "#);
    insta::assert_snapshot!(home.run(&["blame", "b.bin"]), @r#"
    --- stderr
    error: b.bin is not UTF-8: lines of it cannot be told
    --- exit Some(2)
    "#);
    insta::assert_snapshot!(home.run(&["log", "./src/"]), @r#"
    --- stderr
    ./src/ is a folder: `log` lists the sessions of one file.
    `sessionary search file:src` finds the calls that name a file in it.
    --- exit Some(1)
    "#);
    if git(&home, &["init", "-q"]).is_some() {
        insta::assert_snapshot!(home.run(&["commit"]), @r#"
        --- stderr
        error: no commit is checked out in ~/code/parser: there is none yet, or none on this branch
        --- exit Some(2)
        "#);
    }
}

/// What is secret in a line another one may tell: that a key begins, and what a value is called.
#[test]
fn no_line_of_a_secret_is_printed_alone() {
    let line = "MIIEpAIBAAKCAQEA0123456789abcdef0123456789abcdef0123456789abcdef";
    let file = format!(
        "- name: DB_PASSWORD\n  value: s3cretpw42\n\n-----BEGIN RSA PRIVATE KEY-----\n\
         {line}\n{line}\n{}\n-----END RSA PRIVATE KEY-----\nand on\n",
        &line[..20]
    );
    let home = Sandbox::new();
    home.write("code/parser/k.pem", &file);
    session(
        &home,
        ("pi", FIRST),
        0,
        &[Step::Prompt("Write it"), Step::Write("k.pem", &file)],
    );
    let answer = home.json(&["blame", "k.pem", "--json"]);
    let lines = answer["lines"].as_array().expect("lines").iter();
    let lines: Vec<&str> = lines
        .map(|line| line["text"].as_str().expect("text"))
        .collect();
    let expected = [
        "- name: DB_PASSWORD",
        "  value: [redacted]",
        "",
        "-----BEGIN RSA PRIVATE KEY-----[redacted]",
        "[redacted]",
        "[redacted]",
        "[redacted]",
        "[redacted]-----",
        "and on",
    ];
    assert_eq!(lines, expected);
    let printed = home.run(&["blame", "k.pem"]);
    assert!(
        !printed.contains("s3cretpw42") && !printed.contains("MIIE"),
        "{printed}"
    );
    for (number, expected) in expected.iter().enumerate() {
        let file = format!("k.pem:{}", number + 1);
        let one = home.json(&["blame", &file, "--json"]);
        assert_eq!(one["lines"][0]["text"], *expected, "{file}");
    }
    let revealed = home.json(&["blame", "k.pem", "--json", "--reveal"]);
    assert_eq!(revealed["lines"][4]["text"], line);
}

/// Runs git in the working directory; `None` where there is no git.
pub fn git(home: &Sandbox, arguments: &[&str]) -> Option<String> {
    let output = Command::new("git")
        .args(["-c", "user.name=Ada", "-c", "user.email=ada@example.org"])
        .args(["-c", "init.defaultBranch=main", "-c", "gc.auto=0"])
        .args(arguments)
        .env_clear()
        .env("PATH", std::env::var_os("PATH")?)
        .env("HOME", &home.home)
        .env("GIT_COMMITTER_DATE", "2026-01-02T09:30:00Z")
        .env("GIT_AUTHOR_DATE", "2026-01-02T09:30:00Z")
        .current_dir(&home.cwd)
        .output()
        .map_err(|_| eprintln!("SKIPPED: there is no git"))
        .ok()?;
    assert!(output.status.success(), "{output:?}");
    Some(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn committed(home: &Sandbox, file: &str, text: &str) -> Option<String> {
    home.write(&format!("code/parser/{file}"), text);
    git(home, &["add", "."])?;
    git(home, &["commit", "-qm", "What changed"])?;
    git(home, &["rev-parse", "HEAD"])
}

#[test]
fn a_commit_is_the_sessions_that_made_it_or_alone_wrote_its_lines() {
    let home = Sandbox::new();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    let begun = committed(&home, "main.rs", FILE).expect("a commit");
    let added = committed(&home, "main.rs", &FILE.replace(OLD, NEW)).expect("a commit");
    let both = FILE
        .replace(OLD, NEW)
        .replace("}\n", "    finish(first, second);\n    end_of_all();\n}\n");
    let both = committed(&home, "main.rs", &both).expect("a commit");
    // Packed, with deltas.
    git(&home, &["gc", "-q"]);
    let hands = committed(&home, "notes.md", "Written by hand alone.\n").expect("a commit");
    session(
        &home,
        ("pi", FIRST),
        0,
        &[
            Step::Prompt("Write a program"),
            Step::Write("main.rs", FILE),
            Step::Run(
                "git add . && git commit -m 'What changed'",
                &format!(
                    "[main (root-commit) {}] What changed\n 1 file changed\n",
                    &begun[..7]
                ),
            ),
            Step::Edit("main.rs", OLD, NEW),
            Step::Edit(
                "main.rs",
                "    let second = go_on(first);\n",
                "    let second = go_on(first);\n    finish(first, second);\n",
            ),
        ],
    );
    session(
        &home,
        ("claude", SECOND),
        5,
        &[
            Step::Prompt("Go on"),
            Step::Edit(
                "main.rs",
                "    finish(first, second);\n",
                "    finish(first, second);\n    end_of_all();\n",
            ),
        ],
    );
    let of = |commit: &str| {
        let answer = home.json(&["commit", commit, "--json"]);
        let session = answer["call"]["session"]["id"].clone();
        (answer["evidence"].clone(), session)
    };
    let (recorded, lines) = (Value::from("recorded"), Value::from("lines"));
    assert_eq!(of(&begun), (recorded, Value::from(FIRST)));
    assert_eq!(of(&added[..8]), (lines, Value::from(FIRST)));
    assert_eq!(of(&both), (Value::Null, Value::Null));
    assert_eq!(of("HEAD"), (Value::Null, Value::Null));
    assert_eq!(of(&hands), of("HEAD"));
    let shown = |commit: &str| home.run(&["commit", commit]).replace(&commit[..10], "SHA");
    insta::assert_snapshot!(shown(&added), @r#"
    SHA  What changed
      known by    the lines that this session wrote
      entry       0a000000:a3
      when        2026-01-02 09:00
      session     Write a program
      agent       pi
      folder      ~/code/parser
      branch      the active branch
      asked for   Write a program
    --- stderr
    Of 1 line that it adds, brackets and the like aside: 1 by 0a000000.
    "#);
    insta::assert_snapshot!(shown(&both), @r#"
    SHA  What changed
    --- stderr
    No session is known to have made it. Of 2 lines that it adds, brackets and the like aside: 1 by 0a000000, 1 by 0b000000.
    --- exit Some(1)
    "#);
    // Nothing of it is a line.
    git(&home, &["rm", "-q", "notes.md"]).expect("removed");
    git(&home, &["commit", "-qm", "What changed"]).expect("a commit");
    let removed = git(&home, &["rev-parse", "HEAD"]).expect("a commit");
    insta::assert_snapshot!(shown(&removed), @r#"
    SHA  What changed
    --- stderr
    No session is known to have made it. There are no lines of it that could tell.
    --- exit Some(1)
    "#);
    git(&home, &["reset", "-q", "--hard", "HEAD~1"]).expect("taken back");
    insta::assert_snapshot!(home.run(&["commit", "0123456"]), @r#"
    --- stderr
    error: no commit of this repository is called 0123456, or several objects are
    hint: `git rev-parse --disambiguate=0123456` prints the whole names that begin so; where it prints none, fetch the commit first
    --- exit Some(2)
    "#);
    insta::assert_snapshot!(home.run(&["commit", "HEAD~1"]), @r#"
    --- stderr
    error: HEAD~1 is no branch or tag, no SHA-1 of a commit, nor the beginning of one
    hint: git knows more names: `sessionary commit $(git rev-parse 'HEAD~1')`
    --- exit Some(2)
    "#);
    // Names of git's: loose, packed, and tags that are objects of their own.
    let tag = |name: &str, of: &str| git(&home, &["tag", "-am", "A release", name, of]);
    assert!(tag("v1", &added).is_some() && tag("v2", "v1").is_some());
    git(&home, &["branch", "fixes/one", &begun]);
    for _ in ["loose", "packed"] {
        for (name, commit) in [
            ("main", &hands),
            ("fixes/one", &begun),
            ("v1", &added),
            ("v2", &added),
            ("heads/main", &hands),
        ] {
            let named = home.json(&["commit", name, "--json"]);
            assert_eq!(named["commit"], **commit, "{name}");
        }
        git(&home, &["pack-refs", "--all"]);
    }
    for name in ["../HEAD", "", "fixes", "/main"] {
        assert!(
            home.run(&["commit", name]).contains("exit Some(2)"),
            "{name}"
        );
    }
}

#[test]
fn what_was_written_in_another_work_tree_is_told() {
    let home = Sandbox::new();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    committed(&home, "src/main.rs", FILE).expect("a commit");
    git(&home, &["worktree", "add", "-q", "../fix"]);
    Session {
        agent: "claude",
        id: FIRST,
        cwd: "code/fix",
        minute: 0,
        steps: &[
            Step::Prompt("Write a program"),
            Step::Write("src/main.rs", FILE),
        ],
    }
    .write(&home);
    let there = home.home.join("code/fix/src/main.rs");
    let expected = "In another work tree, ~/code/fix, 0a000000 changed it: \
        `sessionary log $HOME/code/fix/src/main.rs`.";
    // Known are the work trees that were seen, when one is removed, too.
    for removed in [false, true] {
        if removed {
            git(&home, &["worktree", "remove", "--force", "../fix"]);
        }
        for command in ["blame", "log"] {
            let said = home.run(&[command, "src/main.rs"]);
            assert!(said.contains(expected), "{command}, {removed}: {said}");
        }
        let log = home.run(&["log", &there.to_string_lossy()]);
        assert!(log.contains("0a000000"), "{log}");
    }
    // Of another file nothing is said.
    committed(&home, "src/lib.rs", FILE).expect("a commit");
    assert!(
        !home
            .run(&["blame", "src/lib.rs"])
            .contains("another work tree")
    );
}
