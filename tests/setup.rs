//! How does an agent get the tools of `mcp`, and what is it told?

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};

use crate::lines::pi_session;
use crate::sandbox::Sandbox;

const PROGRAM: &str = env!("CARGO_BIN_EXE_sessionary");

/// A program of that name that notes its words, and ends so.
fn agent(home: &Sandbox, name: &str, code: u8) {
    let path = home.write(
        &format!("bin/{name}"),
        &format!(
            "#!/bin/sh\nprintf '%s\\n' \"$0\" \"$@\" >> \"$HOME/ran\"\necho added\nexit {code}\n"
        ),
    );
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn ran(home: &Sandbox) -> Vec<String> {
    let noted = fs::read_to_string(home.home.join("ran")).unwrap_or_default();
    let mut words: Vec<String> = noted.lines().map(str::to_owned).collect();
    if let Some(program) = words.first_mut() {
        let name = Path::new(program.as_str()).file_name().unwrap();
        *program = name.to_string_lossy().into_owned();
    }
    words
}

fn setup(home: &Sandbox, arguments: &[&str]) -> (Option<i32>, String) {
    let output = home
        .command(&[&["setup"], arguments].concat())
        .env("PATH", home.home.join("bin"))
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8(said).unwrap();
    (
        output.status.code(),
        said.replace(PROGRAM, "/bin/sessionary"),
    )
}

#[test]
fn each_agent_gets_the_server_by_its_own_command() {
    let expected: [(&str, &[&str]); 7] = [
        (
            "claude",
            &["mcp", "add", "--scope", "user", "sessionary", "--"],
        ),
        ("codex", &["mcp", "add", "sessionary", "--"]),
        ("copilot", &["mcp", "add", "sessionary", "--"]),
        ("gemini", &["mcp", "add", "--scope", "user", "sessionary"]),
        ("opencode", &["mcp", "add", "sessionary", "--"]),
        ("pi", &["mcp", "add", "sessionary", "--"]),
        ("qwen", &["mcp", "add", "--scope", "user", "sessionary"]),
    ];
    for (name, words) in expected {
        let home = Sandbox::new();
        agent(&home, name, 0);
        assert_eq!(setup(&home, &[name, "--yes"]).0, Some(0), "{name}");
        assert_eq!(
            ran(&home),
            [&[name], words, &[PROGRAM, "mcp"]].concat(),
            "{name}"
        );
    }
}

#[test]
fn nothing_runs_without_a_yes() {
    let home = Sandbox::new();
    agent(&home, "codex", 0);
    let (code, said) = setup(&home, &["codex"]);
    assert_eq!(code, Some(2));
    insta::assert_snapshot!(said, @r#"
    This would run: codex mcp add sessionary -- /bin/sessionary mcp
    error: nothing was run: there is no terminal to ask on
    hint: --yes runs it without a question, --print only prints it
    "#);
    let (code, said) = setup(&home, &["codex", "--print", "--all"]);
    assert_eq!(
        (code, said.as_str()),
        (
            Some(0),
            "codex mcp add sessionary -- /bin/sessionary mcp --all\n"
        )
    );
    let (_, said) = setup(&home, &["codex", "--json"]);
    let answer: Value = serde_json::from_str(&said).unwrap();
    let argv = [
        "codex",
        "mcp",
        "add",
        "sessionary",
        "--",
        "/bin/sessionary",
        "mcp",
    ];
    assert_eq!(answer["argv"], json!(argv));
    assert_eq!(answer["ran"], false);
    assert_eq!(ran(&home), [""; 0]);
}

#[test]
fn the_server_gets_what_was_said_of_index_and_roots() {
    let home = Sandbox::new();
    home.write("code/parser/old/--x--/none.txt", "");
    let arguments = [
        "gemini",
        "--print",
        "--index",
        "../index",
        "--root",
        "pi:old=laptop",
        "--no-default-roots",
        "--follow-links",
    ];
    let (code, said) = setup(&home, &arguments);
    assert_eq!(code, Some(0), "{said}");
    let said = said.replace(&home.home.display().to_string(), "/home");
    insta::assert_snapshot!(said, @"gemini mcp add --scope user sessionary /bin/sessionary mcp --index /home/code/parser/../index --no-default-roots --follow-links --root 'pi:/home/code/parser/old=laptop'");
    let (code, said) = setup(&home, &["gemini", "--print", "--root", "nonsense"]);
    assert_eq!(code, Some(2));
    assert!(
        said.starts_with("error: --root nonsense: not FORMAT:DIR\n"),
        "{said}"
    );
}

/// The name on the PATH stays where an upgrade puts another program behind it.
#[test]
fn the_server_is_started_by_the_name_on_the_path() {
    let home = Sandbox::new();
    home.write("bin/readme", "");
    let name = home
        .home
        .join("bin")
        .join(Path::new(PROGRAM).file_name().unwrap());
    std::os::unix::fs::symlink(PROGRAM, &name).unwrap();
    let (_, said) = setup(&home, &["codex", "--print"]);
    let expected = format!("codex mcp add sessionary -- {} mcp\n", name.display());
    assert_eq!(said, expected);
    // Another program of that name is another program.
    fs::remove_file(&name).unwrap();
    fs::write(&name, "").unwrap();
    let (_, said) = setup(&home, &["codex", "--print"]);
    assert_eq!(said, "codex mcp add sessionary -- /bin/sessionary mcp\n");
}

#[test]
fn who_adds_no_server_twice_can_take_it_out() {
    let home = Sandbox::new();
    agent(&home, "claude", 1);
    let (_, said) = setup(&home, &["claude", "--yes"]);
    insta::assert_snapshot!(said, @r#"
    added
    Running claude mcp add --scope user sessionary -- /bin/sessionary mcp
    error: claude did not add the server: it ended with exit status: 1
    hint: `sessionary setup claude --print` prints the command
    hint: where it has the server already, `claude mcp remove --scope user sessionary` removes it
    "#);
}

#[test]
fn what_an_agent_refuses_and_one_that_is_not_there_are_errors() {
    let home = Sandbox::new();
    agent(&home, "qwen", 3);
    let (code, said) = setup(&home, &["qwen", "--yes"]);
    assert_eq!(code, Some(2));
    insta::assert_snapshot!(said, @r#"
    added
    Running qwen mcp add --scope user sessionary /bin/sessionary mcp
    error: qwen did not add the server: it ended with exit status: 3
    hint: `sessionary setup qwen --print` prints the command
    "#);
    let (code, said) = setup(&home, &["gemini", "--yes"]);
    assert_eq!(code, Some(2));
    insta::assert_snapshot!(said, @r#"
    Running gemini mcp add --scope user sessionary /bin/sessionary mcp
    error: gemini: is not on the PATH
    hint: `sessionary setup gemini --print` prints the command
    "#);
    // With --json standard output is the answer alone.
    agent(&home, "pi", 0);
    let output = home
        .command(&["setup", "pi", "--yes", "--json"])
        .env("PATH", home.home.join("bin"))
        .output()
        .unwrap();
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["ran"], true);
}

#[test]
fn an_agent_without_a_command_gets_lines_and_no_file_is_written() {
    let home = Sandbox::new();
    let (code, said) = setup(&home, &["cursor", "--yes"]);
    assert_eq!(code, Some(0));
    insta::assert_snapshot!(said, @r#"
    {
      "mcpServers": {
        "sessionary": {
          "args": [
            "mcp"
          ],
          "command": "/bin/sessionary"
        }
      }
    }
    It has no command for this: add these lines to ~/.cursor/mcp.json, beside the servers that are there.
    "#);
    assert!(!home.home.join(".cursor").exists());
}

/// Every command of the skill works as it stands there, and its answer holds what is said of it.
#[test]
fn the_skill_is_true() {
    let home = Sandbox::new();
    let said = [
        ("user", "should the tokenizer keep the trailing newline?"),
        ("assistant", "The tokenizer drops the trailing newline."),
    ];
    let at = "2026-01-02T09:00:00.000Z";
    pi_session(&home, "0199a:skill", "code/parser", at, &said);
    let skill = home.run(&["skill"]);
    assert!(skill.starts_with("---\nname: sessionary\ndescription: "));
    let commands: Vec<&str> = skill
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("sessionary "))
        .filter(|line| line.contains("--json"))
        .collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    // By that an answer is cut off, and has a cursor.
    let is_bounded = |command: &&str| command.contains(" --max-bytes ");
    assert!(commands.iter().all(is_bounded), "{commands:?}");
    let mut address = String::new();
    for command in commands {
        let command = command.replace("ADDRESS", &address);
        let words: Vec<&str> = command.split(' ').collect();
        let answer = home.json(&words);
        match words[0] {
            "search" => {
                let found = &answer["sessions"][0];
                assert!(found["session"]["title"].is_string(), "{answer}");
                let hit = &found["hits"][0];
                address = hit["address"].as_str().unwrap().to_owned();
                assert!(
                    hit["snippet"].is_string() && hit["place"].is_string(),
                    "{hit}"
                );
                assert!(hit["role"].is_string() && hit["tool"].is_null(), "{hit}");
            }
            "show" => {
                let entries = answer["entries"].as_array().unwrap();
                let roles: Vec<&Value> = entries.iter().map(|entry| &entry["role"]).collect();
                assert_eq!(roles, ["user", "assistant"]);
                assert!(entries.iter().all(|entry| entry["kind"].is_null()));
            }
            _ => assert_eq!(answer["sessions"][0]["agent"], "pi", "{answer}"),
        }
    }
    let nothing = ["search", "--here", "--json", "walrus"];
    assert_eq!(home.output(&nothing).status.code(), Some(1));
}
