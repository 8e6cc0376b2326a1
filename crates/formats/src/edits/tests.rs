use std::sync::Arc;

use serde_json::{Value, json};

use super::*;

fn record(value: &Value) -> Vec<u8> {
    value.to_string().into_bytes()
}

fn replaced(old: &str, new: &str, all: bool) -> Change {
    let (old, new) = (old.to_owned(), new.to_owned());
    Change::Replace { old, new, all }
}

/// Id, path and change of each.
fn told(value: &Value) -> Vec<(Option<String>, String, Change)> {
    let all = edits(&record(value)).into_iter();
    all.map(|edit| (edit.call_id, edit.path, edit.change))
        .collect()
}

/// Every agent's place for calls, with what its tool for edits is called and given.
#[test]
fn the_same_edit_of_every_agent() {
    let pi = json!({"path": "a.rs", "oldText": "one", "newText": "two"});
    let claude = json!({"file_path": "a.rs", "old_string": "one", "new_string": "two"});
    let opencode = json!({"filePath": "a.rs", "oldString": "one", "newString": "two"});
    let editor = json!({"command": "str_replace", "path": "a.rs", "old_str": "one",
        "new_str": "two"});
    let records = [
        json!({"message": {"content": [
            {"type": "toolCall", "id": "c", "name": "edit", "arguments": pi}]}}),
        json!({"message": {"content": [
            {"type": "tool_use", "id": "c", "name": "Edit", "input": claude}]}}),
        json!({"type": "assistant_message", "content": [
            {"type": "tool_use", "id": "c", "name": "Edit", "input": claude}]}),
        json!({"message": {"parts": [
            {"functionCall": {"id": "c", "name": "edit", "args": claude}}]}}),
        json!({"type": "gemini", "toolCalls": [{"id": "c", "name": "replace", "args": claude}]}),
        json!({"data": {"toolRequests": [
            {"toolCallId": "c", "name": "str_replace_editor", "arguments": editor}]}}),
        json!({"payload": {"type": "function_call", "call_id": "c", "name": "edit",
            "arguments": pi.to_string()}}),
        json!({"type": "tool", "callID": "c", "tool": "edit", "state": {"input": opencode}}),
        json!({"table": "part", "row": {"data": {"type": "tool", "callID": "c", "tool": "edit",
            "state": {"input": opencode}}}}),
        json!({"row": {"data": {"content": [{"type": "tool", "id": "c", "name": "edit",
            "state": {"input": opencode}}]}}}),
    ];
    let expected = (
        Some("c".to_owned()),
        "a.rs".to_owned(),
        replaced("one", "two", false),
    );
    for value in records {
        assert_eq!(told(&value), std::slice::from_ref(&expected), "{value}");
    }
}

fn called(tool: &str, arguments: &Value) -> Value {
    let call = json!({"type": "toolCall", "id": "c", "name": tool, "arguments": arguments});
    json!({"message": {"content": [call]}})
}

fn changes(tool: &str, arguments: &Value) -> Vec<Change> {
    let told = told(&called(tool, arguments)).into_iter();
    told.map(|(_, _, change)| change).collect()
}

#[test]
fn what_tools_are_given() {
    let written = [Change::Write("text\n".to_owned())];
    assert_eq!(
        changes("write", &json!({"path": "a", "content": "text\n"})),
        written
    );
    assert_eq!(
        changes("create", &json!({"path": "a", "file_text": "text\n"})),
        written
    );
    let all = json!({"file_path": "a", "old_string": "1", "new_string": "2", "replace_all": true});
    assert_eq!(changes("Edit", &all), [replaced("1", "2", true)]);
    let several = json!([{"oldText": "1", "newText": "2"}, {"oldText": "3", "newText": "4"}]);
    let both = [replaced("1", "2", false), replaced("3", "4", false)];
    assert_eq!(
        changes("edit", &json!({"path": "a", "edits": several})),
        both
    );
    let packed = json!({"path": "a", "edits": several.to_string()});
    assert_eq!(changes("edit", &packed), both);
    // What is not understood is no edit of another kind.
    assert_eq!(
        changes("edit", &json!({"path": "a", "patch": "x"})),
        [Change::Unknown]
    );
    assert_eq!(
        changes("NotebookEdit", &json!({"notebook_path": "a"})),
        [Change::Unknown]
    );
    assert_eq!(
        changes("edit", &json!({"oldText": "1", "newText": "2"})),
        []
    );
    assert_eq!(changes("read", &json!({"path": "a"})), []);
    let view = json!({"command": "view", "path": "a"});
    assert_eq!(changes("str_replace_editor", &view), []);
}

