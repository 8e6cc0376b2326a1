//! What can be shown of an answer that takes longer than a frame? Sessions whose titles hold what
//! is typed.

use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use sessionary::index::ListScope;
use sessionary::model::Mask;
use sessionary::syntax::{self, Alternative, Now};
use sessionary::{Config, Error, Freshness, Index};

use super::asker::row;
use super::latest::Latest;
use super::message::{Answer, Message, Place, Question, Row};
use super::titles::{self, Titles};
use super::{may_panic, start_thread};
use crate::background::go_on;
use crate::output::Screen;
use crate::output::time::Clock;

/// An answer that takes longer is announced: there is as much time again to do that within a frame.
const PATIENCE: Duration = Duration::from_millis(8);
/// Titles are read again after so long, when they were needed.
const TITLES_LAST: Duration = Duration::from_secs(60);

/// Reads all titles, and announces answers that are not there in time, until there are no more
/// questions.
pub fn start(
    questions: &Arc<Latest<Question>>,
    config: &Config,
    screen: &Screen,
    tell: &Sender<Message>,
) {
    let (questions, tell) = (Arc::clone(questions), tell.clone());
    let mut hinter = Hinter {
        config: config.clone(),
        mask: screen.mask(),
        clock: screen.clock,
        index: None,
        titles: Titles::default(),
        read: None,
    };
    start_thread("picker-hints", move || {
        hinter.read_titles();
        while let Some((question, _)) = questions.take() {
            may_panic("picker-hints");
            if questions.is_called_off_within(PATIENCE) {
                continue;
            }
            let hint = hinter.hint(question).map(Box::new);
            if hint.is_some_and(|hint| tell.send(Message::Answered(hint)).is_err()) {
                return;
            }
            hinter.read_titles();
        }
    });
}

struct Hinter {
    config: Config,
    mask: Option<Mask>,
    clock: Clock,
    index: Option<Index>,
    titles: Titles,
    /// When they were read.
    read: Option<Instant>,
}

impl Hinter {
    /// What titles alone find.
    fn hint(&self, question: Question) -> Option<Answer> {
        let index = self.index.as_ref().filter(|_| self.read.is_some())?;
        let words = titles::words(&question.query);
        let words = words.filter(|_| question.place == Place::Everywhere)?;
        // One letter asks for nothing yet.
        let typed = syntax::parse_as_typed(&question.query, Now::utc(self.clock.now_ms()));
        if typed.alternatives == [Alternative::default()] {
            return None;
        }
        let scope = ListScope {
            ids: Some(self.titles.find(&words, question.rows)),
            mask: self.mask.clone(),
            ..ListScope::default()
        };
        let listing = index.list(&scope).ok()?;
        let rows: Vec<Row> = listing.sessions.into_iter().map(row).collect();
        Some(Answer {
            total: rows.len() as u64,
            rows,
            question,
            is_provisional: true,
            ..Answer::default()
        })
    }

    /// Reads the titles of all sessions, where they are not known or may be others by now.
    fn read_titles(&mut self) {
        if self.read.is_some_and(|read| read.elapsed() < TITLES_LAST) {
            return;
        }
        // Where they cannot be read there are no hints; they are tried again after the next one.
        self.read = match self.all_titles() {
            Ok(titles) => {
                self.titles = titles;
                Some(Instant::now())
            }
            Err(_) => None,
        };
    }

    fn all_titles(&mut self) -> Result<Titles, Error> {
        if !self.index.as_ref().is_some_and(Index::is_made) {
            self.index = Some(Index::open(&self.config, Freshness::AsCommitted)?);
        }
        let index = self.index.as_ref().filter(|index| index.is_made());
        let index = index.ok_or(Error::NoIndex)?;
        let mut titles = Titles::default();
        let scope = ListScope {
            mask: self.mask.clone(),
            ..ListScope::default()
        };
        let page = index.ask(|snapshot| snapshot.page(&scope))?;
        let _ = index.stream(|snapshot| {
            snapshot.each_row(&page, |session| {
                titles.add(&session);
                go_on(&self.config.cancel)
            })
        })?;
        Ok(titles)
    }
}
