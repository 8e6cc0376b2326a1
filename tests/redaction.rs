//! Are keys and tokens left out where a program or a file gets what was said, and nowhere else?

use std::process::{Command, Stdio};

use insta::assert_snapshot;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::Value;
use sessionary::index::{ListScope, SearchScope, ShowScope};
use sessionary::model::Mask;
use sessionary::{Config, Freshness, Index};

use crate::histories::dump::root;
use crate::sandbox::Sandbox;

/// Put together here, so that nobody takes this file for one with secrets in it.
fn token() -> String {
    format!("ghp_{}", "a1B2c3D4".repeat(5))
}

fn key() -> String {
    format!("sk-proj-{}", "Z9y8X7w6".repeat(10))
}

const PEM: &str = "-----BEGIN RSA PRIVATE KEY-----\\nMIIEpAIBAAKCAQEA0123456789abcdef0123456789abcdef\\n0123456789abcdef\\n-----END RSA PRIVATE KEY-----";

/// One session: its name, its first message, a label, a tool's output and a call hold secrets.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let (token, key) = (token(), key());
    let line = |id: &str, parent: &str, rest: &str| {
        format!(
            r#"{{"id":"{id}","parentId":{parent},"timestamp":"2026-01-05T09:00:01.000Z",{rest}}}"#
        )
    };
    let lines = [
        r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"~/code/parser"}"#.to_owned(),
        line("a1", "null", &format!(r#""type":"message","message":{{"role":"user","content":"Deploy with {token} walrus please","timestamp":1767603601000}}"#)),
        line("a2", r#""a1""#, &format!(r#""type":"message","message":{{"role":"assistant","content":[{{"type":"text","text":"I use it"}},{{"type":"toolCall","id":"t1","name":"bash","arguments":{{"command":"OPENAI_API_KEY={key} deploy"}}}}],"timestamp":1767603602000}}"#)),
        line("a3", r#""a2""#, &format!(r#""type":"message","message":{{"role":"toolResult","toolCallId":"t1","toolName":"bash","content":[{{"type":"text","text":"{PEM}\ndone, {token}"}}],"isError":false,"timestamp":1767603603000}}"#)),
        line("a4", r#""a3""#, &format!(r#""type":"label","targetId":"a1","label":"with {key}""#)),
        line("a5", r#""a4""#, &format!(r#""type":"session_info","name":"Deploy {token}""#)),
    ];
    home.write(
        ".pi/agent/sessions/--code-parser--/one.jsonl",
        &(lines.join("\n") + "\n"),
    );
    home.settle();
    home
}

/// Whether it holds any part of a secret.
fn leaks(text: &str) -> bool {
    ["a1B2c3D4", "Z9y8X7w6", "MIIEpAIB", "0123456789abcdef"]
        .iter()
        .any(|part| text.contains(part))
}

/// Everything that prints what was said.
const PRINTING: [&[&str]; 20] = [
    &["search", "walrus"],
    &["list", "--as", "pi", "--jsonl", "--with-text"],
    &["search", "walrus", "--context", "2"],
    &["search", "walrus", "--json", "--context", "2"],
    &["search", "done", "--json"],
    &["show", "0a"],
    &["show", "0a", "--json", "--all"],
    &["tree", "0a", "--filter", "all"],
    &["tree", "0a", "--json", "--filter", "all"],
    &["context", "0a"],
    &["context", "0a", "--json"],
    &["list"],
    &["list", "--json", "--with-text"],
    &["list", "--jsonl"],
    &["resume", "0a", "--json"],
    &["fork", "0a", "--dry-run"],
    &["delete", "0a", "--dry-run"],
    &["fork", "0a", "--dry-run", "--json"],
    &["export", "0a"],
    &["export", "0a", "--format", "html"],
];

/// For programs that answer an agent, whatever their user has configured.
#[test]
fn a_search_can_be_redacted_against_the_configuration() {
    let home = home();
    home.write(".config/sessionary/config.toml", "redact = \"never\"\n");
    for arguments in [&["search", "walrus"][..], &["search", "walrus", "--json"]] {
        let said = home.run(arguments);
        assert!(leaks(&said), "{arguments:?}: {said}");
        let said = home.run(&[arguments, &["--redact"]].concat());
        assert!(!leaks(&said), "{arguments:?}: {said}");
        assert!(said.contains("ghp_[redacted]"), "{arguments:?}: {said}");
    }
    let both = home.output(&["search", "walrus", "--redact", "--reveal"]);
    assert_eq!(both.status.code(), Some(2), "{both:?}");
}

#[test]
fn a_pipe_gets_no_secret_unless_it_is_asked_for() {
    let home = home();
    for arguments in PRINTING {
        let output = home.output(arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        let beside = String::from_utf8_lossy(&output.stderr);
        assert!(!leaks(&said) && !leaks(&beside), "{arguments:?}: {said}");
        assert!(said.contains("[redacted]"), "{arguments:?}: {said}");
        let told = beside.contains("--reveal shows them");
        assert!(told || arguments[0] == "resume", "{arguments:?}: {beside}");
        if arguments.contains(&"--json") || arguments.contains(&"--jsonl") {
            let json: Result<Value, _> = serde_json::from_str(&said);
            assert!(json.is_ok(), "{arguments:?}: {json:?}");
        }
        let revealed = home.output(&[arguments, &["--reveal"]].concat());
        let said = String::from_utf8_lossy(&revealed.stdout);
        assert!(leaks(&said), "{arguments:?}: {said}");
        assert!(!said.contains("[redacted]"), "{arguments:?}: {said}");
    }
    assert_snapshot!(home.run(&["show", "0a"]), @r#"
    Deploy ghp_[redacted]
    pi · ~/code/parser · 2026-01-05 09:00 · 6 entries
    ~/.pi/agent/sessions/--code-parser--/one.jsonl

    ── user · 2026-01-05 09:00 · [with sk-[redacted]] · a1 ─────────────────────────────────────────────
    Deploy with ghp_[redacted] walrus please

    ── assistant · 2026-01-05 09:00 · a2 ───────────────────────────────────────────────────────────────
    I use it
      │ bash
      │ OPENAI_API_KEY=[redacted] deploy

    ── toolResult · 2026-01-05 09:00 · a3 ──────────────────────────────────────────────────────────────
      │ bash
      │ -----BEGIN RSA PRIVATE KEY-----[redacted]-----
      │ done, ghp_[redacted]

    ── label · 2026-01-05 09:00 · a4 ───────────────────────────────────────────────────────────────────
    with sk-[redacted]

    ── session_info · 2026-01-05 09:00 · a5 ────────────────────────────────────────────────────────────
    Deploy ghp_[redacted]
    --- stderr
    Keys and tokens are redacted; --reveal shows them.
    "#);
}

/// Names are recorded too: of models and who runs them, of branches, tools, kinds, and in the keys
/// of arguments. Ids and paths stay, as sessions are found by them.
#[test]
fn a_secret_in_a_name_is_left_out() {
    let home = Sandbox::new();
    let key = |name: &str| format!("{name}_{}", token());
    let names = ["provider", "model", "thinking", "kind", "tool", "argument"].map(key);
    let [provider, model, thinking, kind, tool, argument] = &names;
    let lines = [
        serde_json::json!({"type": "session", "version": 3, "id": "0a", "cwd": "~/code/parser"}),
        serde_json::json!({"type": "message", "id": "a1", "message": {"role": "user", "content": "walrus"}}),
        serde_json::json!({"type": "message", "id": "a2", "parentId": "a1", "message": {"role": "assistant",
            "provider": provider, "model": model, "usage": {"input": 1, "output": 1, "totalTokens": 2},
            "content": [{"type": "toolCall", "id": "t1", "name": tool, "arguments": {argument: "heron"}}]}}),
        serde_json::json!({"type": "message", "id": "a3", "parentId": "a2", "message": {"role": "toolResult",
            "toolCallId": "t1", "toolName": tool, "content": [{"type": "text", "text": "heron"}]}}),
        serde_json::json!({"type": "thinking_level_change", "id": "a4", "parentId": "a3", "thinkingLevel": thinking}),
        serde_json::json!({"type": kind, "id": "a5", "parentId": "a4"}),
    ];
    let lines: Vec<String> = lines.iter().map(Value::to_string).collect();
    home.write(".pi/agent/sessions/--p--/0a.jsonl", &lines.join("\n"));
    let other = "0c000000-0000-4000-8000-000000000000";
    let branch = serde_json::json!({"type": "user", "sessionId": other, "uuid": "c1", "cwd": "/c",
        "gitBranch": key("branch"), "timestamp": "2026-01-05T09:00:01.000Z",
        "message": {"role": "user", "content": "walrus"}});
    let file = format!(".claude/projects/-c/{other}.jsonl");
    home.write(&file, &format!("{branch}\n"));
    home.settle();
    for arguments in [
        &["list", "--all"][..],
        &["list", "--all", "--json"],
        &["list", "--all", "--jsonl", "--with-text"],
        &["search", "heron", "--context", "1"],
        &["search", "heron", "--json", "--context", "1"],
        &["show", "0a"],
        &["show", "0a", "--json", "--all"],
        &["tree", "0a", "--filter", "all"],
        &["tree", "0a", "--json", "--filter", "all"],
        &["context", "0a"],
        &["context", "0a", "--json"],
        &["resume", "0a", "--json"],
        &["resume", other, "--json"],
        &["export", "0a"],
        &["export", "0a", "--format", "html"],
        &["report", "--by", "model"],
        &["report", "--by", "model", "--json"],
        &["report", "--by", "model", "--csv"],
        &["report", "--by", "model", "--html"],
        &["report", "--by", "tool", "--json"],
        &["report", "--json"],
    ] {
        let output = home.output(arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        for said in [&output.stdout, &output.stderr] {
            let said = String::from_utf8_lossy(said);
            assert!(!leaks(&said), "{arguments:?}: {said}");
        }
    }
    let row = &home.json(&["resume", "0a", "--json"])["session"];
    assert_eq!(row["model"], "model_ghp_[redacted]", "{row}");
    let revealed = home.run(&["list", "--all", "--json", "--reveal"]);
    assert!(revealed.contains(model) && revealed.contains("branch_ghp_a1"));
}

/// What is exported may be passed on, and a path leads nowhere then.
#[test]
fn an_export_holds_no_secret_of_a_path() {
    let home = Sandbox::new();
    let lines = format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"0a\",\"cwd\":\"/w/app_{}\"}}\n\
         {{\"type\":\"message\",\"id\":\"a1\",\"message\":{{\"role\":\"user\",\"content\":\"walrus\"}}}}\n",
        token()
    );
    home.write(".pi/agent/sessions/--w--/0a.jsonl", &lines);
    home.settle();
    for form in ["markdown", "html"] {
        let said = home.run(&["export", "0a", "--format", form]);
        assert!(
            !leaks(&said) && said.contains("/w/app_ghp_[redacted]"),
            "{said}"
        );
    }
    assert!(leaks(&home.run(&["list", "--all", "--json"])));
}

#[test]
fn a_long_list_leaves_out_the_secrets_of_every_row() {
    let home = Sandbox::new();
    const SESSIONS: usize = 500;
    for at in 0..SESSIONS {
        let (id, secret) = (format!("{at:04}"), [token(), "none".to_owned()]);
        let text = format!("Deploy {} {}", secret[at % 2], "with care ".repeat(60));
        let lines = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/c\"}}\n\
             {{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":\"{text}\"}}}}\n"
        );
        home.write(&format!(".pi/agent/sessions/--c--/{id}.jsonl"), &lines);
    }
    let list = |more: &[&str]| {
        let output = home.output(&[&["list", "--all", "--json"], more].concat());
        String::from_utf8(output.stdout).expect("JSON")
    };
    let said = list(&[]);
    assert!(said.len() > 300_000 && !leaks(&said));
    // As the title and as the first message.
    assert_eq!(said.matches("[redacted]").count(), SESSIONS);
    assert_eq!(list(&["--reveal"]).matches(&token()).count(), SESSIONS);
}

/// In JSON there stand escapes between a name and its secret, where a person typed an end of a line
/// or pasted JSON.
#[test]
fn a_list_as_json_leaves_out_what_a_list_for_people_does() {
    let home = Sandbox::new();
    let said = [
        "my api_key:\n0123456789abcdef0".to_owned(),
        "a log: {\"level\":\"info\",\"password\":\"0123456789abcdef1\"}".to_owned(),
        "twice: {\\\"api_key\\\":\\\"0123456789abcdef2\\\"}".to_owned(),
        "client_secret =\t\"0123456789abcdef3\"".to_owned(),
        format!("two lines\n{}\n", token()),
    ];
    for (at, text) in said.iter().enumerate() {
        let text = serde_json::to_string(text).unwrap();
        let lines = format!(
            "{{\"type\":\"session\",\"version\":3,\"id\":\"s{at}\",\"timestamp\":\"2026-01-05T09:00:00.000Z\",\"cwd\":\"/c\"}}\n\
             {{\"type\":\"message\",\"id\":\"a1\",\"parentId\":null,\"timestamp\":\"2026-01-05T09:00:01.000Z\",\"message\":{{\"role\":\"user\",\"content\":{text}}}}}\n"
        );
        home.write(&format!(".pi/agent/sessions/--c--/{at}.jsonl"), &lines);
    }
    for form in [None, Some("--json"), Some("--jsonl")] {
        let arguments: Vec<&str> = ["list", "--all"].into_iter().chain(form).collect();
        let told = String::from_utf8(home.output(&arguments).stdout).expect("text");
        // JSON says it as the title and as the first message.
        let times = if form.is_some() { 2 } else { 1 };
        assert_eq!(
            told.matches("[redacted]").count(),
            times * said.len(),
            "{told}"
        );
        assert!(
            !told.contains("0123456789abcdef") && !leaks(&told),
            "{told}"
        );
    }
}

#[test]
fn a_secret_that_only_its_name_tells_is_found_in_arguments() {
    let home = Sandbox::new();
    let secret = format!("{}x", "Q1w2E3r4".repeat(3));
    let lines = [
        r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"~/code/parser"}"#.to_owned(),
        format!(r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"t1","name":"deploy","arguments":{{"n":1.50,"to":"walrus","login":{{"user":"ada","password":"{secret}"}},"api_key":["{secret}"]}}}}],"timestamp":1767603602000}}}}"#),
        format!(r#"{{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-01-05T09:00:02.000Z","message":{{"role":"toolResult","toolCallId":"t1","toolName":"deploy","content":[{{"type":"text","text":"heron"}}],"details":{{"client_secret":"{secret}"}},"isError":false,"timestamp":1767603603000}}}}"#),
    ];
    home.write(
        ".pi/agent/sessions/--work-parser--/one.jsonl",
        &(lines.join("\n") + "\n"),
    );
    home.settle();
    for arguments in [
        &["search", "heron", "--context", "1"][..],
        &["search", "heron", "--json", "--context", "1"],
        &["show", "0a"],
        &["show", "0a", "--json"],
        &["tree", "0a", "--filter", "all"],
        &["tree", "0a", "--json", "--filter", "all"],
        &["context", "0a"],
        &["context", "0a", "--json"],
        &["export", "0a"],
        &["export", "0a", "--format", "html"],
    ] {
        let output = home.output(arguments);
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!said.contains("Q1w2E3r4"), "{arguments:?}: {said}");
        assert!(said.contains("[redacted]"), "{arguments:?}: {said}");
        let revealed = home.output(&[arguments, &["--reveal"]].concat()).stdout;
        let revealed = String::from_utf8_lossy(&revealed);
        assert!(revealed.contains(&secret), "{arguments:?}: {revealed}");
    }
    // But for what is left out the JSON is as it was written.
    let context = home.output(&["context", "0a", "--json"]).stdout;
    let context = String::from_utf8_lossy(&context);
    let expected = r#""arguments":{"n":1.50,"to":"walrus","login":{"user":"ada","password":"[redacted]"},"api_key":["[redacted]"]}"#;
    assert!(context.contains(expected), "{context}");
}