const PATCH: &str = "*** Begin Patch
*** Add File: new.txt
+one
+
*** Update File: old.txt
*** Move to: moved.txt
@@ fn main
 same
-before
+after

*** Delete File: gone.txt
*** End Patch
";

#[test]
fn a_patch_is_read_file_by_file() {
    let same = |text: &str| HunkLine::Same(text.to_owned());
    let hunk = vec![
        same("same"),
        HunkLine::Old("before".to_owned()),
        HunkLine::New("after".to_owned()),
        same(""),
    ];
    let expected = [
        ("new.txt", Change::Write("one\n\n".to_owned())),
        ("old.txt", Change::Hunks(vec![hunk])),
        ("old.txt", Change::Move("moved.txt".to_owned())),
        ("gone.txt", Change::Delete),
    ];
    let shell = json!({"payload": {"type": "function_call", "call_id": "c", "name": "shell",
        "arguments": json!({"command": ["bash", "-lc", format!("apply_patch <<'EOF'\n{PATCH}EOF")],
            "workdir": "/home/ada"}).to_string()}});
    let custom = json!({"type": "custom_tool_call", "call_id": "c", "name": "apply_patch",
        "input": PATCH});
    for (value, by_command) in [(custom, false), (shell, true)] {
        let all = edits(&record(&value));
        let found: Vec<_> = all
            .iter()
            .map(|it| (&*it.path, it.change.clone()))
            .collect();
        assert_eq!(found, expected);
        assert!(
            all.iter()
                .all(|edit| edit.by_command.is_some() == by_command)
        );
        let folder = by_command.then_some("/home/ada");
        assert_eq!(all[0].folder.as_deref(), folder);
    }
    // A patch without its end was not made.
    let torn = json!({"input": PATCH.replace("*** End Patch\n", "")});
    assert_eq!(changes("apply_patch", &torn), []);
}

#[test]
fn commands_of_calls_and_of_people() {
    let said = |value: &Value| -> Vec<String> {
        let all = commands(&record(value)).into_iter();
        all.map(|command| command.text).collect()
    };
    assert_eq!(
        said(&called("bash", &json!({"command": "ls -l"}))),
        ["ls -l"]
    );
    let typed = json!({"message": {"role": "bashExecution", "command": "make"}});
    assert_eq!(said(&typed), ["make"]);
    let editor = called(
        "str_replace_editor",
        &json!({"command": "view", "path": "a"}),
    );
    assert_eq!(said(&editor), [""; 0]);
}

#[test]
fn what_is_recorded_beside_answers() {
    let hunk = vec![
        HunkLine::Same("a".to_owned()),
        HunkLine::Old("b".to_owned()),
        HunkLine::New("c".to_owned()),
    ];
    let unified = "--- a.rs\n+++ a.rs\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\\ No newline at end of file\n";
    let claude = json!({"message": {"content": [{"type": "tool_result", "tool_use_id": "c"}]},
        "toolUseResult": {"originalFile": "a\nb", "userModified": true, "type": "update",
            "structuredPatch": [{"lines": [" a", "-b", "+c", "\\ No newline"]}]}});
    let pi =
        json!({"message": {"toolCallId": "c", "details": {"diff": " 1 a\n-2 b\n+2 c\n   ..."}}});
    let shown = json!({"fileDiff": unified, "originalContent": "a\nb", "isNewFile": false,
        "diffStat": {"user_added_lines": 0}});
    let gemini = json!({"toolCalls": [{"id": "c", "resultDisplay": shown}]});
    let qwen = json!({"toolCallResult": {"callId": "c", "resultDisplay": shown}});
    let copilot = json!({"data": {"toolCallId": "c", "result": {"detailedContent": unified}}});
    let opencode = json!({"type": "tool", "callID": "c", "state": {"metadata": {
        "diff": unified, "filediff": {"before": "a\nb"}, "exists": true}}});
    let all = [claude, pi, gemini, qwen, copilot, opencode];
    for (number, value) in all.iter().enumerate() {
        let found = outcomes(&record(value));
        let [outcome] = &*found else {
            panic!("{value}: {found:?}");
        };
        assert_eq!(outcome.call_id.as_deref(), Some("c"), "{value}");
        assert_eq!(
            outcome.hunks.as_deref(),
            Some(&[hunk.clone()][..]),
            "{value}"
        );
        assert_eq!(outcome.is_altered, number == 0, "{value}");
        // pi and Copilot record only the lines that changed.
        let is_whole = ![1, 4].contains(&number);
        assert_eq!(outcome.before.is_some(), is_whole, "{value}");
        assert_eq!(outcome.is_new, is_whole.then_some(false), "{value}");
    }
    // Of a patch of several files it is not known which is meant.
    let two = format!("{unified}{unified}");
    let copilot = json!({"data": {"toolCallId": "c", "result": {"detailedContent": two}}});
    assert_eq!(outcomes(&record(&copilot))[0].hunks, None);
    let files = |count: usize| {
        let files = vec![json!({"filePath": "/w/a"}); count];
        let opencode = json!({"type": "tool", "callID": "c", "state": {"metadata": {
            "diff": unified, "files": files}}});
        outcomes(&record(&opencode))[0].hunks.is_some()
    };
    assert_eq!([0, 1, 2].map(files), [true, true, false]);
}

