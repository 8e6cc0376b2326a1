//! How is something copied? By the terminal (OSC 52, which works from another machine too), and by
//! the system's clipboard program, where there is one.

use std::env;
use std::fs::File;
use std::io::Write;
use std::process::{ChildStdin, Command, Stdio};
use std::thread;

use base64::prelude::{BASE64_STANDARD, Engine};
use sessionary::Index;
use sessionary::index::ShowScope;
use sessionary::model::{Class, ShownEntry};

use super::actions::Target;
use crate::command::export::{self, ExportFormat};
use crate::command::resume;
use crate::failure::Failure;
use crate::output::Screen;
use crate::output::quote;
use crate::output::text::{acts, inert_lines};
use crate::output::time::count;
use crate::output::transcript::call;

/// Letters of base64 that every terminal takes which takes any.
const MOST_LETTERS: usize = 100_000;

/// Bytes that every system holds for a program that does not read them yet.
const HELD: usize = 4_096;

/// What of a session is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CopyFormat {
    Command,
    Id,
    Path,
    Markdown,
    /// The text of an entry.
    Entry,
    /// How that is named.
    Address,
}

/// What is copied of a session. Keys are left out of texts and Markdown as in an export.
pub fn text(
    what: CopyFormat,
    target: &Target,
    index: impl FnOnce() -> Result<Index, Failure>,
    screen: &Screen,
) -> Result<String, Failure> {
    let session = &target.session;
    Ok(match what {
        CopyFormat::Command => resume::command(session)?.trim_end().to_owned(),
        CopyFormat::Id => inert(&session.id),
        CopyFormat::Path => inert(&session.path.to_string_lossy()),
        CopyFormat::Markdown => {
            let (form, through) = (ExportFormat::Markdown, target.through.as_deref());
            let mut spool = export::branch_through(form, through, session, &index()?, screen)?;
            let mut page = Vec::new();
            spool.copy_to(&mut page)?;
            String::from_utf8_lossy(&page).into_owned()
        }
        CopyFormat::Entry => entry_text(target, &index()?, screen)?,
        CopyFormat::Address => inert(&format!("{}:{}", session.id, entry_of(target)?)),
    })
}

fn entry_of(target: &Target) -> Result<&str, Failure> {
    let entry = target.entry.as_deref();
    entry.ok_or_else(|| Failure::refused("no entry is shown"))
}

/// What is in an entry, without keys: where a tool is called what it was given, and where one has
/// answered what it gave; else what is said.
fn entry_text(target: &Target, index: &Index, screen: &Screen) -> Result<String, Failure> {
    let scope = ShowScope {
        entry: Some(entry_of(target)?.to_owned()),
        mask: screen.mask_of_files(),
        ..ShowScope::default()
    };
    let shown = index.show(&target.session, &scope)?;
    let entry = shown.entries.iter().find(|entry| entry.problem.is_none());
    let text = entry.map(said).unwrap_or_default();
    match text.is_empty() {
        true => Err(Failure::refused("there is no text in the entry shown")),
        false => Ok(text),
    }
}

fn said(entry: &ShownEntry) -> String {
    let of = |class: Class| {
        let passages = entry.text.iter().filter(move |(of, _)| *of == class);
        let texts = passages.map(|(_, pieces)| match class {
            Class::Output => call(pieces).1,
            Class::Prose => {
                let lines: Vec<String> = pieces.iter().map(|piece| inert_lines(piece)).collect();
                lines.join("\n")
            }
        });
        let all = texts.collect::<Vec<_>>().join("\n");
        all.trim_end_matches('\n').to_owned()
    };
    let output = of(Class::Output);
    match output.is_empty() {
        true => of(Class::Prose),
        false => output,
    }
}

/// What that is called.
pub fn what_of(what: CopyFormat, sessions: usize) -> String {
    let one = match what {
        CopyFormat::Command => "the command that continues the session",
        CopyFormat::Id => "its id",
        CopyFormat::Path => "the path of its file",
        CopyFormat::Markdown => "the branch as Markdown",
        CopyFormat::Entry => "the text of the entry",
        CopyFormat::Address => "the address of the entry",
    };
    match sessions {
        1 => one.to_owned(),
        some => format!("{one}, of {}", count(some as u64, "session")),
    }
}

/// As it is; quoted where a terminal would act on it that it is pasted into.
fn inert(text: &str) -> String {
    match text.contains(acts) {
        true => quote::posix(text),
        false => text.to_owned(),
    }
}

