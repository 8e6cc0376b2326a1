//! How is an answer printed? One [`Screen`] knows width, colours, the time, and whether JSON was
//! asked for.

pub mod address;
pub mod bounded;
pub mod branches;
pub mod csv;
pub mod cursor;
pub mod fields;
pub mod hits;
pub mod html;
pub mod markdown;
pub mod pager;
pub mod progress;
pub mod provisional;
pub mod queue;
pub mod quote;
pub mod spool;
pub mod stream;
pub mod style;
pub mod table;
pub mod text;
pub mod time;
pub mod transcript;
pub mod wrap;

use std::cell::{Cell, OnceCell};
use std::io::{self, IsTerminal, Write};
use std::path::Path;

use serde::Serialize;
use serde_json::value::RawValue;
use sessionary::format::json;
use sessionary::model::{Mask, Zone};
use sessionary::settings::{Redact, Settings};
use sessionary::syntax::Now;

use crate::again;
use crate::args::{Color, Global};
use crate::demo;
use crate::places;
use crate::redact;
use spool::Spool;
use style::Style;
use time::Clock;

/// Where answers go, and how they look.
#[derive(Clone)]
pub struct Screen {
    /// Whether JSON was asked for.
    pub json: bool,
    /// Colours or none.
    pub style: Style,
    /// Whether what is drawn on the terminal itself, wherever answers go, has colours.
    pub has_colours: bool,
    /// Columns to fit; `None` when the reader is no terminal.
    pub width: Option<usize>,
    /// The moment that ages count from, in ms.
    pub now_ms: i64,
    /// What tells that moment once more, later.
    pub clock: Clock,
    /// Flags that make another process of this program look at the same index and sessions.
    pub again: Vec<std::ffi::OsString>,
    /// Whether the index is named by a flag, for this command alone.
    pub names_index: bool,
    pub home: Option<std::path::PathBuf>,
    /// Whether "here" is the current directory alone.
    pub dir: bool,
    settings: OnceCell<Settings>,
    left_out: Cell<usize>,
}

