//! What does the command print? Snapshots of every verb over a small home.

use std::fs;

use insta::assert_snapshot;
use serde_json::Value;

use crate::sandbox::Sandbox;

const PARSER: &str = ".pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl";
const DOCS: &str = ".pi/agent/sessions/--code-docs--/2026-01-04T09-00-00-000Z_0b.jsonl";
const TORN: &str = ".pi/agent/sessions/--code-parser--/torn.jsonl";
const CLIDO: &str = "clido/sessions/_code_parser/f47ac10b-58cc-4372-a567-0e02b2c3d479.jsonl";

/// Two pi sessions (one with a branch), one file that pi would not list, one clido session.
pub fn home() -> Sandbox {
    let sandbox = Sandbox::new();
    sandbox.write(
        PARSER,
        concat!(
            r#"{"type":"session","version":3,"id":"019b8d10-0000-7000-8000-00000000000a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"~/code/parser"}"#, "\n",
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"Fix the tokenizer please","timestamp":1767603601000}}"#, "\n",
            r#"{"type":"message","id":"b1","parentId":"a1","timestamp":"2026-01-05T09:00:09.000Z","message":{"role":"assistant","content":[{"type":"text","text":"I will read the camelCase rules \u001b[31m\u001bfirst"},{"type":"toolCall","id":"t1","name":"bash","arguments":{"command":"cargo test"}}],"provider":"anthropic","model":"claude-x","stopReason":"toolUse","timestamp":1767603609000}}"#, "\n",
            r#"{"type":"message","id":"c1","parentId":"b1","timestamp":"2026-01-05T09:00:12.000Z","message":{"role":"toolResult","toolCallId":"t1","toolName":"bash","content":[{"type":"text","text":"test splits ... FAILED"}],"isError":true,"timestamp":1767603612000}}"#, "\n",
            r#"{"type":"message","id":"d1","parentId":"c1","timestamp":"2026-01-05T09:01:00.000Z","message":{"role":"user","content":"Try bigrams","timestamp":1767603660000}}"#, "\n",
            r#"{"type":"message","id":"e1","parentId":"c1","timestamp":"2026-01-05T11:55:00.000Z","message":{"role":"user","content":"Try trigrams instead","timestamp":1767614100000}}"#, "\n",
            r#"{"type":"label","id":"f1","parentId":"e1","timestamp":"2026-01-05T11:55:01.000Z","targetId":"a1","label":"start"}"#, "\n",
            r#"{"type":"session_info","id":"g1","parentId":"f1","timestamp":"2026-01-05T11:55:02.000Z","name":"Tokenizer work"}"#, "\n",
        ),
    );
    sandbox.write(
        DOCS,
        concat!(
            r#"{"type":"session","version":3,"id":"019b87e9-0000-7000-8000-00000000000b","timestamp":"2026-01-04T09:00:00.000Z","cwd":"~/code/docs","parentSession":"~/.pi/gone.jsonl"}"#, "\n",
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-04T09:00:01.000Z","message":{"role":"user","content":"日本語のドキュメントでtokenizerを説明して","timestamp":1767517201000}}"#, "\n",
        ),
    );
    sandbox.touch(
        &sandbox.write(TORN, "{\"type\":\"session\",\"id\":\n"),
        1_767_600_000,
    );
    let clido = sandbox.write(
        CLIDO,
        concat!(
            r#"{"type":"meta","session_id":"f47ac10b-58cc-4372-a567-0e02b2c3d479","schema_version":1,"start_time":"2026-01-02T12:00:00.000000000+00:00","project_path":"~/code/parser"}"#, "\n",
            r#"{"type":"user_message","role":"user","content":[{"text":"Deploy the parser","type":"text"}]}"#, "\n",
            r#"{"type":"assistant_message","content":[{"text":"Deployed.","type":"text"}]}"#, "\n",
            r#"{"type":"result","exit_status":"completed","total_cost_usd":0.25,"num_turns":1,"duration_ms":900}"#, "\n",
        ),
    );
    sandbox.touch(&clido, 1_767_355_200); // 2026-01-02T12:00:00Z
    sandbox
}

