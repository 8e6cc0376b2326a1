//! What commands changed, as Claude Code records it: `toolUseResult.bashEditDiff`, since 2.1.269.
//! Its shape is that of giulio333/ClaudeLens, issue 265 (124 lines of 2.1.269).

use serde_json::{Value, json};

use super::stores::Step;
use super::{FIRST, SECOND, blamed, session, touching};
use crate::sandbox::Sandbox;

const SET: &str = "const RETRY_LIMIT: u32 = 42;";
const WAS: &str = "const RETRY_LIMIT: u32 = 30;";
const SED: &str = "sed -i 's/const RETRY_LIMIT: u32 = 30;/const RETRY_LIMIT: u32 = 42;/' main.rs";

/// A session that runs a command, with what its agent records of the file beside the answer.
fn running(home: &Sandbox, id: &str, minute: u32, command: &str, lines: &[&str], more: &Value) {
    let steps = [Step::Prompt("Go on"), Step::Run(command, "")];
    session(home, ("claude", id), minute, &steps);
    let file = home.home.join(format!(".claude/projects/-x/{id}.jsonl"));
    let text = std::fs::read_to_string(&file).expect("a session");
    let (before, answer) = text.trim_end().rsplit_once('\n').expect("an answer");
    let mut answer: Value = serde_json::from_str(answer).expect("JSON");
    let path = home.home.join("code/parser/main.rs");
    let hunk = json!({"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 1, "lines": lines});
    let mut diff = json!({"files": [{"filePath": path, "hunks": [hunk]}], "moreFiles": 0,
        "changedFiles": [path]});
    let members = diff.as_object_mut().expect("an object");
    members.extend(more.as_object().cloned().unwrap_or_default());
    let later = answer["timestamp"].as_str().expect("a time");
    answer["timestamp"] = json!(later.replace(":01.000Z", ":31.000Z"));
    answer["toolUseResult"] = json!({"stdout": "", "stderr": "", "bashEditDiff": diff});
    std::fs::write(&file, format!("{before}\n{answer}\n")).expect("written");
}

fn after(command: &str, lines: &[&str], more: &Value) -> Sandbox {
    let home = Sandbox::new();
    home.write("code/parser/main.rs", &format!("use std::fs;\n{SET}\n"));
    running(&home, FIRST, 0, command, lines, more);
    home
}

#[test]
fn a_line_that_stands_in_the_command_that_changed_the_file() {
    let changed = [" use std::fs;", &format!("-{WAS}"), &format!("+{SET}")];
    for command in [
        SED,
        "git status && python3 - <<'EOF'\ns = s.replace(\"u32 = 30\", '''\n  const RETRY_LIMIT: u32 = 42;\n''')\nEOF",
        "bash -lc \"perl -pi -e 's/.*/const RETRY_LIMIT: u32 = 42;/' $FILE\"",
    ] {
        let home = after(command, &changed, &json!({}));
        assert_eq!(blamed(&home, "main.rs"), "-$1", "{command}");
        assert_eq!(touching(&home, "main.rs"), [FIRST], "{command}");
        let found = home.json(&["search", "file:main.rs", "--json"]);
        assert_eq!(found["total"], 1, "{found}");
    }
}

#[test]
fn a_line_that_only_came_into_the_file_meanwhile_is_nobodys() {
    let changed = [&*format!("-{WAS}"), &format!("+{SET}")];
    let asking = format!("grep -q '{SET}' main.rs; sleep 60");
    for command in [
        // Typed by hand, or written by what it runs: nobody knows.
        "cargo test",
        "sed -i 's/30/42/' main.rs",
        &asking,
        &format!("git checkout next && {SED}"),
        &format!("claude -p 'Write {SET}'"),
        &format!("cargo fmt; echo '{SET}'"),
        &format!("echo 'XX{}_more' > other.rs", SET.trim_end_matches(';')),
    ] {
        let home = after(command, &changed, &json!({}));
        assert_eq!(blamed(&home, "main.rs"), "--", "{command}");
        assert_eq!(touching(&home, "main.rs"), [FIRST], "{command}");
    }
}

/// `shared`: another command changed the repository, too (2.1.280).
#[test]
fn what_several_commands_may_have_changed_is_no_sessions() {
    let changed = [&*format!("-{WAS}"), &format!("+{SET}")];
    let home = after(SED, &changed, &json!({"shared": true}));
    assert_eq!(blamed(&home, "main.rs"), "--");
    assert_eq!(touching(&home, "main.rs"), [""; 0]);
    // Part of what changed is not recorded: what is recorded counts.
    let home = after(SED, &changed, &json!({"unavailable": true}));
    assert_eq!(blamed(&home, "main.rs"), "-$1");
}

#[test]
fn what_another_session_wrote_stays_its_own_but_not_what_both_did() {
    let write = |home: &Sandbox, text: &str| {
        let steps = [Step::Prompt("Go on"), Step::Write("main.rs", text)];
        session(home, ("pi", SECOND), 0, &steps);
    };
    let home = Sandbox::new();
    home.write("code/parser/main.rs", &format!("    {SET}\n"));
    write(&home, &format!("{SET}\n"));
    let changed = [&*format!("-{SET}"), &format!("+    {SET}")];
    running(
        &home,
        FIRST,
        5,
        &format!("{SED}; fmt"),
        &changed,
        &json!({}),
    );
    assert_eq!(blamed(&home, "main.rs"), "~2");
    let home = Sandbox::new();
    home.write("code/parser/main.rs", &format!("{SET}\n"));
    write(&home, &format!("{SET}\n"));
    let changed = [&*format!("-{WAS}"), &format!("+{SET}")];
    running(&home, FIRST, 5, SED, &changed, &json!({}));
    assert_eq!(blamed(&home, "main.rs"), "-");
}

/// What an answer says was changed may have been removed by that: a folder is not there again.
#[test]
fn what_was_moved_away_is_not_touched_by_that() {
    let home = Sandbox::new();
    home.write("code/parser/lib/a.rs", super::FILE);
    let steps = [
        Step::Prompt("Write a program"),
        Step::Write("lib/a.rs", "fn old_one() {}\n"),
        Step::Write("new/a.rs", super::FILE),
    ];
    session(&home, ("pi", SECOND), 0, &steps);
    running(&home, FIRST, 5, "mv lib old", &[], &json!({}));
    let place = home.home.join(format!(".claude/projects/-x/{FIRST}.jsonl"));
    let text = std::fs::read_to_string(&place).expect("a session");
    std::fs::write(&place, text.replace("parser/main.rs", "parser/lib/a.rs")).expect("written");
    let steps = [Step::Prompt("Go on"), Step::Run("mv new lib", "")];
    session(
        &home,
        ("pi", "0c000000-0000-4000-8000-000000000003"),
        9,
        &steps,
    );
    // The empty line may have been read.
    assert_eq!(blamed(&home, "lib/a.rs"), "2-222");
}
