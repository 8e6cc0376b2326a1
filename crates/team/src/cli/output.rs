//! How is it printed? Answers to standard output, as text or JSON; all else to standard error.

use std::env;
use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use sessionary::model::{SCHEMA_VERSION, acts, terminal_safe_json};
use sessionary::with_causes;
use sessionary_team::{Error, Problem};

/// How a verb ended that did not fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// All of it is done.
    Done,
    /// Something was left out, and is named.
    LeftOut,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> ExitCode {
        match outcome {
            Outcome::Done => ExitCode::SUCCESS,
            Outcome::LeftOut => ExitCode::from(1),
        }
    }
}

/// Print lines of an answer.
pub fn print(text: &str) -> Result<(), Error> {
    write(&plain(text))
}

/// Print an answer as JSON.
pub fn print_json(answer: &impl Serialize) -> Result<(), Error> {
    write(&Versioned::of(answer).pretty())
}

fn write(text: &str) -> Result<(), Error> {
    match writeln!(io::stdout(), "{text}") {
        // Whoever read it has gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.map_err(Error::at("standard output".as_ref())),
    }
}

/// What JSON carries first, whatever it says.
#[derive(Serialize)]
struct Versioned<T> {
    schema_version: u32,
    #[serde(flatten)]
    said: T,
}

impl<T: Serialize> Versioned<T> {
    fn of(said: T) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            said,
        }
    }

    /// On many lines, for people too.
    fn pretty(&self) -> String {
        let json = serde_json::to_string_pretty(self).unwrap_or_default();
        terminal_safe_json(&json).into_owned()
    }

    /// On one line.
    fn line(&self) -> String {
        let json = serde_json::to_string(self).unwrap_or_default();
        terminal_safe_json(&json).into_owned()
    }
}

/// What kind of error it is, in JSON.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    /// What was typed, or set, makes no sense.
    Usage,
    /// Everything else.
    Failed,
}

#[derive(Serialize)]
struct Reported<'a> {
    error: ReportedError<'a>,
}

#[derive(Serialize)]
struct ReportedError<'a> {
    kind: Kind,
    message: &'a str,
    hints: &'a [&'a str],
}

/// Say what went wrong and what helps, and give the exit code.
pub fn report(error: &Error, json: bool) -> ExitCode {
    let message = with_causes(error);
    match error {
        Error::Refused { what, hint } => say_error(Kind::Failed, what, &[hint.as_str()], json),
        Error::Index(sessionary::Error::Setting(bad)) => {
            let hints: Vec<&str> = bad.hint.as_deref().into_iter().collect();
            say_error(Kind::Usage, &message, &hints, json)
        }
        _ => say_error(Kind::Failed, &message, &[], json),
    }
}

/// Say what clap has to say: help and version are no errors.
pub fn usage(error: &clap::Error) -> ExitCode {
    // What was typed could not be understood, so whether JSON was asked for is read from the words.
    if error.use_stderr() && env::args_os().any(|word| word == "--json") {
        let message = error.to_string();
        let message = message.trim();
        let message = message.strip_prefix("error: ").unwrap_or(message);
        return say_error(Kind::Usage, message, &[], true);
    }
    // Nothing can be done where help cannot be printed.
    let _ = error.print();
    match error.use_stderr() {
        true => ExitCode::from(2),
        false => ExitCode::SUCCESS,
    }
}

fn say_error(kind: Kind, message: &str, hints: &[&str], json: bool) -> ExitCode {
    if json {
        let error = ReportedError {
            kind,
            message,
            hints,
        };
        // Nobody is told that nobody listens.
        let _ = writeln!(io::stderr(), "{}", Versioned::of(Reported { error }).line());
    } else {
        say(&format!("error: {message}"));
        hints.iter().for_each(|hint| say(&format!("hint: {hint}")));
    }
    ExitCode::from(2)
}

/// Say something beside the answer.
pub fn say(text: &str) {
    // Nobody is told that nobody listens.
    let _ = writeln!(io::stderr(), "{}", plain(text));
}

/// Name what was left out.
pub fn say_problems(problems: &[Problem]) -> Outcome {
    for problem in problems {
        let (what, why) = (line(&problem.what), line(&problem.why));
        say(&format!("left out: {what}: {why}"));
    }
    match problems {
        [] => Outcome::Done,
        _ => Outcome::LeftOut,
    }
}

/// What comes from other machines does nothing to a terminal, nor to the order of what it shows.
fn plain(text: &str) -> String {
    let shown = |of: char| {
        if acts(of) && of != '\n' {
            '\u{fffd}'
        } else {
            of
        }
    };
    text.chars().map(shown).collect()
}

/// As [`plain`], on one line.
pub fn line(text: &str) -> String {
    plain(text).replace('\n', " ")
}

/// So many of something.
pub fn count(many: u64, what: &str) -> String {
    match many {
        1 => format!("1 {what}"),
        _ => format!("{many} {what}s"),
    }
}

/// Bytes as people say them.
pub fn bytes(count: u64) -> String {
    #[expect(clippy::cast_precision_loss)]
    let size = count as f64;
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{:.1} KB", size / 1e3),
        1_000_000..1_000_000_000 => format!("{:.1} MB", size / 1e6),
        _ => format!("{:.1} GB", size / 1e9),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_printed_does_nothing() {
        let text = "a\u{1b}[2J\u{9b}2J\rb\u{202e}c\u{2066}d\ne";
        assert_eq!(
            plain(text),
            "a\u{fffd}[2J\u{fffd}2J\u{fffd}b\u{fffd}c\u{fffd}d\ne"
        );
        assert_eq!(line("one\nerror: two"), "one error: two");
    }

    #[test]
    fn json_that_does_nothing_says_the_same() {
        #[derive(Serialize)]
        struct Answer<'a> {
            problems: &'a [Problem],
        }
        let what = "a\u{1b}[2J\u{9b}2J\rb\u{202e}c\u{e0041}d\ne";
        let problems = &[Problem::new(what, "why")];
        let answer = Versioned::of(Answer { problems });
        for json in [answer.pretty(), answer.line()] {
            assert!(!json.contains(|of| acts(of) && of != '\n'), "{json:?}");
            let read: serde_json::Value = serde_json::from_str(&json).unwrap();
            assert_eq!(read["problems"][0]["what"], what);
            assert_eq!(read["schema_version"], SCHEMA_VERSION);
        }
    }
}