#[test]
fn a_line_of_a_change_holds_no_other_line() {
    let claude = json!({"message": {"content": [{"type": "tool_result", "tool_use_id": "c"}]},
        "toolUseResult": {"structuredPatch": [{"lines": ["+a\nb\nc"]}]}});
    assert_eq!(outcomes(&record(&claude))[0].hunks, None);
}

/// What a command applies, whether its end tells of it, and where.
fn patched(command: &str) -> Vec<(String, bool)> {
    let value = called("bash", &json!({"command": command, "workdir": "/w"}));
    let all = edits(&record(&value)).into_iter();
    let told = all.map(|edit| {
        let by = edit.by_command.expect("by a command");
        let folder = edit.folder.expect("a folder");
        (format!("{folder}: {}", edit.path), by.fails_with_them)
    });
    told.collect()
}

#[test]
fn patches_that_a_command_applies() {
    let add = |name: &str| format!("*** Begin Patch\n*** Add File: {name}\n+one\n*** End Patch\n");
    let (a, b) = (add("a"), add("b"));
    for (command, expected) in [
        (
            format!("apply_patch <<'EOF'\n{a}EOF"),
            &[("/w: a", true)][..],
        ),
        (
            format!("timeout 20 /usr/bin/apply_patch <<'EOF'\n{a}EOF"),
            &[("/w: a", true)],
        ),
        (
            format!("{{ cd x; apply_patch <<'EOF'\n{a}EOF\n}}"),
            &[("/w/x: a", false)],
        ),
        (format!("grep apply_patch <<'EOF'\n{a}EOF"), &[]),
        (format!("apply_patch '{a}'"), &[("/w: a", true)]),
        (format!("apply_patch {a}"), &[("/w: a", true)]),
        (
            format!("cat <<EOF | apply_patch\n{a}EOF\n"),
            &[("/w: a", true)],
        ),
        (
            format!("cd x && apply_patch <<EOF\n{a}EOF\n"),
            &[("/w/x: a", true)],
        ),
        (
            format!("apply_patch <<EOF\n{a}EOF\necho done"),
            &[("/w: a", false)],
        ),
        (
            format!("apply_patch <<EOF || echo no\n{a}EOF"),
            &[("/w: a", false)],
        ),
        (
            format!("true || apply_patch <<EOF\n{a}EOF"),
            &[("/w: a", false)],
        ),
        (
            format!("apply_patch <<EOF && make\n{a}EOF\n"),
            &[("/w: a", true)],
        ),
        (
            format!("apply_patch <<EOF\n{a}EOF\ncd x; apply_patch <<'E F'\n{b}E F\n"),
            &[("/w: a", false), ("/w/x: b", false)],
        ),
        (format!("cat > apply_patch.md <<EOF\n{a}EOF"), &[]),
        (format!("cat <<EOF > x\napply_patch <<E\n{a}E\nEOF"), &[]),
        (format!("cd \"$X\" && apply_patch <<EOF\n{a}EOF"), &[]),
        (format!("echo 'apply_patch <<EOF\n{a}EOF'"), &[]),
    ] {
        let expected: Vec<(String, bool)> = expected
            .iter()
            .map(|(told, fails)| ((*told).to_owned(), *fails))
            .collect();
        assert_eq!(patched(&command), expected, "{command}");
    }
}

