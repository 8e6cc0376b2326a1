//! What went wrong, what can be done about it, and which exit code says so?

use std::io;
use std::process::ExitCode;

use clap::error::ContextKind;
use serde::Serialize;
use sessionary::index::RefusalCause;
use sessionary::model::{SCHEMA_VERSION, SessionRow};
use sessionary::settings::BadSetting;
use sessionary::{Error, StoreFault, with_causes};

use crate::args;
use crate::command::naming::MOST_CANDIDATES;
use crate::output::text::{acts, plain_line, plain_lines, terminal_safe_json};
use crate::output::{quote, say, say_whole};
use crate::suggest;

/// What helps where another place for the index does.
const ELSEWHERE: &str = "choose another directory with --index";
/// What helps where the index is damaged.
const REBUILD: &str = "`sessionary rebuild` rebuilds the index from the session files";
/// What helps where it was met too late to begin once more.
const AGAIN: &str =
    "try again: an index that can be written is rebuilt from the session files first";

/// How a command that did not fail ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// What was asked for is there, is so, or is done: exit code 0.
    Yes,
    /// Nothing was found, or it is not so: somebody said no, stores differ from the files, there
    /// are secrets, the archive is damaged or still holds what was deleted, what is gone could not
    /// be wiped. Exit code 1.
    No,
}

impl From<Outcome> for ExitCode {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Yes => Self::SUCCESS,
            Outcome::No => Self::from(1),
        }
    }
}

impl Outcome {
    /// `Yes` where it is so.
    pub fn of(is_so: bool) -> Self {
        match is_so {
            true => Self::Yes,
            false => Self::No,
        }
    }
}

/// What kind of failure it is; decides the exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// What was typed makes no sense.
    Usage,
    /// The session or entry is not there.
    NotFound,
    /// A name fits several sessions.
    Ambiguous,
    /// Another process is writing the index.
    Busy,
    /// Everything else.
    Failed,
    /// A question was answered with none of what there is: no error.
    Declined,
    /// Whoever read our output has gone: a normal end.
    Closed,
    /// The system asked the process to end, by this signal; what had to be put in order before it
    /// did is done.
    Signalled(i32),
}

/// An error on its way to the user.
#[derive(Debug)]
pub struct Failure {
    kind: Kind,
    error: anyhow::Error,
    hints: Vec<String>,
}

#[derive(Serialize)]
struct ErrorOutput<'a> {
    schema_version: u32,
    error: ReportedError<'a>,
}

#[derive(Serialize)]
struct ReportedError<'a> {
    kind: Kind,
    message: &'a str,
    hints: &'a [String],
}

impl Failure {
    /// A failure caused by what was typed.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(Kind::Usage, anyhow::Error::msg(message.into()))
    }

    /// What is not done for a reason that lies outside of the sessions.
    pub fn refused(message: impl Into<String>) -> Self {
        Self::new(Kind::Failed, anyhow::Error::msg(message.into()))
    }

    fn new(kind: Kind, error: anyhow::Error) -> Self {
        Self {
            kind,
            error,
            hints: Vec::new(),
        }
    }

    /// The failure that an error makes which somebody else keeps.
    pub fn from_kept(error: &Error) -> Self {
        let (kind, hints) = kind_and_hints(error);
        Self {
            kind,
            error: anyhow::Error::msg(with_causes(error)),
            hints,
        }
    }

    /// A session or an entry that is not there.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(Kind::NotFound, anyhow::Error::msg(message.into()))
    }

    /// A question that was answered with none of what there is: what does not happen.
    pub fn declined(nothing: &'static str) -> Self {
        Self::new(Kind::Declined, anyhow::Error::msg(nothing))
    }

    /// The process is to end by this signal.
    pub fn signalled(signal: i32) -> Self {
        let ended = anyhow::anyhow!("ended by signal {signal}");
        Self::new(Kind::Signalled(signal), ended)
    }

    /// The sessions that a name fits, if that is what is wrong.
    pub fn candidates(&self) -> Option<&[SessionRow]> {
        match self.error.downcast_ref::<Error>() {
            Some(Error::Ambiguous { candidates, .. }) => Some(candidates),
            _ => None,
        }
    }

    /// Adds a line on what to do about it.
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// What can be done about it.
    pub fn hints(&self) -> &[String] {
        &self.hints
    }

    /// What it says, and why.
    pub fn message(&self) -> String {
        with_causes(self.error.as_ref())
    }

    /// What it says, and why, on one line.
    pub fn line(&self) -> String {
        plain_line(&self.message())
    }

    /// Whether the catalogue turned out to be damaged.
    pub fn is_damage(&self) -> bool {
        let error = self.error.downcast_ref::<Error>();
        error.is_some_and(Error::is_damage)
    }

    /// Whether a session file changed while it was read.
    pub fn is_of_changed_file(&self) -> bool {
        let error = self.error.downcast_ref::<Error>();
        matches!(error, Some(Error::Changed { .. }))
    }

    /// Whether another process has rebuilt the index, or removed it.
    pub fn is_replaced(&self) -> bool {
        let error = self.error.downcast_ref::<Error>();
        error.is_some_and(Error::is_replaced)
    }

    /// The kind.
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// Says it on stderr and gives the exit code.
    pub fn report(&self, json: bool) -> ExitCode {
        let code = match self.kind {
            Kind::Closed => return ExitCode::SUCCESS,
            Kind::Signalled(signal) => return end_by(signal),
            Kind::Declined => {
                say(&format!("No: {}.", self.error));
                return ExitCode::from(1);
            }
            Kind::NotFound => 1,
            Kind::Usage | Kind::Ambiguous | Kind::Busy | Kind::Failed => 2,
        };
        let message = self.message();
        if json {
            let error = ReportedError {
                kind: self.kind,
                message: &message,
                hints: &self.hints,
            };
            let reported = ErrorOutput {
                schema_version: SCHEMA_VERSION,
                error,
            };
            match serde_json::to_string(&reported) {
                Ok(text) => say_whole(&terminal_safe_json(&text)),
                Err(error) => say(&format!("error: {message} ({error})")),
            }
        } else {
            let message: Vec<String> = message.lines().map(plain_line).collect();
            say(&format!("error: {}", message.join("\n")));
            for hint in &self.hints {
                say(&format!("hint: {}", plain_line(hint)));
            }
        }
        ExitCode::from(code)
    }
}