/// One session whose only call, in which nothing is said, was given these arguments.
pub fn called_with(arguments: &str) -> Sandbox {
    let home = Sandbox::new();
    let lines = [
        r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#.to_owned(),
        format!(r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"assistant","content":[{{"type":"toolCall","id":"t1","name":"deploy","arguments":{arguments}}}],"timestamp":1767603602000}}}}"#),
    ];
    home.write(
        ".pi/agent/sessions/--w--/0a.jsonl",
        &(lines.join("\n") + "\n"),
    );
    home.settle();
    home
}

/// What ends a value in a shell ends none in JSON, where all of the text is the value.
#[test]
fn in_arguments_no_sign_ends_a_secret() {
    let secrets = [
        "Q1w2E3r4&Q1w2",
        "Q1w2;E3r4,Q1w2",
        "Q1w2(E3r4)'Q1w2",
        r#"Q1w2\"E3r4<Q1w2>"#,
        r"Q1w2\\E3r4 Q1w2",
    ];
    let prompt = "Please enter the password";
    let members = secrets
        .iter()
        .map(|secret| format!(r#"{{"password":"{secret}"}}"#));
    let members: Vec<String> = members.collect();
    let arguments = format!(
        r#"{{"all":[{}],"walrus":{{"password":"{prompt}"}}}}"#,
        members.join(",")
    );
    let home = called_with(&arguments);
    for arguments in [
        &["show", "0a"][..],
        &["show", "0a", "--json"],
        &["context", "0a", "--json"],
        &["export", "0a"],
    ] {
        let said = String::from_utf8(home.output(arguments).stdout).expect("text");
        assert!(
            !["Q1w2", "E3r4"].iter().any(|part| said.contains(part)),
            "{said}"
        );
        assert!(said.contains(prompt), "{said}");
        assert_eq!(said.matches("[redacted]").count(), secrets.len(), "{said}");
    }
}

/// What a form, a manifest and a request are given: each value with `Q1w2E3r4` in it, and the
/// number 51234567, is a secret; each with `heron` in it, and the number 51234568, is none.
pub const NAMED_BESIDE: &str = r##"{"fields":[
    {"name":"Password","type":"textbox","ref":"e12","value":"Q1w2E3r4"},
    {"name":"Bird","type":"textbox","ref":"e13","value":"heron2"}],
    "element":"Password field of ada","ref":"e14","text":"Q1w2E3r4",
    "env":[{"value":"Q1w2E3r4 x","name":"DB_PASSWORD"},{"key":"BIRD","value":"heron 3"}],
    "fill":{"selector":"input[name='password']","value":"Q1w2E3r4"},
    "fills":[{"selector":"input#password-field.form-control","value":"Q1w2E3r4"},
    {"label":"Password (required)","text":"Q1w2E3r4"}],
    "args":"{\"value\":\"Q1w2E3r4\",\"name\":\"DB_PASSWORD\",\"bird\":\"heron5\"} ",
    "said":{"name":"Password","note":"heron4","text":["heron in the reeds"]},
    "number":{"name":"admin password","value":51234567},
    "password":51234567,"count":51234568,
    "headers":{"Cookie":"theme=heron; sessionid=Q1w2E3r4Q1w2E3r4"},
    "header":{"name":"Cookie","value":"theme=heron; sessionid=Q1w2E3r4Q1w2E3r4"}}"##;

