//! Does what leaves say all of it, and does it do nothing?

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use insta::assert_snapshot;
use pulldown_cmark::{Options, Parser};
use serde_json::json;
use sessionary::index::{ListScope, ShowScope};
use sessionary::model::SessionRow;
use sessionary::session::{Profile, SessionManager, Setup};
use sessionary::{Config, Error, Index};

use crate::histories::dump::{fresh, root};
use crate::sandbox::Sandbox;
use crate::store::Store;

/// What a session may hold to do harm where it is shown.
const HOSTILE: &str = "</pre></article><script>alert(1)</script>\n<img src=http://e.vil/x onerror=alert(2)>\n\
    [a](javascript:alert(3)) ![b](http://e.vil/y.png) <style>*{display:none}</style> <!-- \n\
    \u{1b}]0;title\u{7}\u{1b}[2J \u{202e}desrever\u{2066} \u{0}\n```\nnever closed <iframe src=//e.vil>";

/// Two branches; everything that can be text is hostile, the ids and the name too.
fn hostile(sandbox: &Sandbox) -> String {
    let entry = |id: &str, parent: Option<&str>, message: serde_json::Value| {
        json!({"type": "message", "id": id, "parentId": parent,
            "timestamp": "2026-01-05T09:00:01.000Z", "message": message})
        .to_string()
    };
    let lines = [
        json!({"type": "session", "version": 3, "id": "hostile", "timestamp": "2026-01-05T09:00:00.000Z",
            "cwd": HOSTILE})
        .to_string(),
        entry("a", None, json!({"role": "user", "content": HOSTILE})),
        entry("b\"><script>", Some("a"), json!({"role": "assistant", "provider": HOSTILE, "model": HOSTILE,
            "content": [{"type": "thinking", "thinking": HOSTILE}, {"type": "text", "text": HOSTILE},
                {"type": "toolCall", "id": "1", "name": HOSTILE, "arguments": {"x": HOSTILE}}]})),
        entry("c", Some("b\"><script>"), json!({"role": "toolResult", "toolCallId": "1", "toolName": HOSTILE,
            "isError": true, "content": [{"type": "text", "text": HOSTILE}]})),
        // Not as `JSON.stringify` writes it.
        entry("other", Some("a"), json!({"role": "user", "content": "another way"})).replace(',', " ,  "),
        json!({"type": "label", "id": "d", "parentId": "c", "targetId": "a", "label": HOSTILE,
            "timestamp": "2026-01-05T09:00:02.000Z"})
        .to_string(),
        json!({"type": HOSTILE, "id": "e", "parentId": "d", "timestamp": HOSTILE}).to_string(),
        json!({"type": "session_info", "id": "f", "parentId": "e", "name": HOSTILE,
            "timestamp": "2026-01-05T09:00:03.000Z"})
        .to_string(),
    ];
    let content = lines.join("\n") + "\n";
    sandbox.write(".pi/agent/sessions/--w--/hostile.jsonl", &content);
    content
}

/// Names of all elements, and of their attributes.
fn elements(html: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for tag in html.split('<').skip(1) {
        let (inside, _) = tag.split_once('>').expect("a tag ends");
        let mut quoted = false;
        let outside: String = inside
            .chars()
            .filter(|c| {
                quoted ^= *c == '"';
                !quoted && *c != '"'
            })
            .collect();
        let words = outside
            .split_whitespace()
            .map(|word| word.trim_matches('/'));
        found.extend(words.filter(|word| !word.is_empty()).map(str::to_owned));
    }
    found
}

