//! Where do lines end that are longer than the terminal? Between words, if they are of somebody's.

use insta::assert_snapshot;
use serde_json::json;

use crate::sandbox::Sandbox;

/// A home with one session: what its user typed, and what a tool gave.
fn home(typed: &str, given: &str) -> Sandbox {
    let home = Sandbox::new();
    let time = "2026-01-05T09:00:00.000Z";
    let entry = |id: &str, parent: Option<&str>, message| {
        let (kind, message) = ("message", message);
        json!({"type": kind, "id": id, "parentId": parent, "timestamp": time, "message": message})
    };
    let output = json!([{"type": "text", "text": given}]);
    let lines = [
        json!({"type": "session", "version": 3, "id": "one", "timestamp": time, "cwd": "/w"}),
        entry("e0000001", None, json!({"role": "user", "content": typed})),
        entry(
            "e0000002",
            Some("e0000001"),
            json!({"role": "toolResult", "toolCallId": "c", "toolName": "bash", "content": output}),
        ),
    ];
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    home.write(".pi/agent/sessions/--w--/one.jsonl", &text);
    home
}

const TYPED: &str = "What goes on below a list, 日本語 too:
- the first of the items is longer than the line
  1. and so is one within it, as it is: https://example.org/a/very/long/address
> what somebody else has said, word by word

```sh
cargo test --workspace --all-features -- --nocapture
```

    cargo build --release --all-features --verbose
| a table | with columns | that line up somehow |
diff --git a/long/name/of/a/file b/long/name/of/a/file
@@ -1,2 +1,2 @@
-what was there before it was changed to another
+what is there now that it was changed to another
 what stays as it was whatever anybody says of it
the end of the diff is said in words, as this here is";

#[test]
fn what_was_said_is_broken_between_words() {
    let home = home(
        TYPED,
        "error: this line of a tool is as long as the tool made it",
    );
    let shown = home.run(&["--width", "40", "show", "one"]);
    assert_snapshot!(shown, @r"
    What goes on below a list, 日本語 too:…
    pi · /w · 2026-01-05 09:00 · 3 entries
    ~/.pi/agent/sessions/--w--/one.jsonl

    ── user · 2026-01-05 09:00 · e0000001 ──
    What goes on below a list, 日本語 too:
    - the first of the items is longer than
      the line
      1. and so is one within it, as it is:
         https://example.org/a/very/long/add
         ress
    > what somebody else has said, word by
      word

    ```sh
    cargo test --workspace --all-features -- --nocapture
    ```

        cargo build --release --all-features --verbose
    | a table | with columns | that line up somehow |
    diff --git a/long/name/of/a/file b/long/name/of/a/file
    @@ -1,2 +1,2 @@
    -what was there before it was changed to another
    +what is there now that it was changed to another
     what stays as it was whatever anybody says of it
    the end of the diff is said in words, as
    this here is

    ── toolResult · 2026-01-05 09:00 · e0000002
      │ bash
      │ error: this line of a tool is as long as the tool made it
    ");
    let context = home.run(&["--width", "40", "context", "one"]);
    let said = |text: &str| {
        let (_, said) = text.split_once("- the first").unwrap();
        let (said, _) = said.split_once("here is\n").unwrap();
        said.to_owned()
    };
    assert_eq!(said(&context), said(&shown));
    assert!(context.contains("a tool is as long as the tool made it\n"));
    assert!(!context.contains("\nerror: this line of a\n"), "{context}");
}

#[test]
fn what_is_said_of_a_session_is_broken_between_words() {
    let tree = home("hello", "").run(&["--width", "34", "tree", "one"]);
    assert!(
        tree.contains("\npi · /w · 2026-01-05 09:00 · 3\nentries\n~/"),
        "{tree}"
    );
}

#[test]
fn a_pipe_gets_lines_as_they_are() {
    let home = home(TYPED, "");
    for command in ["show", "context"] {
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_sessionary"))
            .args([command, "one"])
            .env_clear()
            .env("HOME", &home.home)
            .output()
            .unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains(TYPED), "{shown}");
    }
}

#[test]
fn matches_stand_out_on_both_sides_of_a_break() {
    let home = home(
        "It says that the linker error is the system's own error",
        "",
    );
    let show = ["--width", "24", "show", "one:e0000001", "--color", "always"];
    let output = home.output(&[&show[..], &["--highlight", "\"linker error\""]].concat());
    let shown = String::from_utf8_lossy(&output.stdout).into_owned();
    let mark = |text: &str| format!("\u{1b}[1;33m{text}\u{1b}[0m");
    let lines = [
        format!("It says that the {}", mark("linker")),
        format!("{} is the system's", mark("error")),
        "own error".to_owned(),
    ];
    assert!(
        shown.ends_with(&format!("{}\n", lines.join("\n"))),
        "{shown}"
    );
}

#[test]
fn hostile_lines_are_broken_in_time_and_do_nothing() {
    let typed = format!(
        "{} {}\u{1b}[2J{}",
        "x".repeat(3 << 20),
        "y ".repeat(1 << 20),
        "\u{301}".repeat(1 << 16)
    );
    let home = home(&typed, "");
    let shown = home.run(&["--width", "20", "show", "one"]);
    assert!(shown.contains(&format!("\n{}\n", "x".repeat(20))));
    assert!(shown.contains(&format!("\n{}\n", "y ".repeat(10).trim_end())));
    assert!(!shown.contains('\u{1b}'));
}

/// Nothing is known of a picture but that it is there, and that is said.
#[test]
fn an_entry_that_is_a_picture_says_so() {
    let home = home("what is wrong here?", "all is well");
    let path = ".pi/agent/sessions/--w--/one.jsonl";
    let picture = json!({"type": "message", "id": "e0000003", "parentId": "e0000002",
        "timestamp": "2026-01-05T09:00:00.000Z",
        "message": {"role": "user",
            "content": [{"type": "image", "data": "aGFsbG8=", "mimeType": "image/png"}]}});
    let before = std::fs::read_to_string(home.home.join(path)).expect("it was written");
    home.write(path, &format!("{before}{picture}\n"));
    let tree = home.run(&["tree", "one"]);
    assert!(tree.contains("e0000003 user (leaf)  (image)\n"), "{tree}");
    for (format, said) in [("markdown", " · image · "), ("html", "<em>image</em>")] {
        let exported = home.run(&["export", "one", "--format", format]);
        assert!(exported.contains(said), "{exported}");
    }
    assert_snapshot!(home.run(&["show", "one:e0000003", "--context", "1"]), @r"
    what is wrong here?
    pi · /w · 2026-01-05 09:00 · 4 entries
    ~/.pi/agent/sessions/--w--/one.jsonl

    ── toolResult · 2026-01-05 09:00 · e0000002 ────────────────────────────────────────────────────────
      │ bash
      │ all is well

    ▶▶ user · 2026-01-05 09:00 · image · e0000003 ──────────────────────────────────────────────────────
    ");
    let json = home.run(&["show", "one", "--json"]);
    assert_eq!(json.matches(r#""has_image":true"#).count(), 1, "{json}");
}
