//! How is it printed? Answers to standard output, as text or JSON; all else to standard error.

use std::io::{self, Write};
use std::process::ExitCode;

use serde::Serialize;
use sessionary::model::acts;
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
    let text = plain(text);
    match writeln!(io::stdout(), "{text}") {
        // Whoever read it has gone.
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
        printed => printed.map_err(Error::at("standard output".as_ref())),
    }
}

/// Print an answer as JSON.
pub fn print_json(answer: &impl Serialize) -> Result<(), Error> {
    let text = serde_json::to_string_pretty(answer).unwrap_or_default();
    print(&text)
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
}