/// So many values of [`NAMED_BESIDE`] are secrets.
pub const SECRETS_BESIDE: usize = 11;

#[test]
fn in_arguments_a_name_beside_a_value_and_a_number_tell_a_secret_too() {
    let home = called_with(&NAMED_BESIDE.replace('\n', ""));
    for arguments in [
        &["show", "0a"][..],
        &["show", "0a", "--json"],
        &["context", "0a"],
        &["context", "0a", "--json"],
        &["export", "0a"],
        &["export", "0a", "--format", "html"],
    ] {
        let said = String::from_utf8(home.output(arguments).stdout).expect("text");
        for secret in ["Q1w2", "51234567"] {
            assert!(!said.contains(secret), "{arguments:?}: {said}");
        }
        let marks = said.matches("[redacted]").count();
        assert_eq!(marks, SECRETS_BESIDE, "{arguments:?}: {said}");
        for innocent in [
            "heron2",
            "heron 3",
            "heron4",
            "heron in the reeds",
            "51234568",
        ] {
            assert!(said.contains(innocent), "{arguments:?}: {said}");
        }
    }
}

/// Each of these would take minutes where each text is compared with each of its names, or each is
/// looked for in a name of any length.
#[test]
fn many_names_of_one_text_and_a_long_name_cost_no_more_than_their_length() {
    let same: Vec<String> = (0..20_000).map(|at| format!(r#""k{at}":"true""#)).collect();
    let below = ["\"x\""; 20_000].join(",");
    let long = format!("\"{}\":[{below}]", "n".repeat(50_000));
    let home = called_with(&format!("{{{},{long}}}", same.join(",")));
    for arguments in [&["show", "0a"][..], &["context", "0a", "--json"]] {
        let said = String::from_utf8(home.output(arguments).stdout).expect("text");
        assert!(said.matches("true").count() >= 20_000, "{arguments:?}");
    }
}

/// Among a million letters of base64 some look like a mark: an image stays as it is.
#[test]
fn an_image_stays_whole() {
    let image = format!("{}+YCA{}==", "iVBORw0K".repeat(1000), "a1B2c3D4".repeat(5));
    let home = Sandbox::new();
    let lines = [
        r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#.to_owned(),
        format!(r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"user","content":[{{"type":"image","data":"{image}","mimeType":"image/png"}},{{"type":"text","text":"is {}"}}]}}}}"#, token()),
    ];
    home.write(
        ".pi/agent/sessions/--w--/0a.jsonl",
        &(lines.join("\n") + "\n"),
    );
    home.settle();
    let content = &home.json(&["context", "0a", "--json"])["messages"][0]["content"];
    assert_eq!(content[0]["data"], *image);
    assert_eq!(content[1]["text"], "is ghp_[redacted]");
}

