//! How is an answer about one session printed, that of `show` or of `tree`? As a page, or all of
//! it; at its end it says the same of itself.

use std::io::{self, Write};

use serde::Serialize;
use sessionary::Index;
use sessionary::index::StreamOutcome;
use sessionary::model::{SessionRow, Transcript, Tree};

use crate::background::afterwards;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::bounded::{Item, Page, PageArgs, texts_of};
use crate::output::fields::Fields;
use crate::output::spool::Spool;
use crate::output::stream::JsonFrame;
use crate::output::text::terminal_safe_json;

/// What stands around the entries of a session.
pub trait SessionHead: Serialize {
    /// The session that they are of.
    fn session(&mut self) -> &mut SessionRow;
    /// Takes what is known when all entries have been read.
    fn end(&mut self, streamed: &StreamOutcome);
}

impl SessionHead for Transcript {
    fn session(&mut self) -> &mut SessionRow {
        &mut self.session
    }

    fn end(&mut self, streamed: &StreamOutcome) {
        self.complete = streamed.complete;
        self.changed_files.clone_from(&streamed.changed_files);
    }
}

impl SessionHead for Tree {
    fn session(&mut self) -> &mut SessionRow {
        &mut self.session
    }

    fn end(&mut self, streamed: &StreamOutcome) {
        self.complete = streamed.complete;
        self.changed_files.clone_from(&streamed.changed_files);
    }
}

/// A page as it is printed, how many entries it shows, and how reading them ended.
pub type Made = (String, usize, StreamOutcome);

/// The page that answers `question` about the session `id`. `each` puts the entries on it, and says
/// what stands around them.
pub fn page<T: Item, H: SessionHead>(
    id: &str,
    bounds: &PageArgs,
    fields: &Fields,
    question: u64,
    each: impl Fn(&mut Page<'_, T>, &mut Option<H>) -> Result<StreamOutcome, Failure>,
) -> Result<Made, Failure> {
    let ((page, head), streamed) = super::answer(|| {
        let (mut page, mut head) = (Page::new(bounds, fields, question)?, None);
        let streamed = each(&mut page, &mut head)?;
        Ok(((page, head), streamed))
    })?;
    let mut head = head.ok_or_else(|| Failure::not_found(id))?;
    head.end(&streamed);
    let shown = page.len();
    let printed = page.print(head, "entries", |head| texts_of(head.session()))?;
    Ok((printed, shown, streamed))
}

/// Prints a page.
pub fn print(made: Made, index: &mut Index, screen: &Screen) -> Result<Outcome, Failure> {
    let (printed, shown, streamed) = made;
    screen.print(&printed)?;
    Ok(ended(index, screen, &streamed, shown))
}

/// All of a session as it is printed: one JSON object, or text.
pub struct Whole<'a, H> {
    screen: &'a Screen,
    out: Spool,
    /// What stands around the entries, as it is known before they are read.
    pub head: Option<H>,
    /// How many entries there are so far.
    pub shown: usize,
}

impl<H: SessionHead + Clone> Whole<'_, H> {
    /// Begins with what stands around the entries, or above them where it is text.
    pub fn begin(&mut self, head: &H, text: impl FnOnce() -> String) -> Result<(), Failure> {
        match self.screen.json {
            true => self.json(&JsonFrame::of(head, "entries")?.before)?,
            false => self.out.write_all(text().as_bytes())?,
        }
        self.head = Some(head.clone());
        Ok(())
    }

    /// Adds an entry.
    pub fn entry<T: Serialize>(
        &mut self,
        entry: &T,
        text: impl FnOnce() -> String,
    ) -> Result<(), Failure> {
        if self.screen.json {
            self.json(if self.shown > 0 { "," } else { "" })?;
            self.json(&serde_json::to_string(entry)?)?;
        } else {
            self.out.write_all(text().as_bytes())?;
        }
        self.shown += 1;
        Ok(())
    }

    fn end(&mut self, streamed: &StreamOutcome) -> Result<(), Failure> {
        if let Some(mut head) = self.head.take().filter(|_| self.screen.json) {
            head.end(streamed);
            self.json(&JsonFrame::of(&head, "entries")?.after)?;
        }
        Ok(())
    }

    fn json(&mut self, json: &str) -> io::Result<()> {
        self.out.write_all(terminal_safe_json(json).as_bytes())
    }
}

/// Prints all of a session, which `each` gives piece by piece.
pub fn whole<H: SessionHead + Clone>(
    index: &mut Index,
    screen: &Screen,
    each: impl Fn(&Index, &mut Whole<'_, H>) -> Result<StreamOutcome, Failure>,
) -> Result<Outcome, Failure> {
    let (whole, streamed) = super::answer(|| {
        let mut whole = Whole {
            screen,
            out: Spool::default(),
            head: None,
            shown: 0,
        };
        let streamed = each(index, &mut whole)?;
        whole.end(&streamed)?;
        Ok((whole, streamed))
    })?;
    super::page(whole.out, index, screen)?;
    Ok(ended(index, screen, &streamed, whole.shown))
}

/// Says how an answer has ended that shows so many entries.
fn ended(index: &mut Index, screen: &Screen, streamed: &StreamOutcome, shown: usize) -> Outcome {
    screen.say_redacted();
    super::say_ended(screen, index, streamed);
    afterwards(index, screen);
    Outcome::of(shown > 0)
}
