//! How does the picker look, what does it do at each key, and how does it leave the terminal? The
//! real program on a pseudo-terminal, its screen read by a terminal emulator.

#[path = "picker/below.rs"]
mod below;
#[cfg(feature = "failpoints")]
#[path = "picker/failpoints.rs"]
mod failpoints;
#[path = "picker/leaving.rs"]
mod leaving;
#[path = "picker/live.rs"]
mod live;
#[path = "picker/opening.rs"]
mod opening;
#[path = "picker/pty.rs"]
pub mod pty;
#[path = "picker/random.rs"]
mod random;
#[path = "picker/screens.rs"]
mod screens;
#[path = "picker/stopping.rs"]
mod stopping;

use std::process::Command;

use crate::sandbox::Sandbox;
use pty::{Program, Pty};

/// Where pi keeps the sessions of the sandbox's working directory.
const FOLDER: &str = ".pi/agent/sessions/--code-parser--";

/// What is said in a session; who said it, and the text.
type Said<'a> = (&'a str, &'a str);

/// Writes a session of pi as it was at this minute of the third of January.
fn write(home: &Sandbox, minute: u32, name: &str, cwd: &str, said: &[Said<'_>]) {
    let id = format!("019b8d10-0000-7000-8000-{minute:012}");
    let time = |second: usize| {
        format!(
            "2026-01-03T{:02}:{:02}:{second:02}.000Z",
            minute / 60,
            minute % 60
        )
    };
    let mut text = format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{}","cwd":"{cwd}"}}"#,
        time(0)
    );
    let mut parent = "null".to_owned();
    for (at, (role, content)) in said.iter().enumerate() {
        let content = serde_json::to_string(content).expect("a string");
        text += &format!(
            "\n{{\"type\":\"message\",\"id\":\"e{minute:03}{at:04}\",\"parentId\":{parent},\"timestamp\":\"{}\",\"message\":{{\"role\":\"{role}\",\"content\":[{{\"type\":\"text\",\"text\":{content}}}]}}}}",
            time(at + 1)
        );
        parent = format!("\"e{minute:03}{at:04}\"");
    }
    if !name.is_empty() {
        let name = serde_json::to_string(name).expect("a string");
        text += &format!(
            "\n{{\"type\":\"session_info\",\"id\":\"n{minute:07}\",\"parentId\":{parent},\"timestamp\":\"{}\",\"name\":{name}}}",
            time(59)
        );
    }
    let path = home.write(&format!("{FOLDER}/{id}.jsonl"), &(text + "\n"));
    home.touch(&path, 1_767_398_400 + u64::from(minute) * 60);
}

/// A home with a few sessions, all of them indexed.
fn home() -> Sandbox {
    let home = Sandbox::new();
    let here = "~/code/parser";
    let long =
        "The parser reads one line too many when the file ends without a newline. ".repeat(6);
    write(
        &home,
        600,
        "Linker error in CI",
        here,
        &[
            ("user", "Why does the build end with a linker error?"),
            (
                "assistant",
                "The linker does not find sqlite3.\n\nInstall it, or use the bundled feature:\n\n```toml\nrusqlite = { features = [\"bundled\"] }\n```",
            ),
            ("user", "Use the bundled one."),
        ],
    );
    write(
        &home,
        540,
        "",
        here,
        &[("user", &long), ("assistant", "A test first.")],
    );
    let far = "日本語のページを訳してください。インストールの手順をすべて、順番どおりに。";
    write(
        &home,
        480,
        "",
        "~/code/docs",
        &[("user", far), ("assistant", "はい。")],
    );
    write(
        &home,
        420,
        "👩‍👩‍👧 family emoji and é accents",
        here,
        &[("user", "walrus 👩‍👩‍👧")],
    );
    write(
        &home,
        360,
        "",
        here,
        &[("user", "שלום עולם walrus مرحبا"), ("assistant", "שלום")],
    );
    let hostile = "walrus \u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[31mred\u{202e}desrever\u{1b}[?1049l";
    write(&home, 300, hostile, here, &[("user", hostile)]);
    for minute in 10..40 {
        let said = format!("walrus number {minute}");
        write(
            &home,
            minute,
            "",
            "/gone",
            &[("user", &said), ("assistant", "Yes.")],
        );
    }
    home.settle();
    let _ = home.run(&["sync"]);
    home
}

/// Starts the command on a terminal.
fn start(home: &Sandbox, pty: &Pty, arguments: &[&str]) -> Program {
    pty.start(&home.command(arguments))
}

/// A shell in the sandbox.
fn bash(home: &Sandbox, arguments: &[&str]) -> Command {
    let ours = home.command(&[]);
    let variables = ours.get_envs();
    let mut bash = Command::new("bash");
    bash.args(arguments)
        .envs(variables.filter_map(|(name, value)| Some((name, value?))))
        .env("PS1", "$ ")
        .env("HISTFILE", "")
        .current_dir(&home.cwd);
    bash
}

/// A shell at which somebody types; `s` is the command, as [`Sandbox::command`] runs it. No script:
/// one that another test's new process has still open for writing cannot be run.
fn shell(home: &Sandbox, pty: &Pty) -> Program {
    let program = env!("CARGO_BIN_EXE_sessionary");
    let now = crate::sandbox::NOW;
    let settings = format!("PS1='$ '\nalias s='\"{program}\" --now {now} --width 100'\n");
    let settings = home.write("settings", &settings);
    let settings = settings.to_str().expect("a path");
    let bash = bash(home, &["--noprofile", "--rcfile", settings, "-i"]);
    let shell = pty.start(&bash);
    pty.until("the prompt", |screen| pty::lines(screen).ends_with("$\n"));
    shell
}