/// grep marks what it found, which may be a part of a token.
#[test]
fn a_colour_within_a_secret_hides_no_part_of_it() {
    let home = Sandbox::new();
    let lines = [
        r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#,
        r#"{"type":"message","id":"a1","parentId":null,"timestamp":"2026-01-05T09:00:01.000Z","message":{"role":"user","content":"ghp_\u001b[01;31m\u001b[Ka1B2\u001b[m\u001b[Kc3D4a1B2c3D4a1B2c3D4 walrus"}}"#,
    ];
    home.write(
        ".pi/agent/sessions/--w--/0a.jsonl",
        &(lines.join("\n") + "\n"),
    );
    home.settle();
    for arguments in [
        &["context", "0a"][..],
        &["context", "0a", "--json"],
        &["list", "--all", "--json"],
        &["list", "--all"],
        &["show", "0a"],
    ] {
        let said = String::from_utf8(home.output(arguments).stdout).expect("text");
        assert!(
            said.contains("walrus") && said.contains("[redacted]"),
            "{said}"
        );
        assert!(!said.contains("a1B2") && !said.contains("c3D4"), "{said}");
    }
}

/// Of lines that are no entry only the beginning is read: no secret is cut there so that its rule
/// no longer knows it.
#[test]
fn the_beginning_of_what_is_no_entry_shows_no_part_of_a_secret() {
    let home = Sandbox::new();
    let aws = format!("AKIA{}", "Z9Y8X7W6".repeat(2));
    let in_url = "https://bob:Z9y8X7w6Z9y8X7w6@host/x";
    let long = "-----BEGIN RSA PRIVATE KEY-----\\n".to_owned()
        + &format!("{}\\n", "MIIEpAIB".repeat(8)).repeat(59)
        + "-----END RSA PRIVATE KEY-----\\n";
    let mut lines = vec![
        r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#.to_owned(),
        r#"{"type":"message","id":"a1","parentId":null,"message":{"role":"user","content":"walrus"}}"#.to_owned(),
    ];
    // Across the last byte that is read, where a key before it takes no room once it is masked, or
    // bytes that are not shown do.
    for (secret, within) in [
        (token().as_str(), 12),
        (&aws, 15),
        (&aws, 19),
        (in_url, 28),
        ("password=Z9y8X7w6Z9y8X7w6Z9y8", 20),
    ] {
        let room = 4096 - within;
        lines.push(format!("{long:<room$}{secret} and on"));
        lines.push(format!("x{}{secret} and on", "\0".repeat(room - 1)));
        lines.push(format!("x {}{secret} and on", "\0".repeat(room - 2)));
    }
    // Across the end of what is shown, whole and longer than what is read.
    let jwt = format!("eyJ{}.eyJ{}.", "a1B2c3D4".repeat(8), "a1B2c3D4".repeat(8));
    let endless = |begins: &str, ends: &str| format!("{begins}{}{ends}", "Z9y8X7w6".repeat(700));
    for secret in [
        token(),
        jwt,
        in_url.to_owned(),
        endless("https://bob:", "@host/x"),
        endless("password=", ""),
        endless("eyJ", ""),
        long,
    ] {
        lines.push(format!("{} {secret} and on", "y".repeat(180)));
    }
    // As before: short ones as a whole.
    lines.push(format!("{{\"broken\": \"{} and on", token()));
    lines.push(String::new());
    home.write(".pi/agent/sessions/--w--/0a.jsonl", &lines.join("\n"));
    home.settle();
    for form in [None, Some("--json")] {
        let arguments: Vec<&str> = ["show", "0a", "--all"].into_iter().chain(form).collect();
        let said = String::from_utf8(home.output(&arguments).stdout).unwrap();
        assert!(said.contains("walrus"), "{said}");
        let parts = ["a1B2", "Z9y8", "Z9Y8", "MIIE"];
        for line in said.lines() {
            assert!(!parts.iter().any(|part| line.contains(part)), "{line}");
        }
        assert!(said.contains("ghp_[redacted] and on"), "{said}");
    }
}