#[test]
fn overview() {
    assert_snapshot!(home().run(&[]), @"
    4 sessions, 2.4 KB of session files; last full scan DATE.
    14 entries (2.4 KB) not indexed yet; searches find them anyway.

    15 roots scanned, 13 not there (`sessionary status --roots` names them)
    AGENT  ROOT                  SESSIONS  FILES  NEWEST  WHY
    pi     ~/.pi/agent/sessions         3      3  5m      default
    clido  ~/clido/sessions             1      1  3d      $CLIDO_DATA_DIR

    Newest
    AGE  SESSION   AGENT  MSGS  PROJECT        TITLE
    5m   019b8d10  pi        5  ~/code/parser  Tokenizer work
    1d   019b87e9  pi        1  ~/code/docs    日本語のドキュメントでtokenizerを説明して
    3d   f47ac10b  clido     1  ~/code/parser  Deploy the parser
    4h   torn      pi        0                 [unlisted: no session header (torn)] (no messages)

    Try
      sessionary list --all    every session, newest first, unlisted ones last
      sessionary search WORDS  everything that was said, run and printed
      sessionary show last     read back the newest session of this repository
    ");
}

#[test]
fn overview_of_nothing() {
    assert_snapshot!(Sandbox::new().run(&[]), @r#"
    0 sessions, 0 B of session files; last full scan DATE.

    15 roots scanned
    AGENT      ROOT                             SESSIONS  FILES  NEWEST  WHY
    pi         ~/.pi/agent/sessions                    0      0          default, not there
    indusagi   ~/.indusagi/agent/sessions              0      0          default, not there
    indusagi   ~/.pindusagi/agent/sessions             0      0          default, not there
    clido      ~/clido/sessions                        0      0          $CLIDO_DATA_DIR, not there
    agentuse   ~/.local/share/agentuse/project         0      0          default, not there
    claude     ~/.claude/projects                      0      0          default, not there
    codex      ~/.codex/sessions                       0      0          default, not there
    codex      ~/.codex/archived_sessions              0      0          default, not there
    copilot    ~/.copilot/session-state                0      0          default, not there
    cursor     ~/.cursor/projects                      0      0          default, not there
    gemini     ~/.gemini/tmp                           0      0          default, not there
    induscode  ~/.pindusagi/sessions                   0      0          default, not there
    openclaw   ~/.openclaw/agents                      0      0          default, not there
    opencode   ~/.local/share/opencode                 0      0          default, not there
    qwen       ~/.qwen/projects                        0      0          default, not there

    No sessions were found in any of these places. If yours are elsewhere, name the folder:
    once with --root pi:DIR, or for good in the file that `sessionary config path` names: roots = ["pi:DIR"]
    To try it on made-up sessions: sessionary --demo list --all
    "#);
}

#[test]
fn list_here_and_everywhere() {
    let home = home();
    assert_snapshot!(home.run(&["list"]), @r"
    AGE  SESSION   AGENT  MSGS  TITLE
    5m   019b8d10  pi        5  Tokenizer work
    3d   f47ac10b  clido     1  Deploy the parser
    --- stderr
    2 more elsewhere; --all lists them
    ");
    assert_snapshot!(home.run(&["list", "--all", "--limit", "2"]), @r"
    AGE  SESSION   AGENT  MSGS  PROJECT        TITLE
    5m   019b8d10  pi        5  ~/code/parser  Tokenizer work
    1d   019b87e9  pi        1  ~/code/docs    日本語のドキュメントでtokenizerを説明して
    --- stderr
    1 to 2 of 4 sessions; next: --page 2.
    ");
    assert_snapshot!(home.run(&["list", "--all", "--agent", "clido"]), @r#"
    AGE  SESSION   AGENT  MSGS  PROJECT        TITLE
    3d   f47ac10b  clido     1  ~/code/parser  Deploy the parser
    "#);
    assert_eq!(
        home.run(&["list", "--all", "--agent", "CLIDO"]),
        home.run(&["list", "--all", "--agent", "clido"]),
    );
    assert_snapshot!(home.run(&["list", "--agent", "vim"]), @"
    --- stderr
    error: no agent is called `vim`
    hint: known agents: pi, indusagi, clido, agentuse, claude, codex, copilot, cursor, gemini, induscode, openclaw, opencode, qwen
    --- exit Some(2)
    ");
}

#[test]
fn an_empty_list_names_the_nearest_place() {
    let mut home = home();
    home.cwd.push("src");
    std::fs::create_dir(&home.cwd).expect("a folder");
    assert_snapshot!(home.run(&["list"]), @r#"
    --- stderr
    No sessions in ~/code/parser/src. 2 sessions in ~/code/parser. --all lists 4 sessions.
    --- exit Some(1)
    "#);
}

#[test]
fn narrow_terminals() {
    assert_snapshot!(home().run(&["list", "--all", "--width", "60"]), @r#"
    AGE  SESSION   AGENT  MSGS  PROJECT        TITLE
    5m   019b8d10  pi        5  ~/code/parser  Tokenizer work
    1d   019b87e9  pi        1  ~/code/docs    日本語のドキュメ…
    3d   f47ac10b  clido     1  ~/code/parser  Deploy the parser
    4h   torn      pi        0                 [unlisted: no se…
    "#);
}

#[test]
fn search() {
    let home = home();
    assert_snapshot!(home.run(&["search", "tokenizer"]), @r"
    Tokenizer work  ~/code/parser · pi · 5m
      session_info · 4m  019b8d10:g1
        Tokenizer work
      user · 2h  019b8d10:a1
        Fix the tokenizer please

    日本語のドキュメントでtokenizerを説明して  ~/code/docs · pi · 1d
      user · 1d  019b87e9:a1
        日本語のドキュメントでtokenizerを説明して
    --- stderr
    3 matches in 2 sessions. --here searches this repository or directory only.
    Next: sessionary show 019b8d10:g1 · sessionary resume 019b8d10
    ");
    assert_snapshot!(home.run(&["search", "--here", "tokenizer", "please"]), @r"
    Tokenizer work  ~/code/parser · pi · 5m
      user · 2h  019b8d10:a1
        Fix the tokenizer please
      session_info · 4m  019b8d10:g1
        Tokenizer work
    --- stderr
    2 matches in 1 session of ~/code/parser. 1 more elsewhere, without --here.
    Next: sessionary show 019b8d10:a1 · sessionary resume 019b8d10
    ");
    assert_snapshot!(home.run(&["search", "nowhere"]), @r#"
    --- stderr
    Nothing found for nowhere.
    --- exit Some(1)
    "#);
    // Escape sequences of a session never reach the terminal.
    let output = home.output(&["search", "camelCase"]);
    assert!(!output.stdout.contains(&0x1b) && !output.stdout.is_empty());
}

#[test]
fn search_marks_matches_when_asked_for_colours() {
    let output = home().output(&["search", "--color", "always", "trigrams"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("\u{1b}[1;33mtrigrams\u{1b}[0m"), "{text}");
}

#[test]
fn tree() {
    let home = home();
    assert_snapshot!(home.run(&["tree", "last"]), @r#"
    Tokenizer work
    pi · ~/code/parser · 2026-01-05 09:00 · claude-x · 8 entries
    ~/.pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl

    ● a1 user [start]  Fix the tokenizer please
    ● b1 assistant  I will read the camelCase rules ␛first bash cargo test
    ● c1 toolResult  [bash: cargo test] test splits ... FAILED
    ├─ ○ d1 user  Try bigrams
    └─ ● e1 user  Try trigrams instead
       ◆ g1 session_info (leaf)  Tokenizer work
    "#);
    assert_snapshot!(home.run(&["tree", "019b8d10", "--filter", "user-only", "--ascii"]), @r#"
    Tokenizer work
    pi · ~/code/parser · 2026-01-05 09:00 · claude-x · 8 entries
    ~/.pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl

    * a1 user [start]  Fix the tokenizer please
    |- o d1 user  Try bigrams
    `- * e1 user  Try trigrams instead
    "#);
    assert_snapshot!(home.run(&["tree", "019b87e9"]), @r#"
    日本語のドキュメントでtokenizerを説明して
    pi · ~/code/docs · 2026-01-04 09:00 · 2 entries
    ~/.pi/agent/sessions/--code-docs--/2026-01-04T09-00-00-000Z_0b.jsonl
    forked from ~/.pi/gone.jsonl

    ◆ a1 user (leaf)  日本語のドキュメントでtokenizerを説明して
    "#);
}

#[test]
fn show() {
    let home = home();
    assert_snapshot!(home.run(&["show", "last"]), @r#"
    Tokenizer work
    pi · ~/code/parser · 2026-01-05 09:00 · claude-x · 8 entries
    ~/.pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl

    ── user · 2026-01-05 09:00 · [start] · a1 ──────────────────────────────────────────────────────────
    Fix the tokenizer please

    ── assistant · 2026-01-05 09:00 · b1 ───────────────────────────────────────────────────────────────
    I will read the camelCase rules ␛first
      │ bash
      │ cargo test

    ── toolResult · 2026-01-05 09:00 · error · c1 ──────────────────────────────────────────────────────
      │ bash
      │ test splits ... FAILED

    ── user · 2026-01-05 11:55 · e1 ────────────────────────────────────────────────────────────────────
    Try trigrams instead

    ── label · 2026-01-05 11:55 · f1 ───────────────────────────────────────────────────────────────────
    start

    ── session_info · 2026-01-05 11:55 · g1 ────────────────────────────────────────────────────────────
    Tokenizer work
    "#);
    assert_snapshot!(home.run(&["show", "019b8d10:d1", "--context", "1"]), @r#"
    Tokenizer work
    pi · ~/code/parser · 2026-01-05 09:00 · claude-x · 8 entries
    ~/.pi/agent/sessions/--code-parser--/2026-01-05T09-00-00-000Z_0a.jsonl

    ── toolResult · 2026-01-05 09:00 · error · c1 ──────────────────────────────────────────────────────
      │ bash
      │ test splits ... FAILED

    ▶▶ user · 2026-01-05 09:01 · d1 ────────────────────────────────────────────────────────────────────
    Try bigrams
    "#);
    assert_snapshot!(home.run(&["show", "f47ac10b:L2"]), @r#"
    Deploy the parser
    clido · ~/code/parser · 2026-01-02 12:00 · 4 entries
    ~/clido/sessions/_code_parser/f47ac10b-58cc-4372-a567-0e02b2c3d479.jsonl

    ▶▶ user · L2 ───────────────────────────────────────────────────────────────────────────────────────
    Deploy the parser
    "#);
}

#[test]
fn show_raw_gives_the_bytes_of_the_file() {
    let home = home();
    let bytes = std::fs::read(home.home.join(PARSER)).expect("the session");
    assert_eq!(home.output(&["show", "last", "--raw"]).stdout, bytes);
    let line = bytes.split(|byte| *byte == b'\n').nth(4).expect("a line");
    let raw = home.output(&["show", "last:d1", "--raw"]).stdout;
    assert_eq!(raw.trim_ascii_end(), line);
}

#[test]
fn names_that_fit_several_sessions_or_none() {
    let home = home();
    assert_snapshot!(home.run(&["show", "019b8"]), @r#"
    --- stderr
    error: 2 sessions fit "019b8"
    hint: 019b87e9 · 1d · ~/code/docs · 日本語のドキュメントでtokenizerを説明して
    hint: 019b8d10 · 5m · ~/code/parser · Tokenizer work
    --- exit Some(2)
    "#);
    assert_snapshot!(home.run(&["tree", "nope"]), @r#"
    --- stderr
    error: no session is named "nope"
    hint: `sessionary list --all` shows every session
    hint: a session is named by its id, the start of its id, its path, its name or title, or `last`
    --- exit Some(1)
    "#);
    let output = home.output(&["--json", "show", "019b8"]);
    assert!(output.stdout.is_empty());
    let error: Value = serde_json::from_slice(&output.stderr).expect("JSON");
    assert_eq!(error["schema_version"], 1);
    assert_eq!(error["error"]["kind"], "ambiguous");
    assert_eq!(error["error"]["hints"].as_array().map(Vec::len), Some(2));
}

#[test]
fn sql() {
    let home = home();
    assert_snapshot!(home.run(&["sql", "SELECT agent, count(*) AS n FROM sessions GROUP BY agent ORDER BY 1"]), @r#"
    agent  n
    clido  1
    pi     3
    "#);
    // NULL, an empty text, what CSV must quote, and a column's name twice.
    let odd = "SELECT NULL AS a, '' AS b, 'x,\"y\"' AS c, 1.5 AS a, x'00ff' AS d WHERE 1";
    assert_snapshot!(home.run(&["sql", odd]), @r#"
    a     b  c        a  d
    NULL     x,"y"  1.5  00ff
    "#);
    assert_snapshot!(home.run(&["sql", "--csv", odd]), @r#"
    a,b,c,a,d
    ,"","x,""y""",1.5,00ff
    "#);
    assert_snapshot!(home.run(&["sql", "--jsonl", odd]), @r#"
    {"a":null,"b":"","c":"x,\"y\"","a:4":1.5,"d":"00ff"}
    "#);
    assert_snapshot!(home.run(&["sql", "--json", odd]), @r#"
    {"schema_version":1,"columns":["a","b","c","a","d"],"rows":[[null,"","x,\"y\"",1.5,"00ff"]]}
    "#);
    assert_snapshot!(home.run(&["sql", "--csv", "SELECT id FROM sessions WHERE 0"]), @r#"
    id
    --- exit Some(1)
    "#);
    assert_snapshot!(home.run(&["sql", "--json", "--csv", "SELECT 1"]), @r#"
    --- stderr
    {"schema_version":1,"error":{"kind":"usage","message":"the argument '--json' cannot be used with '--csv'\n\nUsage: sessionary sql --json <QUERY>\n\nFor more information, try '--help'.","hints":[]}}
    --- exit Some(2)
    "#);
    let refused = home.output(&["sql", "DELETE FROM sessions"]);
    assert_eq!(refused.status.code(), Some(2));
    assert!(refused.stdout.is_empty());
}

#[test]
fn sync_twice_reads_once() {
    let home = home();
    let first = home.json(&["sync", "--json"]);
    assert_eq!(first["complete"], true, "{first}");
    assert_eq!(first["report"]["files_seen"], 4);
    let second = home.json(&["sync", "--json"]);
    // Files this young are proven again; nothing in them is new.
    assert_eq!(second["report"]["entries"], 0, "{second}");
    assert_eq!(second["report"]["bytes_read"], 0, "{second}");
}

#[test]
fn every_answer_says_its_version_and_whether_it_is_complete() {
    let home = home();
    for arguments in [
        &["--json"][..],
        &["list", "--json"],
        &["search", "tokenizer", "--json"],
        &["tree", "last", "--json"],
        &["show", "last", "--json"],
        &["sync", "--json"],
        &["rebuild", "--json"],
    ] {
        let answer = home.json(arguments);
        assert_eq!(answer["schema_version"], 1, "{arguments:?}");
        assert_eq!(answer["complete"], true, "{arguments:?}");
    }
    for arguments in [
        &["status", "--json"][..],
        &["verify", "--json"],
        &["sql", "SELECT 1", "--json"],
    ] {
        assert_eq!(home.json(arguments)["schema_version"], 1, "{arguments:?}");
    }
}

#[test]
fn what_cannot_be_json_is_refused_and_what_is_empty_said() {
    let home = home();
    for arguments in [&["man"][..], &["man", "list"], &["completions", "bash"]] {
        let refused = home.run(&[arguments, &["--json"]].concat());
        assert!(
            refused.contains("not JSON") && refused.contains("--- exit Some(2)"),
            "{refused}"
        );
    }
    assert_snapshot!(home.run(&["sql", " "]), @r#"
    --- stderr
    error: the query is empty
    hint: `sessionary sql --help` has examples
    --- exit Some(2)
    "#);
    assert_snapshot!(home.run(&["sql", "/* nothing */"]), @r"
    --- stderr
    error: it asks nothing
    hint: `sessionary sql --help` has examples
    --- exit Some(2)
    ");
    assert_snapshot!(home.run(&["sql", "SELEC 1"]), @r#"
    --- stderr
    error: near "SELEC": syntax error, at character 1 of the query
    hint: `sessionary sql --help` has examples
    --- exit Some(2)
    "#);
}

#[test]
fn verify_after_sync_is_clean() {
    let home = home();
    let _ = home.run(&["sync"]);
    let output = home.output(&["verify"]);
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
}

#[test]
fn nothing_found_is_exit_code_one_and_nonsense_two() {
    let home = home();
    for (arguments, code) in [
        (&["list"][..], 0),
        (&["search", "tokenizer"], 0),
        (&["search", "nowhere"], 1),
        (&["show", "nope"], 1),
        (&["show", "019b8"], 2),
        (&["lst"], 2),
        (&["--root", "vim:/", "list"], 2),
        (&["--version"], 0),
        (&["help"], 0),
    ] {
        assert_eq!(
            home.output(arguments).status.code(),
            Some(code),
            "{arguments:?}"
        );
    }
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    use std::process::Stdio;
    let home = home();
    let _ = home.run(&["sync"]);
    let mut child = home
        .command(&["show", "last", "--raw"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("sessionary runs");
    // Closed before anything was written or not: the end is quiet either way.
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("its end");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn roots_and_labels_by_hand() {
    let home = home();
    let root = format!(
        "pi:{}=laptop",
        home.home.join(".pi/agent/sessions").display()
    );
    let listing = home.json(&[
        "--no-default-roots",
        "--root",
        &root,
        "list",
        "--all",
        "--json",
    ]);
    let sessions = listing["sessions"].as_array().expect("sessions");
    assert_eq!(sessions.len(), 3, "{listing}");
    assert!(
        sessions.iter().all(|session| session["label"] == "laptop"),
        "{listing}"
    );
}

#[test]
fn the_index_may_be_anywhere() {
    let home = home();
    let flag = home.home.join("flag");
    let _ = home.output(&["sync", "--index", &flag.display().to_string()]);
    assert!(flag.is_dir());
    let variable = home.home.join("variable");
    let status = home
        .command(&["sync"])
        .env("SESSIONARY_INDEX_DIR", &variable)
        .output()
        .expect("sessionary runs");
    assert!(status.status.success() && variable.is_dir());
    for usual in [".cache/sessionary", "Library/Caches/sessionary"] {
        assert!(!home.home.join(usual).exists());
    }
}

#[test]
fn help_of_every_verb_has_examples() {
    let sandbox = Sandbox::new();
    for verb in [
        "list", "search", "tree", "show", "sql", "sync", "rebuild", "status", "verify",
    ] {
        let text = sandbox.run(&[verb, "--help"]);
        assert!(
            text.contains(&format!("sessionary {verb}")) && text.contains("Examples:"),
            "{text}"
        );
    }
}

#[test]
fn settings_of_a_catalogued_project_name_another_root() {
    let home = home();
    // The settings lie in a project that is known only from a session's header.
    home.write("code/docs/.pi/settings.json", r#"{"sessionDir":"kept"}"#);
    let line = r#"{"type":"session","version":3,"id":"0c","timestamp":"2026-01-03T09:00:00.000Z","cwd":"~/code/docs"}"#;
    home.write("code/docs/kept/0c.jsonl", &format!("{line}\n"));
    home.write("code/docs/kept/deeper/0d.jsonl", &format!("{line}\n"));
    let paths = |answer: &Value| -> Vec<String> {
        let rows = answer["sessions"].as_array().expect("a list");
        rows.iter()
            .filter_map(|row| row["path"].as_str())
            .filter(|path| path.contains("/kept/"))
            .map(|path| path.replace(&home.home.display().to_string(), "~"))
            .collect()
    };
    // In the very first answer, and when it is only looked at again. The folder is flat: pi lists
    // no deeper ones.
    for _ in 0..2 {
        assert_eq!(
            paths(&home.json(&["list", "--all", "--json"])),
            ["~/code/docs/kept/0c.jsonl"]
        );
    }
    let status = home.json(&["status", "--json"]);
    let whys = status["roots"].as_array().expect("roots");
    assert!(
        whys.iter().any(|root| root["why"]
            .as_str()
            .is_some_and(|why| why.contains("docs/.pi/settings.json"))),
        "{status}"
    );
    let verified = home.json(&["verify", "--json"]);
    assert_eq!(verified["sources"], 5, "{verified}");
    assert_eq!(verified["differences"], serde_json::json!([]));
}

#[test]
fn a_file_in_no_root_is_shown_and_not_kept() {
    let home = home();
    let file = home.write(
        "elsewhere/copy.jsonl",
        concat!(
            r#"{"type":"session","version":3,"id":"0e","timestamp":"2026-01-03T09:00:00.000Z","cwd":"~/gone"}"#, "\n",
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-03T09:00:01.000Z","message":{"role":"user","content":"only here","timestamp":1767430801000}}"#, "\n",
        ),
    );
    let path = file.display().to_string();
    assert_snapshot!(home.run(&["show", &path]), @r#"
    only here
    pi · ~/gone · 2026-01-03 09:00 · 2 entries
    ~/elsewhere/copy.jsonl
    not listed by pi: outside the folders that are scanned

    ── user · 2026-01-03 09:00 · a1 ────────────────────────────────────────────────────────────────────
    only here
    "#);
    assert_snapshot!(home.run(&["show", "--raw", &format!("{path}:a1")]), @r#"
    {"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-03T09:00:01.000Z","message":{"role":"user","content":"only here","timestamp":1767430801000}}
    "#);
    let tree = home.json(&["tree", &path, "--json"]);
    assert_eq!(tree["entries"][0]["id"], "a1", "{tree}");
    assert_eq!(
        home.json(&["list", "--all", "--json"])["sessions"]
            .as_array()
            .map(Vec::len),
        Some(4)
    );
    home.write("elsewhere/notes.txt", "no session\n");
    assert_snapshot!(home.run(&["show", "../../elsewhere/notes.txt"]), @r"
    --- stderr
    error: $HOME/code/parser/../../elsewhere/notes.txt: contains no entry of any known format
    --- exit Some(1)
    ");
}

#[test]
fn an_empty_list_names_another_working_tree() {
    let home = Sandbox::new();
    home.write("code/app/.git/HEAD", "ref: refs/heads/main\n");
    home.write("code/app/.git/worktrees/parser/commondir", "../..\n");
    home.write(
        "code/app/.git/worktrees/parser/gitdir",
        "~/code/parser/.git\n",
    );
    home.write(
        "code/parser/.git",
        "gitdir: ~/code/app/.git/worktrees/parser\n",
    );
    home.write(
        ".pi/agent/sessions/--x--/a.jsonl",
        concat!(r#"{"type":"session","version":3,"id":"0f","timestamp":"2026-01-03T09:00:00.000Z","cwd":"~/code/app"}"#, "\n"),
    );
    assert_snapshot!(home.run(&["list", "--dir"]), @r#"
    --- stderr
    No sessions in ~/code/parser. 1 session in ~/code/app. --all lists 1 session.
    --- exit Some(1)
    "#);
}

#[test]
fn an_answer_that_could_not_be_brought_up_to_date_says_so() {
    let home = home();
    home.settle();
    assert_eq!(home.json(&["sync", "--json"])["complete"], true);
    let lock = fs::File::open(home.home.join(".cache/sessionary/v5/lock")).expect("the lock");
    lock.lock().expect("it is free");
    let rows = |answer: &Value| answer["sessions"].as_array().map(Vec::len);
    // Nothing changed: the answer is complete though nobody could write.
    let before = home.json(&["list", "--all", "--json"]);
    assert_eq!(
        (&before["complete"], &before["pending_files"]),
        (&Value::Bool(true), &0.into())
    );
    let line = r#"{"type":"session","version":3,"id":"0c","timestamp":"2026-01-03T09:00:00.000Z","cwd":"~/code/parser"}"#;
    home.write(
        ".pi/agent/sessions/--code-parser--/new.jsonl",
        &format!("{line}\n"),
    );
    let during = home.json(&["list", "--all", "--json"]);
    assert_eq!(
        (&during["complete"], &during["pending_files"]),
        (&Value::Bool(false), &1.into())
    );
    assert_eq!(rows(&during), rows(&before));
    assert_eq!(
        home.json(&["search", "tokenizer", "--json"])["complete"],
        false
    );
    assert_snapshot!(home.run(&["list", "--all", "--agent", "clido"]), @r"
    AGE  SESSION   AGENT  MSGS  PROJECT        TITLE
    3d   f47ac10b  clido     1  ~/code/parser  Deploy the parser
    --- stderr
    This answer is incomplete, as 1 file has not been read yet: another sessionary is writing the index.
    ");
    assert_snapshot!(home.run(&["show", "0c"]), @r#"
    --- stderr
    error: no session is named "0c"
    hint: `sessionary list --all` shows every session
    hint: a session is named by its id, the start of its id, its path, its name or title, or `last`
    hint: it may be in a file that has not been read yet
    hint: another sessionary is writing the index
    --- exit Some(1)
    "#);
    assert_snapshot!(home.run(&["sync", "--no-wait"]), @r"
    --- stderr
    error: another process is writing the index in $HOME/.cache/sessionary
    hint: another sessionary is writing the index; list and search still work
    --- exit Some(2)
    ");
    drop(lock);
    let after = home.json(&["list", "--all", "--json"]);
    assert_eq!(after["complete"], true);
    assert_eq!(rows(&after), rows(&before).map(|rows| rows + 1));
}

#[test]
fn the_list_that_is_ready_is_the_list() {
    let home = home();
    // Rows that only their names put in order, in two agents, one of them with a label.
    let line = |id: &str| {
        format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-03T09:00:00.000Z\",\"cwd\":\"~/x\"}}\n"
        )
    };
    for name in ["a", "B", "ä", "z\u{9b}"] {
        for folder in [".pi/agent/sessions/--t--", "more/--t--"] {
            let path = home.write(&format!("{folder}/{name}.jsonl"), &line(name));
            home.touch(&path, 1_767_400_000);
        }
    }
    let root = format!("pi:{}=lap\"top", home.home.join("more").display());
    for arguments in [
        &["--all"][..],
        &["--all", "--limit", "5"],
        &["--all", "--agent", "pi"],
    ] {
        let asked: Vec<&str> = ["--root", &root, "list", "--json"]
            .iter()
            .chain(arguments)
            .copied()
            .collect();
        let ready = home.json(&asked);
        // With the text of all messages every row is made from its columns.
        let mut made = home.json(&[&asked[..], &["--with-text"]].concat());
        for row in made["sessions"].as_array_mut().expect("rows") {
            row.as_object_mut()
                .expect("a row")
                .remove("allMessagesText");
        }
        assert_eq!(ready, made, "{arguments:?}");
        let text = String::from_utf8(home.output(&asked).stdout).expect("UTF-8");
        assert!(!text.contains('\u{9b}'), "{text}");
    }
}

#[test]
fn words_that_were_lost_hide_nothing() {
    let home = home();
    home.settle();
    assert_eq!(home.json(&["sync", "--json"])["report"]["outstanding"], 0);
    let total = home.json(&["search", "tokenizer", "--json"])["total"].clone();
    assert!(total.as_u64() > Some(0), "{total}");
    let words = home.home.join(".cache/sessionary/v5/words");
    // Every file cut short, then all of them gone: nothing is owed by the outbox, and all of it is.
    for file in fs::read_dir(&words).expect("the words") {
        let file = fs::File::options()
            .write(true)
            .open(file.expect("a file").path());
        file.and_then(|file| file.set_len(10)).expect("it is cut");
    }
    for round in 0..2 {
        assert!(home.json(&["status", "--json"])["outstanding"].as_u64() > Some(0));
        let answer = home.json(&["search", "tokenizer", "--json"]);
        assert_eq!(
            (&answer["total"], &answer["complete"]),
            (&total, &true.into()),
            "{round}"
        );
        fs::remove_dir_all(&words).expect("they are gone");
    }
    assert_eq!(
        home.json(&["search", "tokenizer", "--json"])["total"],
        total
    );
    let _ = home.json(&["sync", "--json"]);
    assert_eq!(
        home.json(&["verify", "--json"])["differences"],
        serde_json::json!([])
    );
}

#[test]
fn an_empty_name_is_no_session() {
    let home = home();
    // A file may well say that its session has no id.
    let path = home.write(
        ".pi/agent/sessions/--code-parser--/no-id.jsonl",
        concat!(
            r#"{"type":"session","version":3,"id":"","timestamp":"2026-01-05T09:00:00.000Z","cwd":"~/code/parser"}"#, "\n",
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"Who am I?"}}"#, "\n",
        ),
    );
    let _ = home.run(&["sync"]);
    let said = home.run(&["show", ""]);
    assert_snapshot!(said, @r"
    --- stderr
    error: the name of the session is empty
    hint: `sessionary list --all` shows every session
    hint: a session is named by its id, the start of its id, its path, its name or title, or `last`
    --- exit Some(2)
    ");
    assert_eq!(home.run(&["tree", ""]), said);
    let path = path.to_str().expect("text");
    assert_eq!(home.output(&["show", path]).status.code(), Some(0));
}

#[test]
fn a_limit_of_nothing_is_no_limit() {
    let home = home();
    let all = |arguments: &[&str], list: &str| {
        let answer = home.json(arguments);
        let groups = answer[list].as_array().expect("a list").clone();
        groups.len()
    };
    assert_eq!(
        all(&["list", "--all", "--limit", "0", "--json"], "sessions"),
        4
    );
    assert_eq!(all(&["list", "--limit", "0", "--json"], "sessions"), 2);
    let most = 30;
    let mut lines = String::from(
        "{\"type\":\"session\",\"version\":3,\"id\":\"many\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"~/code/parser\"}\n",
    );
    for number in 0..most {
        lines.push_str(&format!(
            "{{\"type\":\"message\",\"id\":\"m{number}\",\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"tokenizer tokenizer {number}\"}}}}\n"
        ));
    }
    home.write(".pi/agent/sessions/--code-parser--/many.jsonl", &lines);
    let hits = |limit: &[&str]| {
        let answer = home.json(&[&["search", "tokenizer", "--json"], limit].concat());
        let groups = answer["sessions"].as_array().expect("groups").clone();
        groups
            .iter()
            .filter_map(|group| group["hits"].as_array())
            .map(Vec::len)
            .sum::<usize>()
    };
    assert_eq!(hits(&[]), 20);
    assert_eq!(hits(&["--limit", "0"]), most + 3);
    let said = home.output(&["search", "tokenizer"]);
    assert_snapshot!(String::from_utf8_lossy(&said.stderr), @r"
    20 of 33 matches, in 3 sessions; --limit 0 shows all. --here searches this repository or directory only.
    Next: sessionary show 019b8d10:g1 · sessionary resume 019b8d10
    ");
}

#[test]
fn a_relative_home_is_refused() {
    let home = home();
    let relative = |arguments: &[&str]| {
        let output = home
            .command(arguments)
            .env("HOME", "home")
            .output()
            .expect("sessionary runs");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    let (code, said) = relative(&["list", "--all"]);
    assert_eq!(code, Some(2));
    assert_snapshot!(said, @r#"
    error: HOME is not an absolute path: "home"
    hint: everything below it would be a different folder in each directory; set HOME to an absolute path
    "#);
    assert!(!home.cwd.join("home").exists());
    // What is named in full needs no home.
    let index = home.home.join("index");
    let index = index.to_str().expect("text");
    let root = format!("pi:{}", home.home.join(".pi/agent/sessions").display());
    let full = [
        "--index",
        index,
        "--no-default-roots",
        "--root",
        &root,
        "list",
        "--all",
    ];
    assert_eq!(relative(&full).0, Some(0));
}

#[test]
fn system_prompts_are_found_by_their_kind_only_and_once() {
    let home = home();
    for (name, day, time) in [("one", "03", 1_767_430_800), ("two", "04", 1_767_517_200)] {
        let path = home.write(
            &format!(".pi/agent/sessions/--code-parser--/{name}.jsonl"),
            &[
                format!(r#"{{"type":"session","version":3,"id":"{name}","timestamp":"2026-01-{day}T09:00:00.000Z","cwd":"~/code/parser"}}"#),
                format!(r#"{{"type":"message","id":"s1","parentId":null,"timestamp":"2026-01-{day}T09:00:01.000Z","message":{{"role":"system","content":"You are a careful engineer","sections":[],"toolsAdded":[{{"name":"grep","description":"Search the zebrawood"}}],"timestamp":{time}000}}}}"#),
                format!(r#"{{"type":"message","id":"u1","parentId":"s1","timestamp":"2026-01-{day}T09:00:02.000Z","message":{{"role":"user","content":"hello {name}","timestamp":{time}000}}}}"#),
                format!(r#"{{"type":"compaction","id":"c1","parentId":"u1","timestamp":"2026-01-{day}T09:00:03.000Z","summary":"they met","firstKeptEntryId":"u1","tokensBefore":9,"systemMessage":{{"role":"system","content":"Statutes of {name}"}}}}"#),
            ]
            .map(|line| line + "\n")
            .concat(),
        );
        home.touch(&path, time);
    }
    let total = |query: &str| home.json(&["search", query, "--json"])["total"].clone();
    for round in 0..2 {
        for hidden in [
            "careful",
            "zebrawood",
            "statutes",
            "careful -tokenizer",
            "role:system",
        ] {
            assert_eq!(total(hidden), 0, "{hidden}, round {round}");
        }
        assert_eq!(total("kind:system careful"), 1);
        assert_eq!(total("kind:system zebrawood session:one"), 1);
        assert_eq!(total("kind:system statutes"), 2);
        assert_eq!(total("kind:system hello"), 0);
        assert_eq!(total("kind:system session:two"), 2);
        let _ = home.run(&["sync"]);
    }
    assert_snapshot!(home.run(&["search", "kind:system", "careful"]), @r"
    hello two  ~/code/parser · pi · 1d
      system · 1d · before a compaction  two:s1
        You are a careful engineer
    --- stderr
    1 match in 1 session. --here searches this repository or directory only.
    Next: sessionary show two:s1 · sessionary resume two
    ");
    assert_snapshot!(home.run(&["show", "two:s1"]), @r#"
    hello two
    pi · ~/code/parser · 2026-01-04 09:00 · 4 entries
    ~/.pi/agent/sessions/--code-parser--/two.jsonl

    ▶▶ system · 2026-01-04 09:00 · s1 ──────────────────────────────────────────────────────────────────
      │ You are a careful engineer
      │ grep
      │ Search the zebrawood
    "#);
}

/// What a person runs is no tool's.
#[test]
fn a_tree_without_tools_says_what_a_person_ran() {
    let home = Sandbox::new();
    home.write(
        ".pi/agent/sessions/--w--/ran.jsonl",
        concat!(
            r#"{"type":"session","version":3,"id":"019b8d10-0000-7000-8000-00000000000c","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#, "\n",
            r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"bashExecution","command":"make walrus","output":"made","exitCode":0}}"#, "\n",
            r#"{"type":"message","id":"b1","parentId":"a1","timestamp":"2026-01-05T09:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"I look"},{"type":"toolCall","id":"t1","name":"bash","arguments":{"command":"ls harbour"}}]}}"#, "\n",
        ),
    );
    let tree = home.run(&["tree", "019b8d10", "--filter", "no-tools"]);
    assert!(tree.contains("make walrus"), "{tree}");
    assert!(
        tree.contains("I look") && !tree.contains("harbour"),
        "{tree}"
    );
}