#[test]
fn where_a_patch_is_applied_and_what_stands_in_it() {
    let add = |name: &str| format!("*** Begin Patch\n*** Add File: {name}\n+one\n*** End Patch\n");
    let (a, b, c) = (add("a"), add("b"), add("/v/c"));
    let (a_eof, b_eof) = (format!("<<'EOF'\n{a}EOF\n"), format!("<<'EOF'\n{b}EOF\n"));
    let written = format!("cat > p {a_eof}");
    for (command, expected) in [
        // In brackets.
        (
            format!("(cd x && apply_patch {a_eof})"),
            &[("/w/x: a", true)][..],
        ),
        (
            format!("(cd x; apply_patch {a_eof}) && apply_patch {b_eof}"),
            &[("/w/x: a", true), ("/w: b", true)],
        ),
        (
            format!("(cd \"$X\"; make)\napply_patch {a_eof}"),
            &[("/w: a", true)],
        ),
        (format!("(apply_patch '{a}') || true"), &[("/w: a", false)]),
        (
            format!("true || (false && apply_patch '{a}')"),
            &[("/w: a", false)],
        ),
        (format!("! apply_patch '{a}'"), &[("/w: a", false)]),
        (
            format!("cat <<E | (cd x && apply_patch)\n{a}E\n"),
            &[("/w/x: a", true)],
        ),
        (
            format!("for i in 1 2; do\n(cd x && apply_patch '{a}')\ndone"),
            &[("/w/x: a", false)],
        ),
        (
            format!("x=$(cd x && apply_patch {a_eof})\necho \"$x\""),
            &[("/w/x: a", false)],
        ),
        (
            format!("echo \"$(apply_patch \"{a}\")\""),
            &[("/w: a", false)],
        ),
        // As a word, and from a file.
        (format!("apply_patch <<< '{a}'"), &[("/w: a", true)]),
        (format!("apply_patch <<<\"{a}\""), &[("/w: a", true)]),
        (format!("{written}apply_patch < p"), &[("/w: a", true)]),
        (
            format!("cat > /p <<'E' && cd x && apply_patch < /p\n{a}E"),
            &[("/w/x: a", true)],
        ),
        (format!("{written}sed -i s/a/b/ p\napply_patch < p"), &[]),
        (format!("{written}(cd x && apply_patch < p)"), &[]),
        (format!("test -f p || {written}apply_patch < p"), &[]),
        (format!("cat >> p {a_eof}apply_patch < p"), &[]),
        (format!("{written}apply_patch < \"$p\""), &[]),
        (format!("apply_patch < <(sed s/a/b/ {a_eof})"), &[]),
        (format!("env -C x apply_patch {a_eof}"), &[]),
        // In folders that nobody knows, or that are left.
        (
            format!("cd \"$X\" && apply_patch '{c}'"),
            &[("/w: /v/c", true)],
        ),
        (
            format!("cd \"$X\" && apply_patch {a_eof}cd /v && apply_patch '{b}'"),
            &[("/v: b", false)],
        ),
        (format!("cd x | cat; apply_patch '{a}'"), &[("/w: a", true)]),
        (
            format!("f() {{ cd x; }}\napply_patch '{a}'"),
            &[("/w: a", true)],
        ),
        (
            format!("cd x || exit 1; apply_patch '{a}'"),
            &[("/w/x: a", true)],
        ),
        (format!("cd x || apply_patch '{a}'"), &[]),
        (
            format!("test -d x && cd x && apply_patch '{a}'"),
            &[("/w/x: a", true)],
        ),
        (format!("test -d x && cd x; apply_patch '{a}'"), &[]),
        (
            format!("if test -d x; then cd x; fi\napply_patch '{a}'"),
            &[],
        ),
        (
            format!("while read i; do cd x; apply_patch '{a}'; done"),
            &[],
        ),
    ] {
        let expected = expected.iter();
        let expected: Vec<(String, bool)> = expected
            .map(|(told, fails)| ((*told).to_owned(), *fails))
            .collect();
        assert_eq!(patched(&command), expected, "{command}");
    }
    // What nobody knows may have said that it was applied, too.
    for other in ["apply_patch \"$P\"; ", "x=$(apply_patch < p); "] {
        let command = json!({"command": format!("{other}apply_patch '{b}'")});
        let all = edits(&record(&called("bash", &command)));
        let by = all[0].by_command.expect("by a command");
        assert_eq!((all.len(), by.patches), (1, 2), "{other}");
    }
}

