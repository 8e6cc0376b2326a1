//! What does the command make of what is typed all day: letters, other names, slips?

use std::path::Path;

use insta::assert_snapshot;
use serde_json::Value;

use crate::cli::home;
use crate::sandbox::Sandbox;

#[test]
fn letters_and_other_names() {
    let home = home();
    for (short, long) in [
        (
            &["ls", "-an", "2"][..],
            &["list", "--all", "--limit", "2"][..],
        ),
        (
            &["ls", "-aA", "clido"],
            &["list", "--all", "--agent", "clido"],
        ),
        (
            &["ls", "-p", "docs", "-r"],
            &["list", "--project", "docs", "--reverse"],
        ),
        (
            &["ls", "-ae", "-S", "size"],
            &["list", "--all", "--errors", "--sort", "size"],
        ),
        (
            &["ls", "-as", "2d", "-u", "1h", "-j"],
            &["list", "--all", "--since", "2d", "--until", "1h", "--json"],
        ),
        (
            &["search", "-HNx", "-n1", "-C1", "tokenizer"],
            &[
                "search",
                "--here",
                "--newest",
                "--exact",
                "--limit",
                "1",
                "--context",
                "1",
                "tokenizer",
            ],
        ),
        (&["search", "-a", "tokenizer"], &["search", "tokenizer"]),
        (&["show", "last:START"], &["show", "last:a1"]),
        (&["config"], &["config", "show"]),
        (&["archive"], &["archive", "status"]),
        (&["show", "last", "-a"], &["show", "last", "--all"]),
        (
            &["show", "last:d1", "-C", "1"],
            &["show", "last:d1", "--context", "1"],
        ),
        (
            &["show", "last", "-b", "d1"],
            &["show", "last", "--branch", "d1"],
        ),
        (
            &["rm", "019b", "--dry-run"],
            &["delete", "019b", "--dry-run"],
        ),
    ] {
        let said = home.run(short);
        assert_eq!(said, home.run(long), "{short:?}");
        assert!(!said.contains("unexpected"), "{said}");
    }
}

