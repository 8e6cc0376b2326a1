//! What did a command make of files, as its agent records it?

use std::collections::HashSet;

use serde_json::Value;

use super::call::items;
use super::outcome::{answered, hunks};
use super::patch::{Hunk, HunkLine};
use super::{parsed, shell};

/// What an agent records that a command made of a file: Claude Code since 2.1.269, which compares
/// the repository before and after. It is not told who did it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CommandChange {
    /// The call that ran the command.
    pub call_id: String,
    /// The file.
    pub path: String,
    /// The lines that changed.
    pub hunks: Vec<Hunk>,
}

/// What the answer in a record says of the files that its command changed. Nothing where other
/// commands changed the repository meanwhile (`shared`).
pub fn command_changes(record: &[u8]) -> Vec<CommandChange> {
    let Some(record) = parsed(record) else {
        return Vec::new();
    };
    let told = &record["toolUseResult"]["bashEditDiff"];
    let call_id = answered(&record).filter(|_| told["shared"] != true);
    let Some(call_id) = call_id else {
        return Vec::new();
    };
    let change = |file: &Value| {
        Some(CommandChange {
            call_id: call_id.to_owned(),
            path: file["filePath"].as_str()?.to_owned(),
            hunks: hunks(&file["hunks"])?,
        })
    };
    items(&told["files"]).filter_map(change).collect()
}

impl CommandChange {
    /// The lines that it brought into the file and that stand in the command, which so wrote them,
    /// whoever else changed the file meanwhile. White space and `\` in a line do not count, nor do
    /// lines that only got other white space.
    pub fn lines_in(&self, command: &str) -> Vec<&str> {
        let Some(given) = shell::given(command) else {
            return Vec::new();
        };
        // No line goes over the end of a text: a plain one is one line.
        let given: Vec<String> = given.iter().map(|text| plain(text)).collect();
        let given = given.join("\n");
        let lines = || self.hunks.iter().flatten();
        let before: HashSet<String> = lines().filter_map(HunkLine::before).map(bare).collect();
        let new = lines().filter_map(|line| match line {
            HunkLine::New(text) => Some(&**text),
            _ => None,
        });
        let is_written = |line: &&str| !before.contains(&bare(line)) && holds(&given, &plain(line));
        new.filter(is_written).collect()
    }
}

/// A text with one blank for all white space, and without `\`, which languages put before signs.
fn plain(text: &str) -> String {
    let text = text.replace("\\n", " ").replace("\\t", " ");
    let text = text.replace('\\', "");
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A line without its white space.
fn bare(line: &str) -> String {
    line.split_whitespace().collect()
}

/// Whether a text holds this one, and not as a part of longer words.
fn holds(text: &str, part: &str) -> bool {
    let is_word = |sign: Option<char>| sign.is_some_and(|it| it.is_alphanumeric() || it == '_');
    let (first, last) = (part.chars().next(), part.chars().next_back());
    let mut places = text.match_indices(part);
    first.is_some()
        && places.any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let behind = text[at + part.len()..].chars().next();
            !(is_word(first) && is_word(before) || is_word(last) && is_word(behind))
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn changed(more: &Value) -> Vec<CommandChange> {
        let hunk = json!({"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2,
            "lines": [" use std::fs;", "-let a = 1;", "+let a_name = \"x\";", "+\tuse std::fs;",
                "\\ No newline at end of file"]});
        let file = json!({"filePath": "/boat/a.rs", "hunks": [hunk]});
        let broken = json!({"filePath": "/boat/b.rs", "hunks": [{"lines": ["what?"]}]});
        let mut told = json!({"files": [file, broken], "moreFiles": 0});
        let members = told.as_object_mut().unwrap();
        members.extend(more.as_object().cloned().unwrap_or_default());
        let record = json!({"message": {"content": [{"type": "tool_result", "tool_use_id": "c"}]},
            "toolUseResult": {"bashEditDiff": told}});
        command_changes(record.to_string().as_bytes())
    }

    #[test]
    fn what_is_recorded_of_a_command_and_stands_in_it() {
        assert_eq!(changed(&json!({"shared": true})), []);
        let all = changed(&json!({}));
        let [change] = &*all else {
            panic!("{all:?}");
        };
        assert_eq!((&*change.call_id, &*change.path), ("c", "/boat/a.rs"));
        for (command, is) in [
            ("sed -i 's/let a = 1;/let a_name = \"x\";/' a.rs", true),
            (
                "python3 -c 'w(\"use\\n  let a_name = \\\"x\\\";\\n\")'",
                true,
            ),
            (
                "cat > /tmp/x.py <<'E'\nlet  a_name = \"x\";\nE\npython3 /tmp/x.py",
                true,
            ),
            ("eval \"echo 'let a_name = \\\"x\\\";' >> a.rs\"", true),
            ("x 'outlet a_name = \"x\";'", false),
            ("x let b_name", false),
            ("x 'let a_name' '= \"x\";'", false),
            ("rg 'let a_name = \"x\";'", false),
            // What is merely printed.
            ("make; echo 'let a_name = \"x\";'", false),
            ("make && printf '%s' 'let a_name = \"x\";' >&2", false),
            ("cat <<'E'\nlet a_name = \"x\";\nE\nmake", false),
            ("bash -c \"echo 'let a_name = \\\"x\\\";'\"; make", false),
            ("echo \"$(echo 'let a_name = \"x\";')\"; make", false),
            (
                "git commit -m \"$(cat <<'E'\nlet a_name = \"x\";\nE\n)\"; make",
                false,
            ),
            ("echo 'let a_name = \"x\";' | tee -a a.rs", true),
            ("{ echo 'let a_name = \"x\";'; echo; } >> a.rs", true),
            ("{ echo 'let a_name = \"x\";'; echo; } >&2; make", false),
            ("bash -c \"echo 'let a_name = \\\"x\\\";'\" >> a.rs", true),
            (
                "python3 -c \"$(cat <<'E'\nw('let a_name = \"x\";')\nE\n)\"",
                true,
            ),
            ("git stash pop; x 'let a_name = \"x\";'", false),
            ("x \"$(git pull)\" 'let a_name = \"x\";'", false),
            ("sh -c 'gh pr checkout 1'; x 'let a_name = \"x\";'", false),
            (
                "git show HEAD~3:a.rs > a.rs; x 'let a_name = \"x\";'",
                false,
            ),
            ("git diff >/dev/null; x 'let a_name = \"x\";'", true),
            ("git -C y commit -m 'let a_name = \"x\";'", false),
        ] {
            let expected: &[&str] = if is { &["let a_name = \"x\";"] } else { &[] };
            assert_eq!(change.lines_in(command), expected, "{command}");
        }
    }

    /// The line is made plain once, not once for each word.
    #[test]
    fn a_command_of_many_words_that_changed_many_lines() {
        let lines = (0..400).map(|at| HunkLine::New(format!("let sail_{at} = rig({at});")));
        let change = CommandChange {
            call_id: "c".to_owned(),
            path: "a.rs".to_owned(),
            hunks: vec![lines.collect()],
        };
        let words: Vec<String> = (0..5000).map(|at| format!("{at}.rs")).collect();
        let written = change.lines_in(&format!("fmt 'let sail_7 = rig(7);' {}", words.join(" ")));
        assert_eq!(written, ["let sail_7 = rig(7);"]);
    }
}