impl Screen {
    /// The screen that flags and environment ask for.
    pub fn new(global: &Global) -> io::Result<Self> {
        let terminal = io::stdout().is_terminal();
        let width = match global.width {
            Some(width) => Some(width.max(20)),
            // A terminal that does not know its size is taken for a narrow one.
            None if terminal => Some(
                terminal_size::terminal_size_of(io::stdout())
                    .map_or(80, |(width, _)| usize::from(width.0).max(20)),
            ),
            None => None,
        };
        let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
        let has_colours = match global.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !set("NO_COLOR") && !dumb,
        };
        let colours = has_colours && (terminal || matches!(global.color, Color::Always));
        let named = global.now.map(jiff::Timestamp::as_millisecond);
        let clock = Clock(named.or_else(demo::now_ms));
        Ok(Self {
            json: global.json,
            style: Style::new(colours),
            has_colours,
            width,
            now_ms: clock.now_ms(),
            clock,
            again: again::as_typed(global),
            names_index: global.index.is_some(),
            home: places::surroundings().home,
            dir: global.dir,
            settings: OnceCell::new(),
            left_out: Cell::new(0),
        })
    }

    /// Takes what the settings say of what is printed, and says what is wrong with them: once.
    pub fn take(&self, settings: &Settings) {
        if self.settings.set(settings.clone()).is_ok() {
            let warnings = self.warnings().iter();
            warnings.for_each(|warning| self.say(&text::plain_line(warning)));
        }
    }

    /// What is wrong with the settings, and was said.
    pub fn warnings(&self) -> &[String] {
        self.settings
            .get()
            .map_or(&[], |settings| &settings.warnings)
    }

    /// The time zone of what people read; UTC until the settings are read.
    pub fn zone(&self) -> &Zone {
        static UTC: Zone = Zone::UTC;
        let settings = self.settings.get();
        settings.map_or(&UTC, |settings| &settings.timezone.value)
    }

    /// The moment and the zone that times in a query are of.
    pub fn now(&self) -> Now<'_> {
        Now {
            ms: self.now_ms,
            zone: self.zone(),
        }
    }

    /// When keys and tokens are left out; always until the settings are read.
    fn redact(&self) -> Redact {
        let settings = self.settings.get();
        settings.map_or(Redact::Always, |settings| settings.redact.value)
    }

    /// What leaves keys and tokens out.
    pub fn redacting() -> Mask {
        Mask::new(redact::redacted)
    }

    /// What leaves keys and tokens out, if they are to be left out.
    pub fn mask(&self) -> Option<Mask> {
        redact::now(self.redact()).then(Self::redacting)
    }

    /// As [`Screen::mask`], for a text whose lines are told apart: none of them is lost.
    pub fn mask_by_line(&self) -> Option<Mask> {
        redact::now(self.redact()).then(|| Mask::new(redact::redacted_by_line))
    }

    /// What leaves keys and tokens out of what goes to a file: whoever is given it may pass it on.
    pub fn mask_of_files(&self) -> Option<Mask> {
        let leaves_out = self.redact() != Redact::Never;
        leaves_out.then(Self::redacting)
    }

    /// Text of a session, as it may be printed.
    pub fn masked(&self, text: String) -> String {
        let masked = self.mask().and_then(|mask| mask.of(&text));
        self.count(&text, masked.as_deref());
        masked.unwrap_or(text)
    }

    /// Counts what is left out by [`Screen::masked`] and [`Screen::masked_json`].
    fn count(&self, text: &str, masked: Option<&str>) {
        let marks = |text: &str| text.matches(redact::MARK).count();
        // A text may speak of the mark itself.
        let more = masked.map_or(0, |masked| marks(masked).saturating_sub(marks(text)));
        self.left_out.set(self.left_out.get() + more);
    }

    /// How many values [`Screen::masked`] and [`Screen::masked_json`] have left out.
    pub fn left_out(&self) -> usize {
        self.left_out.get()
    }

    /// JSON of a session, as it may be printed: with keys and strings redacted one by one it is
    /// whole still.
    pub fn masked_json(&self, text: &str) -> Option<Box<RawValue>> {
        let masked = self.mask().and_then(|mask| json::masked(text, &mask));
        self.count(text, masked.as_deref());
        RawValue::from_string(masked.unwrap_or_else(|| text.to_owned())).ok()
    }

    /// Says so when something was left out.
    pub fn say_redacted(&self) {
        if redact::left_out() {
            self.say("Keys and tokens are redacted; --reveal shows them.");
        }
    }

    /// Says how many values were left out of what a model is to read.
    pub fn say_count_redacted(&self) {
        if self.left_out() > 0 {
            let values = time::count(self.left_out() as u64, "value");
            self.say(&format!(
                "Redacted: {values} like keys and tokens; --reveal shows them."
            ));
        }
    }

    /// Prints a finished text.
    pub fn print(&self, text: &str) -> io::Result<()> {
        self.bytes(text.as_bytes())
    }

    /// Prints bytes as they are.
    pub fn bytes(&self, bytes: &[u8]) -> io::Result<()> {
        let mut out = Spool::default();
        out.write_all(bytes)?;
        out.print()
    }

    /// Prints an answer that people read: in their pager, where it is longer than the terminal.
    /// `meanwhile` is done while they read there, which may take hours.
    pub fn page(&self, answer: Spool, meanwhile: impl FnOnce()) -> io::Result<()> {
        let pager = self.settings.get().map(|settings| settings.pager.value);
        match pager == Some(true) && !self.json && pager::is_possible() {
            true => pager::print(answer, meanwhile),
            false => answer.print(),
        }
    }

    /// Prints an answer as JSON, one line.
    pub fn json<T: Serialize>(&self, answer: &T) -> Result<(), crate::failure::Failure> {
        let json = serde_json::to_string(answer)?;
        let mut text = text::terminal_safe_json(&json).into_owned();
        text.push('\n');
        Ok(self.print(&text)?)
    }

    /// Says something about the answer on stderr.
    pub fn say(&self, line: &str) {
        say(line);
    }

    /// A path as people write it, the home folder as `~`, safe to print.
    pub fn path(&self, path: &Path) -> String {
        let below = self
            .home
            .as_deref()
            .and_then(|home| path.strip_prefix(home).ok());
        let text = match below {
            Some(below) if below.as_os_str().is_empty() => "~".to_owned(),
            Some(below) => format!("~{}{}", std::path::MAIN_SEPARATOR, below.display()),
            None => path.display().to_string(),
        };
        text::plain_line(&text)
    }

    /// A text in which paths are named, the home folder as `~`, safe to print.
    pub fn with_paths(&self, text: &str) -> String {
        let home = self.home.as_ref().and_then(|home| home.to_str());
        let Some(home) = home.filter(|home| home.len() > 1) else {
            return text::plain_line(text);
        };
        let mut shown = text.to_owned();
        for (at, _) in text.rmatch_indices(home) {
            let end = at + home.len();
            // Not the beginning of another name.
            if text[end..].is_empty() || text[end..].starts_with(std::path::is_separator) {
                shown.replace_range(at..end, "~");
            }
        }
        text::plain_line(&shown)
    }

    /// The age of an ISO 8601 time; empty when there is none.
    pub fn age(&self, time: Option<&str>) -> String {
        time::age(time, self.now())
    }

    /// Date and minute of an ISO 8601 time; empty when there is none.
    pub fn minute(&self, time: Option<&str>) -> String {
        time::minute(time, self.zone())
    }
}

/// Escapes in passing what a terminal would act on.
pub struct SafeJson<W>(pub W);

impl<W: Write> Write for SafeJson<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if text::is_safe_json(bytes) {
            self.0.write_all(bytes)?;
            return Ok(bytes.len());
        }
        match std::str::from_utf8(bytes) {
            Ok(json) => self
                .0
                .write_all(text::terminal_safe_json(json).as_bytes())?,
            Err(error) => return Err(io::Error::new(io::ErrorKind::InvalidData, error)),
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Something for people on stderr, in lines as wide as a terminal there. When nobody listens, there
/// is nobody to tell.
pub fn say(text: &str) {
    let mut err = io::stderr();
    let width =
        terminal_size::terminal_size_of(&err).map(|(width, _)| usize::from(width.0).max(20));
    let _ = writeln!(err, "{}", wrap::wrapped(&demo::with_commands(text), width));
}

/// One line on stderr for programs.
pub fn say_whole(line: &str) {
    let _ = writeln!(io::stderr(), "{}", demo::with_commands(line));
}