#[test]
fn what_hides_whether_and_where_a_patch_is_applied() {
    let a = "*** Begin Patch\n*** Add File: a\n+one\n*** End Patch\n";
    for (command, expected) in [
        // It ends the command, or may.
        ("grep -q x a && exit 0\nPATCH", "/w: a false"),
        ("if grep -q x a; then exit; fi\nPATCH", "/w: a false"),
        ("exec true; PATCH", "/w: a false"),
        ("set -n; PATCH", "/w: a false"),
        ("trap 'exit 0' EXIT; PATCH", "/w: a false"),
        ("set -euo pipefail; cd x || exit; PATCH", "/w/x: a true"),
        // In place of something else, in the background, in a function.
        ("grep -q x a || cat <<TEXT | apply_patch", "/w: a false"),
        ("(PATCH &)", "/w: a false"),
        ("f()\n(PATCH\n)", ""),
        ("if false\nthen\n(apply_patch <<TEXT) fi", "/w: a false"),
        ("f()\n{\nPATCH\n}\ncd x && f", ""),
        // By programs that may say no.
        ("rg -q x a && cd x; PATCH", ""),
        ("rg -q x a && cd x && PATCH", "/w/x: a true"),
        ("(test -d x) && cd x; PATCH", ""),
        ("{ test -d x; } && cd x; PATCH", ""),
        ("mkdir -p x && cd x; PATCH", "/w/x: a true"),
        ("git mv a b && cd x; PATCH", ""),
        ("until cd x; do :; done\nPATCH", ""),
        // By what is not called `cd`.
        ("builtin cd x && PATCH", ""),
        ("command cd x && PATCH", ""),
        ("eval 'cd x' && PATCH", ""),
        (". ./env.sh && PATCH", ""),
        ("f() { cd x; }\nf && PATCH", ""),
        ("f() { cd x; }\ny=$(f && PATCH)", ""),
        // In a `case`.
        ("case $1 in (a) true;; (b) cd x;; esac\nPATCH", ""),
        ("case $1 in\na)\ncd x\n;;\nb)\nPATCH\n;;\nesac", ""),
        ("(case $1 in\na)\n;;\nesac\ncd /v)\nPATCH", ""),
        ("case $1 in a) b;; esac\nPATCH", "/w: a true"),
        // The guard of a `cd`.
        ("cd x || { echo no; exit 1; }\nPATCH", "/w/x: a true"),
        ("cd x || { echo no; exit 1; } | tee log\nPATCH", ""),
        ("cd x || { test y && exit 1; }\nPATCH", ""),
        // By another input, or elsewhere.
        ("apply_patch < p <<TEXT", "/w: a true"),
        ("apply_patch <<'EOF' < p\nBODY", ""),
        ("apply_patch <<'EOF' <&3\nBODY", ""),
        ("apply_patch 3<<TEXT", ""),
        ("sudo docker exec -i b apply_patch <<TEXT", ""),
        ("sudo -u b nice -n 5 apply_patch <<TEXT", "/w: a true"),
    ] {
        let body = format!("{a}EOF\n");
        let command = match command.split_once("<<TEXT") {
            Some((of, rest)) => format!("{of}<<'EOF'{rest}\n{body}"),
            None => command.replace("BODY", &body),
        };
        let command = command.replace("PATCH", &format!("apply_patch '{a}'"));
        let told = patched(&command).into_iter();
        let told: Vec<String> = told.map(|(at, fails)| format!("{at} {fails}")).collect();
        assert_eq!(told.concat(), expected, "{command}");
    }
}

#[test]
fn what_a_shell_may_have_changed_is_no_part_of_a_patch() {
    let new = |text: &str| vec![HunkLine::New(text.to_owned())];
    let patch = "*** Begin Patch\n*** Add File: a\n+one\n+$two\n+three\n*** Update File: b\n\
        @@\n+one\n+`two`\n@@\n+three\n@@\n+fo\\\n+ur\n*** End Patch\n";
    let said = |command: String| changes("bash", &json!({"command": command}));
    let one = [new("one"), new("`two`")].concat();
    let four = [new("fo\\"), new("ur")].concat();
    assert_eq!(
        said(format!("apply_patch <<'EOF'\n{patch}EOF")),
        [
            Change::Write("one\n$two\nthree\n".to_owned()),
            Change::Hunks(vec![one, new("three"), four]),
        ]
    );
    assert_eq!(
        said(format!("apply_patch <<EOF\n{patch}EOF")),
        [
            Change::Write("one\nthree\n".to_owned()),
            Change::Hunks(vec![new("one"), new("three")]),
        ]
    );
    for (of, open) in [
        ("File: a", "File: $A"),
        ("+one\n", "+one `\n"),
        ("$two", "$(two"),
    ] {
        let patch = patch.replacen(of, open, 1);
        assert_eq!(said(format!("apply_patch <<EOF\n{patch}EOF")), [], "{open}");
    }
}