/// Ends the process as the signal does by default, so that a shell learns of it.
fn end_by(signal: i32) -> ExitCode {
    #[cfg(unix)]
    let _ = signal_hook::low_level::emulate_default_handler(signal);
    ExitCode::from(u8::try_from(128 + signal).unwrap_or(2))
}

/// What clap has to say: help and version are no errors.
pub fn usage(mut error: clap::Error) -> ExitCode {
    let typed: Vec<String> = std::env::args_os()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    // What was typed could not be understood, so whether JSON was asked for is read from the words
    // themselves.
    let json = typed.iter().any(|word| word == "--json" || word == "-j");
    if let Some(failure) = suggest::failure(&error, &typed) {
        return failure.report(json);
    }
    if args::offers_hidden(&error) {
        error.remove(ContextKind::SuggestedArg);
    }
    if error.use_stderr() && json {
        let message = error.to_string();
        let message = message.trim().strip_prefix("error: ").unwrap_or(&message);
        return Failure::usage(message).report(true);
    }
    // It repeats what was typed, which may come from elsewhere; what is coloured by it is seen
    // without colours.
    let message = error.to_string();
    if error.use_stderr() && message.contains(|c| acts(c) && c != '\n') {
        say(plain_lines(&message).trim_end());
        return ExitCode::from(2);
    }
    // Nothing can be done when help cannot be printed.
    let _ = error.print();
    if error.use_stderr() {
        ExitCode::from(2)
    } else {
        ExitCode::SUCCESS
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let (kind, hints) = kind_and_hints(&error);
        Self {
            kind,
            error: error.into(),
            hints,
        }
    }
}

impl From<BadSetting> for Failure {
    fn from(bad: BadSetting) -> Self {
        Error::from(bad).into()
    }
}

/// What is said of a name that is not found while some files are not read.
const NOT_READ_YET: &str = "it may be in a file that has not been read yet";

/// How sessions are named.
fn names() -> impl Iterator<Item = String> {
    let names = [
        "`sessionary list --all` shows every session",
        "a session is named by its id, the start of its id, its path, its name or title, or `last`",
    ];
    names.into_iter().map(str::to_owned)
}