#[test]
fn what_is_to_be_exact_is() {
    let home = home();
    let raw = home.output(&["show", "0a", "--raw"]).stdout;
    let file = home
        .home
        .join(".pi/agent/sessions/--code-parser--/one.jsonl");
    assert_eq!(raw, std::fs::read(file).expect("the session"));
    let jsonl = home.output(&["export", "0a", "--format", "jsonl"]).stdout;
    assert!(leaks(&String::from_utf8_lossy(&jsonl)));
    for arguments in [
        &["sql", "SELECT first_message FROM sessions"][..],
        &["sql", "--csv", "SELECT first_message FROM sessions"],
        &["sql", "--json", "SELECT raw(entry) FROM entries"],
    ] {
        let said = home.output(arguments).stdout;
        assert!(leaks(&String::from_utf8_lossy(&said)), "{arguments:?}");
    }
    let sessions = home.home.join(".pi/agent/sessions");
    let config = Config::new(
        home.home.join(".cache/sessionary"),
        vec![root("pi", "pi", &sessions)],
    );
    let index = Index::open(&config, Freshness::AsCommitted).expect("the index");
    let found = index
        .search("walrus", &SearchScope::default())
        .expect("hits");
    assert!(found.sessions[0].hits[0].snippet.contains(&token()));
    let shown = index
        .show(&found.sessions[0].session, &ShowScope::default())
        .expect("a transcript");
    assert!(format!("{shown:?}").contains(&token()));
}