/// Has the terminal copy it.
pub fn to_terminal(text: &str, mut terminal: &File) -> std::io::Result<()> {
    let in_tmux = is_set("TMUX");
    let write = |sequence: String| terminal.write_all(sequence.as_bytes());
    sequence(text, in_tmux).map_or(Ok(()), write)
}

/// What a terminal is told to copy; `None`: it is too long for many. tmux is asked to pass it on.
pub fn sequence(text: &str, in_tmux: bool) -> Option<String> {
    let encoded = BASE64_STANDARD.encode(text);
    if encoded.len() > MOST_LETTERS {
        return None;
    }
    Some(match in_tmux {
        true => format!("\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\"),
        false => format!("\x1b]52;c;{encoded}\x07"),
    })
}

/// Gives it to the clipboard programs that there are, and waits for none of them. Whether there is
/// one.
pub fn to_program(text: &str) -> bool {
    let mut given = false;
    if is_set("TMUX") {
        // With -w it hands it on to its terminal.
        given |= feed(&["tmux", "load-buffer", "-w", "-"], text.as_bytes());
    }
    given
        | programs().iter().any(|program| {
            // It reads what Windows writes.
            let is_windows = program[0].starts_with("clip");
            match is_windows && !text.is_ascii() {
                true => {
                    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
                    feed(
                        program,
                        &units.flat_map(u16::to_le_bytes).collect::<Vec<_>>(),
                    )
                }
                false => feed(program, text.as_bytes()),
            }
        })
}

/// The system's programs that copy what they read, the best first.
fn programs() -> Vec<&'static [&'static str]> {
    let mut programs: Vec<&[&str]> = Vec::new();
    if cfg!(target_os = "macos") {
        programs.push(&["pbcopy"]);
    }
    if cfg!(windows) {
        programs.push(&["clip"]);
    }
    if is_set("WAYLAND_DISPLAY") {
        programs.push(&["wl-copy"]);
    }
    if is_set("DISPLAY") {
        programs.push(&["xclip", "-selection", "clipboard"]);
        programs.push(&["xsel", "--clipboard", "--input"]);
    }
    if is_set("WSL_DISTRO_NAME") {
        programs.push(&["clip.exe"]);
    }
    programs
}

fn is_set(variable: &str) -> bool {
    env::var_os(variable).is_some_and(|value| !value.is_empty())
}

/// Starts a program and has it read this. Whether it started.
fn feed(program: &[&str], text: &[u8]) -> bool {
    let [name, arguments @ ..] = program else {
        return false;
    };
    let mut command = Command::new(name);
    command.args(arguments);
    command.stdin(Stdio::piped());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt;
        // It may outlive the terminal's programs: what was copied is its.
        command.process_group(0);
    }
    let Ok(mut child) = command.spawn() else {
        return false;
    };
    let mut input = child.stdin.take();
    let mut text = text.to_vec();
    if text.len() <= HELD {
        // It is there even where the picker is left at once.
        give(input.take(), &std::mem::take(&mut text));
    }
    let rest = move || {
        give(input, &text);
        let _ = child.wait();
    };
    thread::Builder::new().spawn(rest).is_ok()
}

fn give(input: Option<ChildStdin>, text: &[u8]) {
    if let Some(mut input) = input {
        // One that does not read it has not copied it: there is nobody to tell.
        let _ = input.write_all(text);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_terminal_is_told_so_that_nothing_of_it_acts() {
        let text = "a\x1b]0;title\x07\nb";
        let plain = sequence(text, false).expect("it is short");
        assert_eq!(plain, "\x1b]52;c;YRtdMDt0aXRsZQcKYg==\x07");
        assert_eq!(plain.matches('\x1b').count(), 1);
        // tmux takes away the outer sequence and one escape of each two.
        let wrapped = sequence(text, true).expect("it is short");
        let inner = wrapped
            .strip_prefix("\x1bPtmux;")
            .and_then(|rest| rest.strip_suffix("\x1b\\"))
            .expect("wrapped");
        assert_eq!(inner.replace("\x1b\x1b", "\x1b"), plain);
        assert!(sequence(&"x".repeat(75_000), false).is_some());
        assert!(sequence(&"x".repeat(75_001), false).is_none());
    }

    #[test]
    fn ids_that_would_act_are_quoted() {
        assert_eq!(inert("019b-3f2a"), "019b-3f2a");
        assert_eq!(inert("/a b/c.jsonl"), "/a b/c.jsonl");
        let quoted = inert("x\u{1b}[31m\nrm -rf /");
        assert!(
            !quoted.contains('\u{1b}') && quoted.starts_with('\''),
            "{quoted}"
        );
    }
}