#[expect(clippy::too_many_lines, reason = "one arm per error")]
fn kind_and_hints(error: &Error) -> (Kind, Vec<String>) {
    match error {
        Error::Busy { .. } => (
            Kind::Busy,
            vec!["another sessionary is writing the index; list and search still work".to_owned()],
        ),
        Error::NotFound { complete, .. } => {
            let unread = (!complete).then(|| NOT_READ_YET.to_owned());
            (Kind::NotFound, names().chain(unread).collect())
        }
        Error::NoName => (Kind::Usage, names().collect()),
        Error::Setting(bad) => (Kind::Usage, bad.hint.iter().cloned().collect()),
        Error::Output { source } if source.kind() == io::ErrorKind::BrokenPipe => {
            (Kind::Closed, Vec::new())
        }
        error if error.fault() == Some(StoreFault::Locked) => (
            Kind::Busy,
            vec!["list and search still answer, as of the last sync".to_owned()],
        ),
        error if error.fault() == Some(StoreFault::Query) => (
            Kind::Usage,
            vec!["`sessionary sql --help` has examples".to_owned()],
        ),
        Error::Outdated => (Kind::Busy, vec!["try again".to_owned()]),
        Error::Changed { .. } => {
            let elsewhere = "if the index cannot be written, choose another place with --index";
            (
                Kind::Busy,
                vec!["try again".to_owned(), elsewhere.to_owned()],
            )
        }
        Error::NoEntries { .. } => (Kind::NotFound, Vec::new()),
        Error::NoIndex => (
            Kind::NotFound,
            vec!["`sessionary sync` builds one".to_owned()],
        ),
        Error::NoEntry {
            session, complete, ..
        } => {
            let tree = format!(
                "`sessionary tree {} --filter all` shows every entry; L<line> names a line",
                quote::posix(session)
            );
            let unread = (!complete).then(|| NOT_READ_YET.to_owned());
            (Kind::NotFound, [tree].into_iter().chain(unread).collect())
        }
        error if error.is_damage() => (Kind::Failed, vec![AGAIN.to_owned()]),
        error if error.is_replaced() => (Kind::Failed, vec!["try again".to_owned()]),
        error if error.lacks_random_bytes() => {
            let device = "`mknod -m 444 /dev/urandom c 1 9`";
            (
                Kind::Failed,
                vec![format!("mount /dev where it runs, or {device}")],
            )
        }
        error if error.fault() == Some(StoreFault::Words) && error.cause().is_none() => {
            (Kind::Failed, vec![REBUILD.to_owned()])
        }
        error if error.fault() == Some(StoreFault::FullSession) => {
            (Kind::Failed, vec![REBUILD.to_owned()])
        }
        error if error.fault() == Some(StoreFault::Foreign) => {
            (Kind::Failed, vec![ELSEWHERE.to_owned()])
        }
        Error::NotOurs { .. } => (Kind::Failed, vec![ELSEWHERE.to_owned()]),
        Error::Query(_) => (
            Kind::Usage,
            vec!["`sessionary search --help` explains queries".to_owned()],
        ),
        Error::Cursor | Error::OtherCursor => (Kind::Usage, Vec::new()),
        Error::TooFewBytes { least } => {
            (Kind::Usage, vec![format!("--max-bytes {least} is enough")])
        }
        Error::AmbiguousEntry { candidates, .. } => {
            let more = candidates.len().saturating_sub(MOST_CANDIDATES);
            let more = (more > 0).then(|| format!("and {more} more"));
            let listed = candidates.iter().take(MOST_CANDIDATES).cloned();
            (Kind::Ambiguous, listed.chain(more).collect())
        }
        Error::Ambiguous { .. } => (Kind::Ambiguous, Vec::new()),
        error => (
            Kind::Failed,
            error.cause().map(remedy).into_iter().collect(),
        ),
    }
}

/// What helps where the system refuses.
fn remedy(cause: RefusalCause) -> String {
    match cause {
        RefusalCause::Full => {
            format!("free some space, raise the quota or `ulimit -f`, or {ELSEWHERE}")
        }
        RefusalCause::Rights => format!("get permission to write there, or {ELSEWHERE}"),
        RefusalCause::ReadOnly => format!("the file system there is read-only: {ELSEWHERE}"),
        RefusalCause::OpenFiles => {
            "too many files are open: `ulimit -n 1024` allows more".to_owned()
        }
        RefusalCause::Disk => format!("the disk may be failing: {ELSEWHERE}"),
        _ => ELSEWHERE.to_owned(),
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        let kind = if error.kind() == io::ErrorKind::BrokenPipe {
            Kind::Closed
        } else {
            Kind::Failed
        };
        Self::new(kind, error.into())
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        match error.io_error_kind() {
            Some(io::ErrorKind::BrokenPipe) => Self::new(Kind::Closed, error.into()),
            _ => Self::new(Kind::Failed, error.into()),
        }
    }
}

impl From<anyhow::Error> for Failure {
    fn from(error: anyhow::Error) -> Self {
        Self::new(Kind::Failed, error)
    }
}