/// What only a program knows to be secret it leaves out by itself.
#[test]
fn a_mask_may_hold_what_its_caller_knows() {
    let home = home();
    let sessions = home.home.join(".pi/agent/sessions");
    let config = Config::new(
        home.home.join(".cache/sessionary"),
        vec![root("pi", "pi", &sessions)],
    );
    let index = Index::open(&config, Freshness::Check).expect("the index");
    let known = ["Deploy".to_owned(), "walrus".to_owned()];
    let mask = Mask::new(move |text| {
        let masked = known.iter().fold(text.to_owned(), |text, secret| {
            text.replace(secret.as_str(), "****")
        });
        (masked != text).then_some(masked)
    });
    let scope = SearchScope {
        mask: Some(mask.clone()),
        ..SearchScope::default()
    };
    let found = index.search("walrus", &scope).expect("hits");
    let group = &found.sessions[0];
    assert!(group.hits[0].snippet.starts_with("**** with "), "{found:?}");
    let scope = ShowScope {
        mask: Some(mask.clone()),
        ..ShowScope::default()
    };
    let shown = index.show(&group.session, &scope).expect("a transcript");
    let rows = index.list(&ListScope {
        mask: Some(mask.clone()),
        ..ListScope::default()
    });
    let mut said = format!("{shown:?} {:?}", rows.expect("a list").sessions);
    let query = "SELECT preview(entry) FROM entries";
    let streamed = index.sql_each(query, &[], Some(&mask), &mut |part| {
        said += &format!("{part:?}");
        Ok::<(), sessionary::Error>(())
    });
    let _ = streamed.expect("rows");
    for secret in ["Deploy", "walrus"] {
        assert!(!said.contains(secret), "{said}");
    }
}

#[test]
fn marks_lie_on_what_is_shown() {
    let answer = home().json(&["search", "walrus", "--json"]);
    let hit = &answer["sessions"][0]["hits"][0];
    let snippet = hit["snippet"].as_str().expect("a snippet");
    assert_eq!(snippet, "Deploy with ghp_[redacted] walrus please");
    let mark = |at: usize| hit["highlights"][0][at].as_u64().expect("a place") as usize;
    assert_eq!(&snippet[mark(0)..mark(1)], "walrus");
    // What was found within a secret is told, not shown.
    let home = self::home();
    let answer = home.json(&["search", "*c3D4a1*", "--json"]);
    assert!(answer["total"].as_u64() > Some(0), "{answer}");
    assert!(!leaks(&answer["sessions"].to_string()), "{answer}");
}

