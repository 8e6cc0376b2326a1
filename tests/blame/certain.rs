//! Nobody is named wrongly before somebody is named: what looks like a session's work and is not,
//! or may be another's.

use serde_json::{Value, json};

use super::stores::{Session, Step};
use super::{FILE, FIRST, NEW, OLD, SECOND, blamed, committed, git, session, touching};
use crate::sandbox::Sandbox;

const LINE: &str = "const RETRY_LIMIT: u32 = 42;\n";

fn prompted<'s>(steps: &[Step<'s>]) -> Vec<Step<'s>> {
    [&[Step::Prompt("Go on")], steps].concat()
}

fn pi(home: &Sandbox, id: &str, minute: u32, steps: &[Step<'_>]) {
    session(home, ("pi", id), minute, &prompted(steps));
}

fn codex(home: &Sandbox, id: &str, minute: u32, steps: &[Step<'_>]) {
    session(home, ("codex", id), minute, &prompted(steps));
}

fn rollout(id: &str) -> String {
    format!(".codex/sessions/2026/01/02/rollout-2026-01-02T09-00-00-{id}.jsonl")
}

/// The records of a rollout that was written.
fn records(home: &Sandbox, id: &str) -> Vec<Value> {
    let text = std::fs::read_to_string(home.home.join(rollout(id))).expect("a rollout");
    let lines = text.lines();
    lines
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect()
}

fn write_records(home: &Sandbox, id: &str, records: &[Value]) {
    let lines: String = records.iter().map(|line| format!("{line}\n")).collect();
    home.write(&rollout(id), &lines);
}

/// A patch that adds the file.
fn adding(name: &str) -> String {
    let lines: String = FILE.lines().map(|line| format!("+{line}\n")).collect();
    format!("*** Begin Patch\n*** Add File: {name}\n{lines}*** End Patch\n")
}

const DONE: &str = "Success. Updated the following files:\nA it\n";

#[test]
fn what_was_read_under_another_name_was_read() {
    let read_and_write = [
        Step::Read("old.rs", FILE),
        Step::Write("old.rs", &FILE.replace(OLD, NEW)),
        Step::Run("mv old.rs new.rs", ""),
    ];
    let read_and_move = [
        Step::Read("old.rs", FILE),
        Step::Run("mv old.rs new.rs", ""),
        Step::Write("new.rs", &FILE.replace(OLD, NEW)),
    ];
    for steps in [read_and_write, read_and_move] {
        let home = Sandbox::new();
        home.write("code/parser/new.rs", &FILE.replace(OLD, NEW));
        pi(&home, FIRST, 0, &steps);
        assert_eq!(blamed(&home, "new.rs"), "----1-");
    }
}

#[test]
fn what_was_read_without_the_name_was_read() {
    let file = FILE.replace(OLD, NEW);
    for command in [
        "cat main.rs",
        "cat {main,lib}.rs",
        "for f in main lib; do cat $f.rs; done",
        "cat $(git ls-files)",
        "make show",
    ] {
        let home = Sandbox::new();
        home.write("code/parser/main.rs", &file);
        let steps = [Step::Run(command, FILE), Step::Write("main.rs", &file)];
        pi(&home, FIRST, 0, &steps);
        assert_eq!(blamed(&home, "main.rs"), "----1-", "{command}");
    }
    let home = Sandbox::new();
    home.write("code/parser/main.rs", &file);
    let pasted = format!("My program:\n{FILE}\nAdd a step");
    let steps = [Step::Prompt(&pasted), Step::Write("main.rs", &file)];
    pi(&home, FIRST, 0, &steps);
    assert_eq!(blamed(&home, "main.rs"), "----1-");
    // A file of another name says nothing of this one.
    let home = Sandbox::new();
    home.write("code/parser/main.rs", &file);
    let steps = [Step::Read("lib.rs", FILE), Step::Write("main.rs", &file)];
    pi(&home, FIRST, 0, &steps);
    assert_eq!(blamed(&home, "main.rs"), "111111");
}

#[test]
fn a_command_that_only_seems_to_write_the_line() {
    let here = format!("cat > main.rs <<'EOF'\n{LINE}EOF");
    let beside = format!("cat > domain.rs.bak <<'EOF'\n{LINE}EOF");
    let longer = "cat > main.rs <<'EOF'\n    must_return valued(3)\nEOF";
    let asked = format!("grep -n '{}' main.rs", LINE.trim());
    let gone = format!("sed -i '/{}/d' main.rs", LINE.trim());
    for (line, step) in [
        (LINE, Step::Fails(&here, "Permission denied")),
        (LINE, Step::Run(&beside, "")),
        (LINE, Step::Run(&asked, LINE)),
        (LINE, Step::Run(&gone, "")),
        ("return value\n", Step::Run(longer, "")),
    ] {
        let home = Sandbox::new();
        home.write("code/parser/main.rs", line);
        pi(&home, FIRST, 0, &[step]);
        assert_eq!(blamed(&home, "main.rs"), "-");
    }
    // In another project.
    let home = Sandbox::new();
    home.write("code/parser/main.rs", LINE);
    let steps = prompted(&[Step::Run(&here, "")]);
    Session {
        agent: "pi",
        id: FIRST,
        cwd: "code/other",
        minute: 0,
        steps: &steps,
    }
    .write(&home);
    assert_eq!(blamed(&home, "main.rs"), "-");
}

#[test]
fn lines_that_commands_wrote_and_others_too() {
    let again = format!("cat >> main.rs <<'EOF'\n{LINE}EOF");
    for (first, second) in [
        (Step::Write("main.rs", LINE), Step::Run(&again, "")),
        (Step::Run(&again, ""), Step::Run(&again, "")),
    ] {
        let home = Sandbox::new();
        home.write("code/parser/main.rs", LINE);
        pi(&home, FIRST, 0, std::slice::from_ref(&first));
        pi(&home, SECOND, 5, &[second]);
        assert_eq!(blamed(&home, "main.rs"), "-");
    }
    for command in [
        &*again,
        "echo 'const RETRY_LIMIT: u32 = 42;' | tee -a main.rs",
        "cd .. && printf '%s\\n' 'const RETRY_LIMIT: u32 = 42;' >> parser/main.rs",
        "{ echo '// All.'; echo 'const RETRY_LIMIT: u32 = 42;'; } > main.rs",
    ] {
        let home = Sandbox::new();
        home.write("code/parser/main.rs", LINE);
        pi(&home, FIRST, 0, &[Step::Run(command, "")]);
        assert_eq!(blamed(&home, "main.rs"), "$1", "{command}");
    }
}

#[test]
fn patches_within_commands_are_the_files_that_they_name() {
    let (main, other) = (adding("main.rs"), adding("b.rs"));
    let in_folder = format!("cd crates/a && apply_patch <<'EOF'\n{main}EOF");
    let written = format!("cat > docs/apply_patch.md <<'EOF'\n{main}EOF");
    let failed = format!("apply_patch <<'EOF'\n{main}EOF\necho done");
    let two = format!("apply_patch <<'EOF'\n{main}EOF\napply_patch <<'EOF'\n{other}EOF");
    for (command, said, files) in [
        (
            &in_folder,
            DONE,
            &[("main.rs", "-----"), ("crates/a/main.rs", "11111")][..],
        ),
        (&written, "", &[("main.rs", "-----")]),
        (&failed, "Invalid patch\ndone\n", &[("main.rs", "-----")]),
        (&failed, &format!("{DONE}done\n"), &[("main.rs", "11111")]),
        (
            &two,
            &format!("{DONE}{DONE}"),
            &[("main.rs", "11111"), ("b.rs", "11111")],
        ),
        (
            &two,
            &format!("{DONE}Invalid patch\n"),
            &[("main.rs", "-----"), ("b.rs", "-----")],
        ),
    ] {
        let home = Sandbox::new();
        for (file, _) in files {
            home.write(&format!("code/parser/{file}"), FILE);
        }
        codex(&home, FIRST, 0, &[Step::Run(command, said)]);
        for (file, expected) in files {
            assert_eq!(blamed(&home, file), *expected, "{file}: {command}");
        }
    }
    let home = Sandbox::new();
    home.write("code/parser/main.rs", FILE);
    codex(&home, FIRST, 0, &[Step::Run(&in_folder, DONE)]);
    assert_eq!(touching(&home, "crates/a/main.rs"), [FIRST]);
    assert_eq!(touching(&home, "main.rs"), [""; 0]);
}

#[test]
fn a_patch_is_known_in_brackets_as_a_word_and_from_a_file() {
    let main = adding("main.rs");
    let here = format!("<<'EOF'\n{main}EOF\n");
    let (inner, outer) = ("crates/a/main.rs", "main.rs");
    for (command, said, file, other) in [
        (
            format!("(cd crates/a && apply_patch {here})"),
            "",
            inner,
            outer,
        ),
        (
            format!("(cd crates && ls)\napply_patch {here}"),
            "",
            outer,
            inner,
        ),
        (
            format!("said=$(cd crates/a && apply_patch {here})\necho \"$said\""),
            DONE,
            inner,
            outer,
        ),
        (format!("apply_patch <<< '{main}'"), "", outer, inner),
        (
            format!("cat > /tmp/p {here}cd crates/a && apply_patch < /tmp/p"),
            "",
            inner,
            outer,
        ),
    ] {
        let home = Sandbox::new();
        for file in [inner, outer] {
            home.write(&format!("code/parser/{file}"), FILE);
        }
        codex(&home, FIRST, 0, &[Step::Run(&command, said)]);
        assert_eq!(blamed(&home, file), "11111", "{command}");
        assert_eq!(blamed(&home, other), "-----", "{command}");
        assert_eq!(touching(&home, file), [FIRST], "{command}");
        assert_eq!(touching(&home, other), [""; 0], "{command}");
    }
    for (command, said) in [
        // Nobody says that it was applied.
        (format!("said=$(apply_patch {here})\necho done"), "done\n"),
        (format!("! apply_patch {here}"), "Invalid patch\n"),
        // It may not be the patch that was applied, nor this folder.
        (
            format!("cat > p {here}sed -i s/first/second/ p\napply_patch < p"),
            DONE,
        ),
        (format!("cd \"$CRATE\" && apply_patch {here}"), DONE),
        (format!("test -d b && cd b; apply_patch {here}"), DONE),
        (format!("apply_patch \"$P\"; apply_patch {here}"), DONE),
    ] {
        let home = Sandbox::new();
        home.write("code/parser/main.rs", FILE);
        codex(&home, FIRST, 0, &[Step::Run(&command, said)]);
        assert_eq!(blamed(&home, "main.rs"), "-----", "{command}");
    }
}

#[test]
fn a_script_has_to_have_come_to_its_end() {
    let home = Sandbox::new();
    home.write("code/parser/main.rs", FILE);
    codex(&home, FIRST, 0, &[Step::Write("main.rs", FILE)]);
    let written = records(&home, FIRST);
    let call = format!("await tools.apply_patch({})", json!(adding("main.rs")));
    let caught = format!("try {{ {call} }} catch (e) {{}} text(await tools.apply_patch(q))");
    let said = format!("{call}; text('{}')", DONE.replace('\n', "\\n"));
    for (code, begins, expected) in [
        (&call, "Script completed", "11111"),
        (&call, "Script running with cell ID 7", "-----"),
        (&call, "Script terminated", "-----"),
        (&call, "Script failed", "-----"),
        (&said, "Script failed", "-----"),
        (&caught, "Script completed", "-----"),
    ] {
        let mut records = written.clone();
        for payload in records.iter_mut().map(|record| &mut record["payload"]) {
            if payload["type"] == "custom_tool_call" {
                (payload["name"], payload["input"]) = (json!("exec"), json!(code));
            } else if payload["type"] == "custom_tool_call_output" {
                let said = format!("{begins}\nWall time 1.5 seconds\nOutput:\n{DONE}");
                payload["output"] = json!(said);
            }
        }
        write_records(&home, FIRST, &records);
        assert_eq!(blamed(&home, "main.rs"), expected, "{code}: {begins}");
    }
}

#[test]
fn white_space_that_somebody_had_before() {
    let before = "def run():\n    result = compute_all()\n    return result\n";
    let deeper = "    if ready:\n        result = compute_all()\n";
    let edit = Step::Edit("m.py", "    result = compute_all()\n", deeper);
    let home = Sandbox::new();
    home.write("code/parser/m.py", before);
    session(
        &home,
        ("claude", FIRST),
        0,
        &prompted(std::slice::from_ref(&edit)),
    );
    assert_eq!(blamed(&home, "m.py"), "---");
    let home = Sandbox::new();
    home.write("code/parser/m.py", before);
    pi(&home, SECOND, 0, &[Step::Write("m.py", before)]);
    session(&home, ("claude", FIRST), 5, &prompted(&[edit]));
    assert_eq!(blamed(&home, "m.py"), "2-2");
    // Of a file of which only a part is known.
    let home = Sandbox::new();
    home.write(
        "code/parser/m.py",
        "def f(x):\n    if x:\n        return result_of(x)\n    return None\n",
    );
    let patch = "*** Begin Patch\n*** Update File: m.py\n@@\n def g(x):\n+    return result_of(x)\n\
        *** End Patch\n";
    let command = format!("apply_patch <<'EOF'\n{patch}EOF");
    codex(&home, FIRST, 0, &[Step::Run(&command, DONE)]);
    assert_eq!(blamed(&home, "m.py"), "----");
}

#[test]
fn what_the_file_was_is_read_from_its_record() {
    let home = Sandbox::new();
    let before = FILE.replace("fn main", "// By hand, before.\nfn main");
    home.write("code/parser/main.rs", &before.replace(OLD, NEW));
    pi(&home, FIRST, 0, &[Step::Write("main.rs", FILE)]);
    let edit = [Step::Edit("main.rs", OLD, NEW)];
    session(&home, ("claude", SECOND), 5, &prompted(&edit));
    let file = home
        .home
        .join(format!(".claude/projects/-x/{SECOND}.jsonl"));
    let text = std::fs::read_to_string(&file).expect("a session");
    let lines = text.lines().map(|line| {
        let mut line: Value = serde_json::from_str(line).expect("JSON");
        if line["message"]["content"][0]["type"] == "tool_result" {
            line["toolUseResult"] = json!({"originalFile": before, "userModified": false});
        }
        format!("{line}\n")
    });
    std::fs::write(&file, lines.collect::<String>()).expect("written");
    assert_eq!(blamed(&home, "main.rs"), "1--1121");
}

fn making(home: &Sandbox, commit: &str) -> (Value, Value) {
    let answer = home.json(&["commit", commit, "--json"]);
    let session = answer["call"]["session"]["id"].clone();
    (answer["evidence"].clone(), session)
}

#[test]
fn who_looked_at_a_commit_did_not_make_it() {
    let home = Sandbox::new();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    let made = committed(&home, "a.txt", "By hand alone, a line.\n").expect("a commit");
    let told = format!("[main {}] What changed\n", &made[..7]);
    let looked = format!("[{}] What changed\n", &made[..7]);
    let look = "git log -1 --format='[%h] %s' # last commit";
    pi(&home, FIRST, 40, &[Step::Run(look, &looked)]);
    assert_eq!(making(&home, &made), (Value::Null, Value::Null));
    let search = "sessionary search 'git commit'";
    pi(
        &home,
        FIRST,
        40,
        &[Step::Run(look, &looked), Step::Run(search, &told)],
    );
    pi(
        &home,
        SECOND,
        25,
        &[Step::Run("git commit -m 'What changed'", &told)],
    );
    let recorded = (Value::from("recorded"), Value::from(SECOND));
    assert_eq!(making(&home, &made), recorded);
}

#[test]
fn who_was_shown_an_earlier_commit_did_not_make_it() {
    let home = Sandbox::new();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    let made = committed(&home, "a.txt", "By hand alone, a line.\n").expect("a commit");
    let shown = format!("{} What changed\n", &made[..7]);
    let parent = format!("abc1234 Next\n{}\n", &made[..7]);
    let show = "git commit -q -m x && git log -1 --oneline";
    let tried = "git commit --dry-run -q && git log -1 --oneline";
    let noted = format!("cat NOTES; {show}");
    let parents = "git commit -q -m x && git log -1 --format='%h %s%n%p'";
    for step in [
        Step::Run(tried, &shown),
        Step::Fails(&noted, &shown),
        Step::Run(parents, &parent),
    ] {
        pi(&home, FIRST, 40, &[step]);
        assert_eq!(making(&home, &made), (Value::Null, Value::Null));
        pi(&home, SECOND, 25, &[Step::Run(show, &shown)]);
        let recorded = (Value::from("recorded"), Value::from(SECOND));
        assert_eq!(making(&home, &made), recorded);
        pi(&home, SECOND, 25, &[]);
    }
}

#[test]
fn a_folder_that_is_gone_is_of_its_own_repository() {
    let remote = "git@github.com:ada/boat.git";
    for (its, expected) in [
        ("git@github.com:eve/unrelated.git", Value::Null),
        (remote, Value::from(FIRST)),
    ] {
        let home = Sandbox::new();
        let Some(_) = git(&home, &["init", "-q"]) else {
            return;
        };
        git(&home, &["remote", "add", "origin", remote]).expect("a remote");
        let made = committed(&home, "main.rs", FILE).expect("a commit");
        let steps = prompted(&[Step::Write("main.rs", FILE)]);
        Session {
            agent: "codex",
            id: FIRST,
            cwd: "gone/other",
            minute: 0,
            steps: &steps,
        }
        .write(&home);
        let mut lines = records(&home, FIRST);
        lines[0]["payload"]["git"] = json!({"repository_url": its});
        write_records(&home, FIRST, &lines);
        assert_eq!(making(&home, &made).1, expected, "{its}");
    }
}

/// Where Claude Code makes work trees (HexRaysSA/ida-hcli, 0/full.jsonl, 2.1.260), which it
/// removes, and others (entireio/cli). The repository has no remote.
#[test]
fn a_work_tree_that_is_gone_is_of_the_repository_around_it() {
    for (folder, expected) in [
        (".claude/worktrees/mast", Value::from(FIRST)),
        (".worktrees/mast", Value::from(FIRST)),
        (".claude/worktrees", Value::Null),
        (".claude/worktrees/mast/oars", Value::Null),
        ("vendor/mast", Value::Null),
    ] {
        let home = Sandbox::new();
        let Some(_) = git(&home, &["init", "-q"]) else {
            return;
        };
        let made = committed(&home, "main.rs", FILE).expect("a commit");
        let gone = home.home.join("code/parser").join(folder);
        let steps = prompted(&[Step::Write("main.rs", FILE)]);
        Session {
            agent: "codex",
            id: FIRST,
            cwd: "gone",
            minute: 0,
            steps: &steps,
        }
        .write(&home);
        let mut lines = records(&home, FIRST);
        lines[0]["payload"]["cwd"] = json!(gone);
        write_records(&home, FIRST, &lines);
        assert_eq!(making(&home, &made).1, expected, "{folder}");
    }
}

#[test]
fn a_call_runs_where_its_turn_does() {
    let home = Sandbox::new();
    for folder in ["parser", "wt"] {
        home.write(&format!("code/{folder}/m.rs"), FILE);
    }
    codex(&home, FIRST, 0, &[Step::Write("m.rs", FILE)]);
    let mut lines = records(&home, FIRST);
    let cwd = home.home.join("code/wt");
    let turn = json!({"timestamp": "2026-01-02T09:00:00.000Z", "type": "turn_context",
        "payload": {"turn_id": "t", "cwd": cwd, "model": "gpt-5.5"}});
    lines.insert(1, turn);
    write_records(&home, FIRST, &lines);
    assert_eq!(blamed(&home, "m.rs"), "-----");
    assert_eq!(blamed(&home, "../wt/m.rs"), "11111");
    assert_eq!(touching(&home, "m.rs"), [""; 0]);
    assert_eq!(touching(&home, "../wt/m.rs"), [FIRST]);
    let home = Sandbox::new();
    home.write("code/parser/m.rs", FILE);
    let path = home.home.join("code/parser/m.rs");
    let path = path.to_str().expect("UTF-8");
    pi(&home, FIRST, 0, &[Step::Write(path, FILE)]);
    let file = home
        .home
        .join(format!(".pi/agent/sessions/--x--/{FIRST}.jsonl"));
    let lines = std::fs::read_to_string(&file).expect("a session");
    std::fs::write(&file, lines.replace(path, "~/code/parser/m.rs")).expect("written");
    assert_eq!(blamed(&home, "m.rs"), "11111");
    assert_eq!(touching(&home, "m.rs"), [FIRST]);
}

#[test]
fn what_a_file_was_moved_over_is_nobodys() {
    let patch = |old: &str| {
        format!(
            "apply_patch <<'EOF'\n*** Begin Patch\n*** Update File: a.rs\n*** Move to: b.rs\n@@\n\
             {old}*** End Patch\nEOF"
        )
    };
    let home = Sandbox::new();
    home.write("code/parser/b.rs", &format!("// Another file.\n{FILE}"));
    pi(&home, FIRST, 0, &[Step::Write("b.rs", FILE)]);
    let moved = patch(" // Another file.\n");
    codex(&home, SECOND, 5, &[Step::Run(&moved, DONE)]);
    assert_eq!(blamed(&home, "b.rs"), "------");
    // What failed moved nothing.
    let home = Sandbox::new();
    home.write("code/parser/b.rs", FILE);
    pi(&home, FIRST, 0, &[Step::Write("a.rs", FILE)]);
    let moved = patch("-not there\n+x\n");
    codex(
        &home,
        SECOND,
        5,
        &[Step::Fails(&moved, "Failed to find expected lines")],
    );
    assert_eq!(blamed(&home, "b.rs"), "-----");
    // By commits, after that of nine o'clock.
    let home = Sandbox::new();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    pi(&home, FIRST, 0, &[Step::Write("b.rs", FILE)]);
    home.write("code/parser/a.rs", &format!("{FILE}// By hand.\n"));
    committed(&home, "b.rs", FILE).expect("a commit");
    for arguments in [["rm", "-q", "b.rs"], ["mv", "a.rs", "b.rs"]] {
        git(&home, &arguments).expect("done");
        git(&home, &["commit", "-qm", "On"]).expect("a commit");
    }
    assert_eq!(blamed(&home, "b.rs"), "------");
}

#[test]
fn a_file_that_was_moved_away_and_back_keeps_its_writers() {
    let home = Sandbox::new();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    pi(&home, FIRST, 0, &[Step::Write("a.rs", FILE)]);
    committed(&home, "a.rs", FILE).expect("a commit");
    let before = blamed(&home, "a.rs");
    assert!(before.chars().any(|of| of != '-'), "{before}");
    for names in [["a.rs", "b.rs"], ["b.rs", "a.rs"]] {
        git(&home, &["mv", names[0], names[1]]).expect("moved");
        git(&home, &["commit", "-qm", "On"]).expect("a commit");
    }
    assert_eq!(blamed(&home, "a.rs"), before);
}

#[test]
fn what_a_fork_of_codex_repeats_at_other_times_is_its_origins() {
    let home = Sandbox::new();
    home.write("code/parser/m.rs", &FILE.replace(OLD, NEW));
    let steps = [Step::Write("m.rs", FILE), Step::Edit("m.rs", OLD, NEW)];
    codex(&home, FIRST, 0, &steps);
    assert_eq!(blamed(&home, "m.rs"), "111111");
    let lines = records(&home, FIRST);
    let mut fork = vec![lines[0].clone()];
    fork[0]["payload"]["id"] = json!(SECOND);
    fork[0]["payload"]["forked_from_id"] = json!(FIRST);
    fork.extend(lines.into_iter().map(|mut line| {
        line["timestamp"] = json!("2026-01-02T09:30:00.000Z");
        line
    }));
    write_records(&home, SECOND, &fork);
    assert_eq!(blamed(&home, "m.rs"), "111111");
}

#[test]
fn a_clone_without_all_objects_knows_who_made_a_commit() {
    let mut home = Sandbox::new();
    let Some(_) = git(&home, &["init", "-q"]) else {
        return;
    };
    committed(&home, "m.rs", FILE).expect("a commit");
    let made = committed(&home, "m.rs", &FILE.replace(OLD, NEW)).expect("a commit");
    git(&home, &["config", "uploadpack.allowFilter", "true"]).expect("set");
    let told = format!("[main {}] What changed\n", &made[..7]);
    pi(
        &home,
        FIRST,
        25,
        &[Step::Run("git commit -am 'What changed'", &told)],
    );
    let from = format!("file://{}", home.cwd.display());
    for (option, to) in [("--depth=1", "shallow"), ("--filter=blob:none", "partial")] {
        let path = home.home.join("code").join(to);
        let into = path.to_str().expect("UTF-8");
        git(&home, &["clone", "-q", option, &from, into]).expect("a clone");
        home.cwd = path;
        let answer = home.json(&["commit", &made, "--json"]);
        assert_eq!(answer["call"]["session"]["id"], FIRST, "{to}: {answer}");
        assert_eq!(answer["lines"], 0, "{to}");
    }
}