#[test]
fn a_slip_is_understood() {
    let home = Sandbox::new();
    assert_snapshot!(home.run(&["serach", "tokenizer bug"]), @r"
    --- stderr
    error: no command is called `serach`
    hint: did you mean `sessionary search 'tokenizer bug'`?
    hint: to search for it: `sessionary search serach 'tokenizer bug'`
    hint: `sessionary --help` lists the commands
    --- exit Some(2)
    ");
    assert_snapshot!(home.run(&["tokenizer", "bug"]), @r"
    --- stderr
    error: no command is called `tokenizer`
    hint: to search for it: `sessionary search tokenizer bug`
    hint: `sessionary --help` lists the commands
    --- exit Some(2)
    ");
    assert_snapshot!(home.run(&["config", "shwo"]), @r"
    --- stderr
    error: no command is called `shwo`
    hint: did you mean `sessionary config show`?
    hint: `sessionary config --help` lists the commands
    --- exit Some(2)
    ");
    assert_snapshot!(home.run(&["help", "serach"]), @r"
    --- stderr
    error: no command is called `serach`
    hint: did you mean `sessionary help search`?
    hint: `sessionary --help` lists the commands
    --- exit Some(2)
    ");
    assert_snapshot!(home.run(&["man", "lsit"]), @r"
    --- stderr
    error: no command is called `lsit`
    hint: did you mean `list`?
    hint: `sessionary --help` lists them
    --- exit Some(2)
    ");
    assert_snapshot!(home.run(&["search", "lexer", "-test"]), @r"
    --- stderr
    error: `-test` is no option
    hint: to leave a word out, put -- before the query: `sessionary search -- WORDS -test`
    --- exit Some(2)
    ");
    // Nothing offers what only tests use.
    assert_snapshot!(home.run(&["list", "--widht", "3"]), @r"
    --- stderr
    error: unexpected argument '--widht' found

    Usage: sessionary list [OPTIONS]

    For more information, try '--help'.
    --- exit Some(2)
    ");
    let output = home.output(&["-j", "serach"]);
    let error: Value = serde_json::from_slice(&output.stderr).expect("JSON");
    assert_eq!(error["error"]["kind"], "usage");
    assert_eq!(error["error"]["message"], "no command is called `serach`");
    assert!(output.stdout.is_empty() && output.status.code() == Some(2));
    // What is no word at all, and what acts on a terminal.
    for rubbish in [
        "",
        " ",
        "\u{1b}[31m",
        "\u{202e}",
        "$(x)",
        "'",
        &"long ".repeat(10_000),
    ] {
        let output = home.output(&[rubbish]);
        assert_eq!(output.status.code(), Some(2), "{rubbish:?}");
        let said = String::from_utf8(output.stderr).expect("UTF-8");
        assert!(!said.contains(['\u{1b}', '\u{202e}']), "{said:?}");
    }
}

#[test]
fn last_of_nothing_is_said_with_an_entry_too() {
    let home = Sandbox::new();
    assert_eq!(home.run(&["show", "last:L1"]), home.run(&["show", "last"]));
    assert_snapshot!(home.run(&["show", "last:L1"]), @r"
    --- stderr
    error: there are no sessions in ~/code/parser
    hint: `sessionary list --all` shows every session
    --- exit Some(1)
    ");
}

#[test]
fn a_file_that_is_only_shown_is_json_where_that_was_asked_for() {
    if std::env::consts::OS != "linux" {
        return;
    }
    let home = Sandbox::new();
    let shown = home.json(&["watch", "--install", "--print", "--json"]);
    let plain = home.output(&["watch", "--install", "--print"]).stdout;
    // The file names the flags it was asked with, of which JSON is none.
    assert_eq!(shown["content"].as_str(), std::str::from_utf8(&plain).ok());
    let path = shown["path"].as_str().expect("a path");
    assert!(path.ends_with("sessionary-watch.service"), "{shown}");
    assert!(!Path::new(path).exists());
}

#[test]
fn sessions_of_subagents_are_told_apart() {
    let home = Sandbox::new();
    assert!(!home.run(&[]).contains("subagent"));
    let fixture = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agentuse/subagents/project");
    let root = format!("agentuse:{}", fixture.display());
    let of = |more: &[&str]| {
        let arguments = [&["--root", &root], more].concat();
        home.json(&arguments)["total"].as_u64().expect("a number")
    };
    let all = of(&["list", "--all", "--subagents", "--json"]);
    let below = all - of(&["list", "--all", "--json"]);
    assert!(below > 1);
    let said = home.run(&["--root", &root]);
    let first = format!("{all} sessions ({below} of subagents), ");
    assert!(said.starts_with(&first), "{said}");
}

#[test]
fn a_hint_can_be_pasted() {
    let home = home();
    for (typed, said) in [
        // A word that is left out may stand anywhere, and begin as `-h` does.
        (
            &["search", "tokenizer", "-test", "bug"][..],
            "`-test` is no option",
        ),
        (
            &["search", "-role:user", "alpha"],
            "search -- WORDS -role:user`",
        ),
        (&["search", "alpha", "-hash"], "search -- WORDS -hash`"),
        (&["search", "rounding", "--page", "2"], "--limit 0 all"),
        // What `list` takes as an option is said in the query.
        (&["search", "x", "-p", "app"], "hint: project:NAME"),
        (&["search", "x", "--until", "2w"], "hint: until:2w, or"),
        (&["search", "x", "--model=opus"], "hint: model:NAME"),
        (&["search", "x", "-e"], "hint: is:error"),
        (&["report", "-a"], "sessions of every directory count"),
        (&["find", "bug"], "did you mean `sessionary search bug`?"),
        (&["cat", "last"], "did you mean `sessionary show last`?"),
        (&["last~2"], "did you mean `sessionary show 'last~2'`?"),
        (&["019b8d10"], "did you mean `sessionary show 019b8d10`?"),
        (
            &["2026-01-05"],
            "error: no command is called `2026-01-05`\nhint: to search for it: `sessionary search 2026",
        ),
        (
            &["list", "bug"],
            "to search for it: `sessionary search bug`",
        ),
        (
            &["list", "-a", "2w"],
            "since then: `sessionary list -a --since 2w`",
        ),
        (
            &["list", "-a", "claude"],
            "of this agent: `sessionary list -a --agent claude`",
        ),
        (
            &["list", "."],
            "of this directory: `sessionary list --project .`",
        ),
        // Options of another program stand behind its command.
        (&["grep", "-i", "bug"], "did you mean `sessionary search`?"),
        (&["list", "-A", "claude-code"], "did you mean `claude`?"),
        (&["list", "-A", "gemni"], "did you mean `gemini`?"),
        (&["list", "-s", "yesteday"], "did you mean yesterday?"),
        // Of two names of one command one is enough; and who types --all searches for nothing.
        (&["lst", "--all"], "did you mean `sessionary list --all`?"),
        (&["remove", "x"], "did you mean `sessionary delete x`?"),
        (&["cost"], "`sessionary report --by month`"),
        (&["Usage"], "`sessionary report --by month`"),
        // A command of a command, with what was typed behind it.
        (&["restore", "x"], "`sessionary archive restore x`?"),
        (&["versions", "x"], "`sessionary archive versions x`?"),
        (&["forget"], "`sessionary roots forget`?"),
        (
            &["restore", "x"],
            "trash: `sessionary delete --restore SESSION`",
        ),
        (
            &["undelete", "x"],
            "trash: `sessionary delete --restore SESSION`",
        ),
        (&["undo"], "`sessionary archive restore SESSION`"),
        (
            &["trash", "x"],
            "trash: `sessionary delete --restore SESSION`",
        ),
        (
            &["path", "to", "it"],
            "to search for it: `sessionary search path to it`",
        ),
        (&["version"], "`sessionary --version`"),
        (&["pin", "last"], "`sessionary pick`, then Alt-P"),
    ] {
        let refused = home.run(typed);
        assert!(refused.contains(said), "{refused}");
        // What is known is no slip of the pen.
        for guess in ["resume", "verify"] {
            let guessed = refused.contains(&format!("mean `sessionary {guess}"));
            assert!(!guessed, "{refused}");
        }
        assert!(refused.contains("exit Some(2)"), "{refused}");
        assert!(!refused.contains("sessionary ls"), "{refused}");
        // The rest of a search is nothing that `config path` takes.
        assert!(!refused.contains("config path to"), "{refused}");
        assert!(!refused.contains("search lst"), "{refused}");
        // Where it is known what was meant, it is no word to search for.
        for known in ["cat", "find", "last", "019b8d10"] {
            let search = format!("search {known}");
            assert!(!refused.contains(&search), "{refused}");
        }
    }
    // Letters of options are no word.
    assert!(home.run(&["search", "-HN", "-h"]).contains("Usage:"));
    home.write(
        ".pi/agent/sessions/--w--/touch.jsonl",
        concat!(
            r#"{"type":"session","version":3,"id":"$(touch x)","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#, "\n",
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:00.000Z","message":{"role":"user","content":"x"}}"#, "\n",
        ),
    );
    let refused = home.run(&["show", "$(touch x):nope"]);
    assert!(
        refused.contains("tree '$(touch x)' --filter all"),
        "{refused}"
    );
}