#[test]
fn the_configuration_says_when() {
    let home = home();
    let path = home.output(&["config", "path"]).stdout;
    let path = String::from_utf8(path).expect("UTF-8");
    let path = path
        .trim_end()
        .strip_prefix(&*home.home.display().to_string());
    let path = path
        .expect("below the home")
        .trim_start_matches('/')
        .to_owned();
    let shows = |on_terminal: bool, arguments: &[&str]| {
        let said = match on_terminal {
            true => terminal(&home, arguments, &[])?,
            false => home.output(arguments).stdout,
        };
        Some(leaks(&String::from_utf8_lossy(&said)))
    };
    for (setting, in_pipe, on_terminal) in [
        ("never", true, true),
        ("not-a-terminal", false, true),
        ("always", false, false),
    ] {
        home.write(&path, &format!("redact = \"{setting}\"\n"));
        assert_eq!(shows(false, &["show", "0a"]), Some(in_pipe), "{setting}");
        assert_eq!(shows(false, &["show", "0a", "--reveal"]), Some(true));
        match shows(true, &["show", "0a"]) {
            Some(shown) => assert_eq!(shown, on_terminal, "{setting}"),
            None => eprintln!("SKIPPED: script(1) makes no terminal here"),
        }
    }
    home.write(&path, "redact = \"sometimes\"\n");
    assert_snapshot!(home.run(&["show", "0a"]), @r#"
    --- stderr
    error: $HOME/.config/sessionary/config.toml:1: `redact` takes "never", "not-a-terminal" or "always", not "sometimes"
    hint: for example redact = "always"
    --- exit Some(2)
    "#);
}

/// An agent may give its shell a terminal; what is printed there goes to a model all the same.
#[test]
fn a_terminal_of_an_agent_is_no_person() {
    let home = home();
    let shows = |arguments: &[&str], set: &[(&str, &str)]| {
        let said = terminal(&home, arguments, set)?;
        Some(leaks(&String::from_utf8_lossy(&said)))
    };
    let Some(shown) = shows(&["show", "0a"], &[]) else {
        eprintln!("SKIPPED: script(1) makes no terminal here");
        return;
    };
    assert!(shown);
    for name in [
        "CLAUDECODE",
        "PI_CODING_AGENT",
        "OPENCODE",
        "GEMINI_CLI",
        "CODEX_SANDBOX",
    ] {
        assert_eq!(
            shows(&["show", "0a"], &[(name, "1")]),
            Some(false),
            "{name}"
        );
    }
    assert_eq!(
        shows(&["show", "0a", "--reveal"], &[("CLAUDECODE", "1")]),
        Some(true)
    );
    // What a person sets for an agent, and what is empty.
    for set in [
        ("CODEX_HOME", "/x"),
        ("CLAUDE_CONFIG_DIR", "/x"),
        ("CLAUDECODE", ""),
    ] {
        assert_eq!(shows(&["show", "0a"], &[set]), Some(true), "{set:?}");
    }
}

#[test]
fn context_says_how_many_values_it_leaves_out() {
    let home = home();
    // The token twice, the key of the call, and the private key.
    for arguments in [
        &["context", "0a", "--llm"][..],
        &["context", "0a"],
        &["context", "0a", "--json", "--llm"],
    ] {
        let output = home.output(arguments);
        let (said, beside) = (
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
        );
        assert_eq!(said.matches("[redacted]").count(), 4, "{said}");
        assert!(
            beside.contains("Redacted: 4 values like keys and tokens; --reveal shows them."),
            "{beside}"
        );
    }
    assert_eq!(
        home.json(&["context", "0a", "--llm", "--json"])["left_out"],
        4
    );
    assert_eq!(
        home.json(&["context", "0a", "--llm", "--json", "--reveal"])["left_out"],
        0
    );
}

/// What a command prints on a terminal of its own; `None` where none can be had.
fn terminal(home: &Sandbox, arguments: &[&str], set: &[(&str, &str)]) -> Option<Vec<u8>> {
    let command = home.command(arguments);
    let words: Vec<String> = std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(|word| format!("'{}'", word.display()))
        .collect();
    let mut script = Command::new("script");
    script.args(["-qec", &words.join(" "), "/dev/null"]);
    script
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("TERM", "dumb")
        .envs(set.iter().copied())
        .current_dir(&home.cwd)
        .stdin(Stdio::null());
    let output = script
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    Some(output.stdout)
}

/// What became of the lines of a file: how many secrets were caught, how many innocents touched,
/// and which went wrong.
struct Tally {
    secrets: usize,
    caught: usize,
    innocents: usize,
    touched: usize,
    wrong: String,
}

/// Has the command show each line of such a file as a message of its own. Its first lines say how
/// it is written.
fn tally(file: &str) -> Tally {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fixtures/redaction")
        .join(file);
    let lines = std::fs::read_to_string(&path).expect("labelled lines");
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let lines: Vec<(bool, String, Vec<String>)> = lines
        .lines()
        .filter(|line| !line.starts_with('#') && !line.is_empty())
        .map(|line| match line.split_once('\t') {
            Some(("secret", text)) => (true, expand(text, &mut random)),
            Some(("innocent", text)) => (false, expand(text, &mut random)),
            _ => panic!("no labelled line: {line}"),
        })
        .map(|(is_secret, (text, parts))| (is_secret, text, parts))
        .collect();
    let mut session = String::from(
        r#"{"type":"session","version":3,"id":"0a","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/c"}"#,
    ) + "\n";
    for (at, (_, text, _)) in lines.iter().enumerate() {
        let message =
            serde_json::json!({"role": "user", "content": text, "timestamp": 1767603601000_u64});
        let parent = at.checked_sub(1).map(|before| format!("e{before}"));
        let line = serde_json::json!({"type": "message", "id": format!("e{at}"), "parentId": parent,
            "timestamp": "2026-01-05T09:00:01.000Z", "message": message});
        session += &format!("{line}\n");
    }
    let home = Sandbox::new();
    home.write(".pi/agent/sessions/--c--/0a.jsonl", &session);
    let texts = |arguments: &[&str]| -> Vec<String> {
        let answer = home.json(arguments);
        let messages = answer["messages"].as_array().expect("messages").iter();
        messages
            .map(|message| message["content"].as_str().expect("text").to_owned())
            .collect()
    };
    let shown = texts(&["context", "0a", "--json"]);
    let whole = texts(&["context", "0a", "--json", "--reveal"]);
    assert_eq!((shown.len(), whole.len()), (lines.len(), lines.len()));
    let mut judged = Tally {
        secrets: 0,
        caught: 0,
        innocents: 0,
        touched: 0,
        wrong: String::new(),
    };
    for (at, (is_secret, _, parts)) in lines.iter().enumerate() {
        let (text, shown) = (&whole[at], &shown[at]);
        let is_touched = shown != text;
        if *is_secret {
            // Beside the secret an id may be written out.
            let longest = parts.iter().max_by_key(|part| part.len());
            let caught = is_touched && longest.is_none_or(|part| !shown.contains(part.as_str()));
            judged.secrets += 1;
            judged.caught += usize::from(caught);
            if !caught {
                judged.wrong += &format!("missed: {text}\n   as: {shown}\n");
            }
        } else {
            judged.innocents += 1;
            judged.touched += usize::from(is_touched);
            if is_touched {
                judged.wrong += &format!("touched: {text}\n     as: {shown}\n");
            }
        }
    }
    judged
}

/// A text with its `{36}` and `{36x}` written out, and what they became.
fn expand(text: &str, random: &mut ChaCha8Rng) -> (String, Vec<String>) {
    const HEX: &str = "0123456789abcdef";
    const SMALL: &str = "abcdefghijklmnopqrstuvwxyz";
    const LARGE: &str = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    let (mut out, mut parts, mut rest) = (String::new(), Vec::new(), text);
    while let Some(at) = rest.find('{') {
        let (before, from) = rest.split_at(at);
        out += before;
        let inner = from[1..].split_once('}').map_or("", |(inner, _)| inner);
        let length = inner.trim_end_matches(|c: char| c.is_ascii_alphabetic());
        let signs = match &inner[length.len()..] {
            "" => format!("{SMALL}{LARGE}0123456789"),
            "x" => HEX.to_owned(),
            "A" => format!("{LARGE}234567"),
            "b" => format!("{SMALL}{LARGE}0123456789+/"),
            "d" => "0123456789".to_owned(),
            _ => String::new(),
        };
        match length.parse::<usize>() {
            Ok(length) if !signs.is_empty() => {
                let sign = |_| char::from(signs.as_bytes()[random.random_range(0..signs.len())]);
                let part: String = (0..length).map(sign).collect();
                out += &part;
                parts.push(part);
                rest = &from[inner.len() + 2..];
            }
            _ => {
                out.push('{');
                rest = &from[1..];
            }
        }
    }
    ((out + rest).replace("\\n", "\n"), parts)
}

#[test]
fn what_is_made_up_is_caught_and_what_is_innocent_stays() {
    let judged = tally("own.txt");
    let Tally {
        secrets,
        caught,
        innocents,
        touched,
        wrong,
    } = &judged;
    println!("{caught} of {secrets} caught, {touched} of {innocents} touched\n{wrong}");
    assert!(*secrets >= 150 && *innocents >= 300);
    assert!(
        caught * 100 >= secrets * 90,
        "{caught} of {secrets}:\n{wrong}"
    );
    assert!(
        touched * 100 <= innocents * 2,
        "{touched} of {innocents}:\n{wrong}"
    );
}

/// Written by somebody who had not seen the rules. They were not changed for it afterwards.
#[test]
fn a_set_made_without_sight_of_the_rules() {
    let judged = tally("blind.txt");
    let Tally {
        secrets,
        caught,
        innocents,
        touched,
        wrong,
    } = judged;
    println!("{caught} of {secrets} secrets, {touched} of {innocents} innocents\n{wrong}");
    assert!(secrets >= 150 && innocents >= 300);
    assert!(
        caught * 100 >= secrets * 85,
        "{caught} of {secrets}\n{wrong}"
    );
    assert!(
        touched * 100 <= innocents * 3,
        "{touched} of {innocents}\n{wrong}"
    );
}