#[test]
fn the_programs_that_a_command_runs() {
    let said = |command: &str| -> Vec<String> {
        let all = simple_commands(command).into_iter();
        all.map(|of| {
            format!(
                "{}{}",
                of.words.join(" "),
                if of.is_plain { "" } else { " ?" }
            )
        })
        .collect()
    };
    for (command, expected) in [
        ("a 'b c' \"d\\\"e\" f\\ g", &["a b c d\"e f g"][..]),
        ("a &&b||c |d;e&f", &["a", "b", "c", "d", "e", "f"]),
        ("a # b\nc#d", &["a", "c#d"]),
        ("a \\\n b", &["a b"]),
        ("a \"$b\" $(c 'd)' \"$(e)\") f; g", &["a $b $ f ?", "g"]),
        (
            "a \"$(cat <<'EOF'\n)\"it's\nEOF\n)\" b\nc",
            &["a $ b ?", "c"],
        ),
        ("a $((1 << (2 + 3))) b\nc", &["a $ b ?", "c"]),
        ("a `b \\`c\\` d` e", &["a ` e ?"]),
        ("a > b 2>&1 &> c 2> d < e >> f", &["a"]),
        ("a <<E b\nc\nE\nd", &["a b", "d"]),
        ("a <<-'E'\n\t\tc\n\tE\nd <<< e", &["a", "d"]),
        ("(cd a && b)\nc*", &["cd a", "b", "c* ?"]),
        ("a <(b c) d < <(e f) g", &["a < d g ?"]),
        (
            "a=(b c) d\n(e) f; then (g)",
            &["a= b c d ?", "e f ?", "then g ?"],
        ),
        ("a 'b", &["a b ?"]),
    ] {
        assert_eq!(said(command), expected, "{command}");
    }
    let piped = "cd /a; cat <<E|cat|cat\nb\nE\n";
    let all = simple_commands(piped);
    let [_, one, two, three] = &all[..] else {
        panic!("{all:?}");
    };
    for other in [two, three] {
        let is_same = |(a, b): (&Arc<_>, &Arc<_>)| Arc::ptr_eq(a, b);
        assert!(
            one.document
                .as_ref()
                .zip(other.document.as_ref())
                .is_some_and(is_same)
        );
        assert_eq!(
            one.folder.as_ref().unwrap().as_ptr(),
            other.folder.as_ref().unwrap().as_ptr()
        );
    }
    let loops = "while a; do ".repeat(50_000) + &"cd b; ".repeat(50_000);
    assert_eq!(simple_commands(&loops).len(), 100_000);
    let deep = "$(".repeat(100_000) + &"(\"`".repeat(100_000);
    assert!(simple_commands(&deep).len() < 100_000);
}

#[test]
fn what_a_command_fills_files_with() {
    let said = |command: &str| -> Vec<String> {
        let all = simple_commands(command);
        let fills = all.iter().filter_map(SimpleCommand::fills);
        fills
            .map(|(files, of)| format!("{}={}{}", files.join(","), of.text, of.is_literal))
            .collect()
    };
    for (command, expected) in [
        ("cat > a <<'E'\nb\nE", &["a=b\ntrue"][..]),
        ("cat <<E >> a\nb\nE", &["a=b\nfalse"]),
        ("cat <<'E' | tee -a a b > c\nd\nE", &["c,a,b=d\ntrue"]),
        (
            "echo 'a b' c >d; echo \"$e\" > f",
            &["d=a b c\ntrue", "f=$e\nfalse"],
        ),
        ("printf 'a\\nb\\n' > c", &["c=a\nb\n\ntrue"]),
        (
            "grep a b > c; sed -i s/a/b/ c; cat d > e; python <<E > f\ng\nE",
            &[],
        ),
        ("(cat <<< 'b c' > a)", &["a=b c\ntrue"]),
        ("echo a > \"$B\"; echo a 2> b", &[]),
    ] {
        assert_eq!(said(command), expected, "{command}");
    }
}