#[test]
fn a_page_holds_all_that_is_hostile_as_text() {
    let sandbox = Sandbox::new();
    hostile(&sandbox);
    let out = sandbox.output(&["export", "hostile", "--format", "html"]);
    assert!(
        out.status.success(),
        "{}",
        String::from_utf8_lossy(&out.stderr)
    );
    let html = String::from_utf8(out.stdout).expect("UTF-8");
    assert!(
        html.chars()
            .all(|c| matches!(c, '\n' | '\t') || !c.is_control())
    );
    for acts in ['\u{202e}', '\u{2066}', '\u{1b}'] {
        assert!(!html.contains(acts));
    }
    let known: BTreeSet<String> = [
        "!DOCTYPE",
        "html",
        "lang=",
        "head",
        "meta",
        "charset=",
        "http-equiv=",
        "content=",
        "name=",
        "title",
        "style",
        "body",
        "header",
        "h1",
        "dir=",
        "dl",
        "div",
        "dt",
        "dd",
        "main",
        "article",
        "class=",
        "id=",
        "h2",
        "span",
        "mark",
        "em",
        "a",
        "href=",
        "code",
        "details",
        "open",
        "summary",
        "pre",
        "p",
        "br",
        "footer",
    ]
    .map(str::to_owned)
    .into();
    let all = elements(&html);
    let strange: Vec<_> = all.difference(&known).collect();
    assert!(strange.is_empty(), "{strange:?}");
    assert_eq!(html.matches("<style>").count(), 1);
    for link in html.split("href=\"").skip(1) {
        assert!(link.starts_with('#'), "{}", &link[..40]);
    }
    // All of it is there, each time it was said.
    assert_eq!(
        html.matches("alert(1)").count(),
        html.matches("&lt;script&gt;alert(1)&lt;/script&gt;")
            .count()
    );
    assert!(html.matches("alert(1)").count() >= 8);
    assert!(!html.contains("another way"));

    let out = sandbox.output(&["export", "hostile"]);
    let markdown = String::from_utf8(out.stdout).expect("UTF-8");
    assert!(
        markdown
            .chars()
            .all(|c| matches!(c, '\n' | '\t') || !c.is_control())
    );
    // No fence is left open where an entry ends.
    for entry in markdown.split("\n---\n") {
        let fences = entry.lines().filter(|line| line.starts_with("```"));
        assert_eq!(fences.count() % 2, 0, "{entry}");
    }
}

/// Markdown made to act in one renderer or another, alone or with what stands beside it.
const HOSTILE_MARKDOWN: [&str; 14] = [
    "[a](javascript:alert(1)) [b](data:text/html,x) ![c](http://e.vil/c.png) [d](http://e.vil)",
    "<javascript:alert(1)> <http://e.vil> <script>alert(1)</script> \\<img src=x onerror=alert(1)>",
    "[e][f] ![g][f] [f] [^f]\n\n[f]: javascript:alert(1)\n[^f]: <b>note</b>",
    "<div>\n\n<style>*{display:none}</style>\n\n<!-- \n\n<svg onload=alert(1)>",
    "# h {onclick=alert(1)}\n\n{: onclick=alert(1)}\n\n[[wiki]]",
    "- a list",
    "    <script>alert(1)</script>",
    "```html {onclick=alert(1)}\n```\n<iframe src=//e.vil>\n```\nnever closed",
    "``` `` <b>` <i>` ```",
    "| a | b |\n|---|---|\n| `<b> | ` |\n| ` | `<i>` |",
    "---\ntitle: <b>x</b>\n---\n```\n---\n<object>",
    ":     term\n\n          <embed src=x>",
    "> ```\n<a href=//e.vil>x</a>\n$`$ <b> $`$",
    "<a x=\"`\"> `<a y='`'> <form> `` ` <input>",
];

