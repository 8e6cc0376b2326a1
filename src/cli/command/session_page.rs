//! How does an answer about one session end, that of `show` or of `tree`? Printed as a page, or all
//! of it, it says the same of itself.

use serde::Serialize;
use sessionary::Index;
use sessionary::index::StreamOutcome;
use sessionary::model::{SessionRow, Transcript, Tree};

use crate::background::afterwards;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::bounded::{Item, Page, PageArgs, texts_of};
use crate::output::fields::Fields;

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

/// Says how an answer has ended that shows so many entries.
pub fn ended(
    index: &mut Index,
    screen: &Screen,
    streamed: &StreamOutcome,
    shown: usize,
) -> Outcome {
    screen.say_redacted();
    super::say_ended(screen, index, streamed);
    afterwards(index, screen);
    Outcome::of(shown > 0)
}