#[test]
fn markdown_holds_all_that_is_hostile_as_text() {
    let sandbox = Sandbox::new();
    let said = |id: &str, parent: Option<&str>, texts: &[&str]| {
        let texts = texts
            .iter()
            .map(|text| json!({"type": "text", "text": text}));
        json!({"type": "message", "id": id, "parentId": parent, "timestamp": "2026-01-05T09:00:01.000Z",
            "message": {"role": "assistant", "content": texts.collect::<Vec<_>>()}})
        .to_string()
    };
    let mut lines = vec![
        json!({"type": "session", "version": 3, "id": "hostile", "timestamp": "2026-01-05T09:00:00.000Z",
            "cwd": "/w`<b>"})
        .to_string(),
        // Side by side, and each for itself.
        said("a`<b>", None, &HOSTILE_MARKDOWN),
    ];
    let mut parent = "a`<b>".to_owned();
    for (at, text) in HOSTILE_MARKDOWN.iter().enumerate() {
        let id = format!("{at}");
        lines.push(said(&id, Some(&parent), &[text]));
        parent = id;
    }
    let name = "<script>alert(1)</script> [n](javascript:alert(1)) {onclick=alert(1)}";
    lines.push(
        json!({"type": "session_info", "id": "n", "parentId": parent, "name": name,
        "timestamp": "2026-01-05T09:00:03.000Z"})
        .to_string(),
    );
    sandbox.write(
        ".pi/agent/sessions/--w--/hostile.jsonl",
        &(lines.join("\n") + "\n"),
    );
    let out = sandbox.output(&["export", "hostile", "--format", "markdown"]);
    let markdown = String::from_utf8(out.stdout).expect("UTF-8");

    let known: BTreeSet<String> = [
        "h1",
        "h2",
        "p",
        "br",
        "hr",
        "ul",
        "ol",
        "start=",
        "li",
        "strong",
        "em",
        "code",
        "class=",
        "pre",
        "blockquote",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "del",
        "sup",
        "sub",
        "dl",
        "dt",
        "dd",
        "span",
    ]
    .map(str::to_owned)
    .into();
    let github = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_FOOTNOTES;
    for dialect in [Options::empty(), github, Options::all()] {
        let mut html = String::new();
        pulldown_cmark::html::push_html(&mut html, Parser::new_ext(&markdown, dialect));
        let strange: Vec<String> = elements(&html).difference(&known).cloned().collect();
        assert!(strange.is_empty(), "{strange:?}\n{html}");
        // All of it can be read, twice.
        for text in [
            "javascript:alert(1)",
            "<iframe src=//e.vil>",
            "<embed src=x>",
            "never closed",
        ] {
            let text = text.replace('<', "&lt;").replace('>', "&gt;");
            assert!(html.matches(&text).count() >= 2, "{text}\n{html}");
        }
        // No entry takes in what follows it.
        let entries = html.matches("<strong>assistant</strong> ·").count();
        assert_eq!(entries, 1 + HOSTILE_MARKDOWN.len(), "{html}");
    }
}

#[test]
fn a_branch_leaves_byte_for_byte_as_a_session() {
    let sandbox = Sandbox::new();
    let content = hostile(&sandbox);
    let lines: Vec<&str> = content.lines().collect();
    let copy = |arguments: &[&str]| {
        let out = sandbox.output(&[&["export"], arguments].concat());
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8(out.stdout).expect("UTF-8")
    };
    let other = copy(&["hostile:other", "--format", "jsonl"]);
    assert_eq!(
        other.lines().collect::<Vec<_>>(),
        [lines[0], lines[1], lines[4]]
    );
    let active = copy(&["hostile", "--format", "jsonl"]);
    let kept = [0, 1, 2, 3, 5, 6, 7].map(|at| lines[at]);
    assert_eq!(active.lines().collect::<Vec<_>>(), kept);
    // As pi's counterpart reads it.
    let path = sandbox.write("copy.jsonl", &active);
    let setup = Setup::new(Profile::PI, sandbox.home.join("sessions"));
    let session = SessionManager::open_read_only(&setup, &path).expect("a session");
    assert_eq!((session.leaf_id(), session.branch().len()), (Some("f"), 6));

    // The way to the header is the header, once. There is nothing to read on it.
    let header = copy(&["hostile:L1", "--format", "jsonl"]);
    assert_eq!(header.lines().collect::<Vec<_>>(), [lines[0]]);
    let refused = sandbox.run(&["export", "hostile:L1"]);
    assert_snapshot!(refused, @r"
    --- stderr
    error: L1 is on no branch: it says something of the session
    hint: without :L1 the active branch is exported
    --- exit Some(2)
    ");
    let html = sandbox.run(&["export", "hostile:L1", "--format", "html"]);
    assert_eq!(html, refused);

    // Without ids, and of another agent: the way is all lines up to there.
    let old = concat!(
        r#"{"type":"session","id":"0ld","timestamp":"2025-01-05T09:00:00.000Z","cwd":"/w"}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-05T09:00:01.000Z","message":{"role":"user","content":"hi"}}"#,
        "\n",
        r#"{"type":"message","timestamp":"2025-01-05T09:00:02.000Z","message":{"role":"user","content":"ho"}}"#,
        "\n",
    );
    sandbox.write(".pi/agent/sessions/--w--/old.jsonl", old);
    assert_eq!(copy(&["0ld", "--format", "jsonl"]), old);
    let first: Vec<&str> = old.lines().take(2).collect();
    assert_eq!(
        copy(&["0ld:L2", "--format", "jsonl"])
            .lines()
            .collect::<Vec<_>>(),
        first
    );
    let clido = concat!(
        r#"{"type":"meta","session_id":"c1","schema_version":1,"start_time":"2026-01-05T09:00:00+00:00","project_path":"/w"}"#,
        "\n",
        r#"{"type":"user_message","role":"user","content":[{"type":"text","text":"hi"}]}"#,
        "\n",
    );
    sandbox.write("clido/sessions/_w/c1.jsonl", clido);
    assert_eq!(copy(&["c1", "--format", "jsonl"]), clido);
}

#[test]
fn a_file_is_written_whole_and_never_over_another_unasked() {
    let sandbox = Sandbox::new();
    hostile(&sandbox);
    let out = sandbox.cwd.join("talk.html");
    let tried = sandbox.json(&[
        "export",
        "hostile",
        "--out",
        "talk.html",
        "--dry-run",
        "--json",
    ]);
    assert!(!out.exists());
    assert_snapshot!(sandbox.run(&["export", "hostile", "--out", "talk.html", "--dry-run"]), @r#"
    --- stderr
    Would write to ~/code/parser/talk.html: 5 entries, 9.6 KB
    "#);
    let done = sandbox.json(&["export", "hostile", "--out", "talk.html", "--json"]);
    let length = fs::metadata(&out).expect("a file").len();
    assert_eq!(
        (&done["bytes"], &tried["bytes"]),
        (&length.into(), &length.into())
    );
    assert_eq!(
        (&done["entries"], &done["replaced"], &done["complete"]),
        (&5.into(), &false.into(), &true.into())
    );
    assert_eq!(
        fs::metadata(&out).expect("a file").permissions().mode() & 0o77,
        0
    );

    fs::write(&out, "mine").expect("written");
    assert_snapshot!(sandbox.run(&["export", "hostile", "--out", "talk.html"]), @r"
    --- stderr
    error: $HOME/code/parser/talk.html already exists
    hint: --force replaces it
    --- exit Some(2)
    ");
    assert_eq!(fs::read_to_string(&out).expect("a file"), "mine");
    assert_snapshot!(sandbox.run(&["export", "hostile", "--out", "talk.html", "--force", "--dry-run"]), @r#"
    --- stderr
    Would replace ~/code/parser/talk.html: 5 entries, 9.6 KB
    "#);
    assert_eq!(fs::read_to_string(&out).expect("a file"), "mine");
    assert_snapshot!(sandbox.run(&["export", "hostile", "--out", "talk.html", "--force"]), @r#"
    --- stderr
    Written to ~/code/parser/talk.html: 5 entries, 9.6 KB
    "#);
    assert_eq!(fs::metadata(&out).expect("a file").len(), length);
    // Nothing is left beside it, also where it failed.
    assert_snapshot!(sandbox.run(&["export", "hostile:nosuch", "--out", "other.html"]), @r#"
    --- stderr
    error: session hostile has no entry "nosuch"
    hint: `sessionary tree hostile --filter all` shows every entry; L<line> names a line
    --- exit Some(1)
    "#);
    let beside: Vec<_> = fs::read_dir(&sandbox.cwd)
        .expect("a folder")
        .flatten()
        .collect();
    assert_eq!(beside.len(), 1);
    fs::create_dir(sandbox.cwd.join("folder")).expect("a folder");
    fs::write(sandbox.cwd.join("mine.txt"), "mine").expect("a file");
    for (arguments, said) in [
        (&["--out", "talk.txt"][..], "does not name a format"),
        (&["--json"], "needs --out"),
        (&["--out", "nosuch/talk.md"], "nosuch/talk.md"),
        (
            &["--out", "folder", "--format", "markdown"],
            "error: ~/code/parser/folder is a directory",
        ),
        (
            &["--out", "mine.txt/talk.md"],
            "code/parser/mine.txt/talk.md: Not a directory",
        ),
        (&["--out", "/proc/talk.md"], "error: /proc/talk.md: "),
    ] {
        let output = sandbox.run(&[&["export", "hostile"], arguments].concat());
        assert!(
            output.contains(said) && output.contains("exit Some(2)"),
            "{output}"
        );
    }
}

#[test]
fn every_agent_leaves_as_markdown() {
    let sandbox = Sandbox::new();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/agentuse/subagents");
    for entry in walkdir::WalkDir::new(&from).into_iter().flatten() {
        let below = entry.path().strip_prefix(&from).expect("below");
        if entry.file_type().is_file() && below.starts_with("project") {
            let text = fs::read_to_string(entry.path()).expect("text");
            sandbox.write(&format!(".local/share/agentuse/{}", below.display()), &text);
        }
    }
    let id = "01KE6P54FG";
    assert_snapshot!(sandbox.run(&["export", id]), @r#"
    # spell

    - Agent: `agentuse`
    - Session: `01KE6P54FG0000000000000000`
    - Directory: `/home/ada/mono/sub`
    - Began: `2026-01-05 09:00 UTC`
    - Model: `anthropic/claude-sonnet-4-6`
    - Entries: `3`
    - Tokens: `120`

    ---

    **user** · 2026-01-05 09:00 · `01KE6P54FG0000000000000009`

    spell it

    ---

    **assistant** · 2026-01-05 09:00 · `01KE6P55ER0000000000000000`

    w-h-a-l-e
    "#);
    let refused = sandbox.run(&["export", id, "--format", "jsonl"]);
    assert!(refused.contains("is not stored as lines"), "{refused}");
}

#[test]
fn nothing_is_exported_over_a_session_or_beside_it() {
    let sandbox = Sandbox::new();
    let content = hostile(&sandbox);
    let folder = sandbox.home.join(".pi/agent/sessions/--w--");
    for name in ["hostile.jsonl", "beside.jsonl"] {
        let out = folder.join(name).display().to_string();
        let told = sandbox.run(&[
            "export", "hostile", "--format", "jsonl", "--force", "--out", &out,
        ]);
        assert!(told.contains("where pi keeps its sessions"), "{told}");
    }
    assert_eq!(
        fs::read_to_string(folder.join("hostile.jsonl")).unwrap(),
        content
    );
    assert!(!folder.join("beside.jsonl").exists());
    let told = sandbox.run(&[
        "export",
        "hostile",
        "--format",
        "jsonl",
        "--force",
        "--out",
        "/dev/null",
    ]);
    assert!(told.contains("not a regular file"), "{told}");
}

/// Also where it lies below no root and is read by itself.
#[test]
fn nothing_is_exported_over_the_session_itself() {
    let sandbox = Sandbox::new();
    let content = hostile(&sandbox);
    let mine = sandbox.write("mine.jsonl", &content);
    let other = sandbox.write("other.jsonl", "replaced");
    std::os::unix::fs::symlink(&sandbox.home, sandbox.home.join("link")).unwrap();
    let mine = mine.to_str().unwrap();
    for out in [mine, "link/mine.jsonl"] {
        let out = sandbox.home.join(out).display().to_string();
        let to = ["--format", "jsonl", "--force", "--out", &out];
        for more in [&[][..], &["--dry-run"]] {
            let told = sandbox.run(&[&["export", mine], &to[..], more].concat());
            assert!(
                told.contains("mine.jsonl is a file of hostile itself"),
                "{told}"
            );
            assert!(told.contains("exit Some(2)"), "{told}");
        }
    }
    assert_eq!(fs::read_to_string(mine).unwrap(), content);
    let out = other.display().to_string();
    let told = sandbox.run(&["export", mine, "--force", "--out", &out]);
    assert!(told.contains("Written to"), "{told}");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_told_with_the_path() {
    let sandbox = Sandbox::new();
    let long = "much was said before ".repeat(40_000);
    let text = crate::watching::session(1, &long);
    sandbox.write(".pi/agent/sessions/--w--/long.jsonl", &text);
    let full = sandbox.home.join("full");
    fs::create_dir(&full).expect("a folder");
    let script = r#"
        mount -t tmpfs -o size=64k tmpfs "$HOME/full"
        for format in markdown html jsonl; do
            code=0
            "$SESSIONARY" export 019b8d10 --format $format --out "$HOME/full/talk" || code=$?
            echo "$code, $(ls -A "$HOME/full" | wc -l) files left"
        done
    "#;
    let variables = [
        ("HOME", sandbox.home.as_os_str()),
        ("SESSIONARY", env!("CARGO_BIN_EXE_sessionary").as_ref()),
    ];
    let Some(told) = crate::scale::unshared(script, &variables) else {
        return;
    };
    let path = full.join("talk");
    let error = format!("error: {}: No space left on device", path.display());
    assert_eq!(told.matches("2, 0 files left").count(), 3, "{told}");
    assert_eq!(told.matches(&error).count(), 3, "{told}");
}

#[test]
fn settings_are_one_line_each_and_no_part_of_a_page() {
    let home = Sandbox::new();
    let at = r#""timestamp":"2026-01-05T09:00:00.000Z""#;
    home.write(".pi/agent/sessions/--w--/s.jsonl", &format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"s\",{at},\"cwd\":\"/w\"}}\n\
         {{\"type\":\"model_change\",\"id\":\"m1\",\"parentId\":null,{at},\"provider\":\"anthropic\",\"modelId\":\"opus\"}}\n\
         {{\"type\":\"thinking_level_change\",\"id\":\"t1\",\"parentId\":\"m1\",{at},\"thinkingLevel\":\"medium\"}}\n\
         {{\"type\":\"message\",\"id\":\"a1\",\"parentId\":\"t1\",{at},\"message\":{{\"role\":\"user\",\"content\":\"hello\"}}}}\n"
    ));
    for form in ["markdown", "html"] {
        let page = home.run(&["export", "s", "--format", form]);
        assert!(page.contains("hello"), "{page}");
        assert!(
            !page.contains("_change") && !page.contains("medium"),
            "{page}"
        );
    }
    let show = home.run(&["show", "s"]);
    assert!(
        show.contains("\n── model_change anthropic/opus\n"),
        "{show}"
    );
    assert!(
        show.contains("\n── thinking_level_change medium\n"),
        "{show}"
    );
    let all = home.run(&["show", "s", "--all"]);
    assert!(
        all.contains("\nanthropic\n") && all.contains("· m1 ─"),
        "{all}"
    );
    // Whoever asks for one sees it.
    assert!(home.run(&["show", "s:m1"]).contains("anthropic"));
}

/// What the active branch of a session says.
fn said(index: &Index, row: &SessionRow) -> Vec<(String, String)> {
    let shown = index.show(row, &ShowScope::default()).unwrap();
    let entries = shown.entries.into_iter();
    entries
        .map(|entry| (entry.kind, format!("{:?}", entry.text)))
        .collect()
}

/// Agents chain lines that say nothing to people too, name and count sessions beside their
/// branches, and begin a session's file with what is no header of pi's.
#[test]
fn what_is_exported_as_lines_reads_as_the_branch_did() {
    let (mut exported, mut differ) = (0, Vec::<String>::new());
    for agent in [
        "pi",
        "claude",
        "codex",
        "copilot",
        "cursor",
        "gemini",
        "induscode",
        "qwen",
    ] {
        for case in Store::cases(agent) {
            let store = Store::of(agent, &case);
            let index = store.index();
            for row in index.list(&ListScope::default()).unwrap().sessions {
                let mut copy = Vec::new();
                let copied = index.stream(|snapshot| snapshot.copy_branch(&row, None, &mut copy));
                let copied = match copied {
                    Err(Error::NotLines { .. }) => continue,
                    copied => copied.unwrap().0,
                };
                if copied.lacks_beginning {
                    continue;
                }
                // Each is a line of the session's own file.
                let file = fs::read(&row.path).unwrap();
                let lines: BTreeSet<&[u8]> = file.split(|byte| *byte == b'\n').collect();
                let is_line = |line: &[u8]| line.is_empty() || lines.contains(line);
                // Of these an entry may be less than its line.
                let is_odd = agent == "gemini"
                    || ["damage", "bom", "crlf", "fork-mark"].contains(&case.as_str());
                let mut copied = copy.split(|byte| *byte == b'\n');
                let strange = copied.find(|line| !is_odd && !is_line(line));
                if let Some(line) = strange.map(String::from_utf8_lossy) {
                    differ.push(format!("{agent}/{case}: no line of its file: {line}"));
                }
                let place = tempfile::tempdir().unwrap();
                let below = row.path.strip_prefix(store.path("")).unwrap();
                let path = place.path().join("home").join(below);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, &copy).unwrap();
                let roots = vec![root(agent, agent, &place.path().join("home"))];
                let config = Config::new(place.path().join("index"), roots);
                let again = fresh(&config, &config.index_dir);
                let rows = again.list(&ListScope::default()).unwrap().sessions;
                let what = format!("{agent}/{case}: {}", row.id);
                let of = |index: &Index, row: &SessionRow| {
                    // Names and directories may stand in files beside the session's.
                    (row.id.clone(), said(index, row))
                };
                match &rows[..] {
                    [copy] if of(&again, copy) == of(&index, &row) => {}
                    [copy] => differ.push(format!(
                        "{what}: {:?}\n   was {:?}",
                        of(&again, copy),
                        of(&index, &row)
                    )),
                    rows => differ.push(format!("{what}: {} sessions", rows.len())),
                }
                exported += 1;
            }
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
    assert!(exported > 100, "{exported}");
}

#[test]
fn markdown_has_two_names_and_a_refused_place_has_its_own() {
    let sandbox = Sandbox::new();
    hostile(&sandbox);
    let export = |form| sandbox.run(&["export", "hostile", "--format", form]);
    assert_eq!(export("md"), export("markdown"));
    // Nobody writes there, root neither; the file beside it is nobody's business.
    if cfg!(target_os = "linux") {
        let refused = sandbox.run(&["export", "hostile", "-o", "/proc/talk.md"]);
        assert!(refused.contains("/proc/talk.md: "), "{refused}");
        assert!(!refused.contains(".tmp"), "{refused}");
    }
}

#[test]
fn a_title_that_was_cut_says_so_where_it_is_read() {
    let sandbox = Sandbox::new();
    for (id, letters) in [("long", 250), ("whole", 200)] {
        let typed: String = ('a'..='z').cycle().take(letters).collect();
        let lines = [
            json!({"type": "session", "version": 3, "id": id, "cwd": "/w",
                "timestamp": "2026-01-05T09:00:00.000Z"}),
            json!({"type": "message", "id": "a", "parentId": null,
                "timestamp": "2026-01-05T09:00:01.000Z",
                "message": {"role": "user", "content": typed}}),
        ];
        let lines = lines.map(|line| format!("{line}\n")).concat();
        sandbox.write(&format!(".pi/agent/sessions/--w--/{id}.jsonl"), &lines);
        let written = sandbox.run(&["export", id]);
        let head = written.lines().next().expect("a title");
        assert_eq!(head.ends_with('…'), id == "long", "{head}");
        // What programs get is what was typed.
        let shown = sandbox.json(&["show", id, "--json"]);
        assert_eq!(shown["session"]["title"], typed[..200]);
    }
}
