//! The picker: every session a keystroke away.
//!
//! One thread owns the terminal and the [`State`]: it takes messages one by one, changes the state,
//! does what that asks for, and draws. The others wait for something and tell it: [`asker`] asks
//! the index what was typed, [`previewer`] reads back the session on which the selection stands,
//! [`news`] keeps the index current, [`terminal`] reads keys. Ranking and reading are the library's.

mod asker;
mod choice;
mod draw;
mod keys;
mod latest;
mod line;
mod message;
mod news;
mod palette;
mod pane;
mod previewer;
mod reading;
mod state;
mod terminal;
mod tree;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use sessionary::Config;
use sessionary::model::Cancel;

use crate::failure::Failure;
use crate::here::Here;
use crate::output::Screen;
pub use choice::{Choice, ChosenAction, Printed, Purpose};
use latest::Latest;
use message::Message;
use state::{State, Task};
pub use terminal::Height;
use terminal::Terminal;

/// How long the first frame waits for the list, so that it need not be drawn twice.
const FIRST_ANSWER: Duration = Duration::from_millis(40);
/// Ages are drawn again so often when nothing happens.
const MINUTE: Duration = Duration::from_secs(60);

/// How the picker is opened.
pub struct Opening {
    /// What stands in the query line at the beginning.
    pub query: String,
    /// What it is opened for.
    pub purpose: Purpose,
    /// How much of the terminal it takes; all of it where nothing is said.
    pub height: Option<Height>,
    /// Where somebody stands.
    pub here: Option<Here>,
}

/// Opens the picker, until something is chosen; `None`: nothing was.
pub fn open(opening: Opening, config: &Config, screen: &Screen) -> Result<Option<Choice>, Failure> {
    let cancel = Cancel::default();
    let config = &Config {
        cancel: cancel.clone(),
        ..config.clone()
    };
    let (tell, messages) = channel();
    let questions = Arc::new(Latest::default());
    let previews = Arc::new(Latest::default());
    asker::start(&questions, config, opening.here.as_ref(), screen, &tell);
    previewer::start(&previews, config, screen, &tell);
    let mut terminal = Terminal::enter(opening.height)?;
    terminal.read_keys(&tell)?;
    let mut state = State::new(&opening, terminal.size()?);
    let first = Message::Begin;
    news::start(config, &tell);
    let chosen = Loop {
        terminal: &mut terminal,
        state: &mut state,
        messages: &messages,
        questions: &questions,
        previews: &previews,
        screen,
    }
    .run(first);
    drop(terminal);
    // Whoever is at work in the library ends as soon as it can; nobody waits for that.
    cancel.cancel();
    questions.close();
    previews.close();
    chosen
}

struct Loop<'a> {
    terminal: &'a mut Terminal,
    state: &'a mut State,
    messages: &'a Receiver<Message>,
    questions: &'a Latest<message::Question>,
    previews: &'a Latest<message::PreviewRequest>,
    screen: &'a Screen,
}

impl Loop<'_> {
    fn run(mut self, first: Message) -> Result<Option<Choice>, Failure> {
        let begun = Instant::now();
        if let Some(end) = self.take(first)? {
            return Ok(end);
        }
        let mut is_drawn = false;
        loop {
            // All that has come is taken before anything is drawn.
            let patience = match is_drawn {
                true => MINUTE,
                false => FIRST_ANSWER.saturating_sub(begun.elapsed()),
            };
            match self.messages.recv_timeout(patience) {
                Ok(message) => {
                    if let Some(end) = self.take(message)? {
                        return Ok(end);
                    }
                    while let Ok(message) = self.messages.try_recv() {
                        if let Some(end) = self.take(message)? {
                            return Ok(end);
                        }
                    }
                    if !is_drawn && !self.state.is_answered() && begun.elapsed() < FIRST_ANSWER {
                        continue;
                    }
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => return Ok(None),
            }
            self.terminal
                .draw(|frame| draw::frame(frame, self.state, self.screen))?;
            is_drawn = true;
        }
    }

    /// Takes one message; `Some`: the picker ends so.
    fn take(&mut self, message: Message) -> Result<Option<Option<Choice>>, Failure> {
        for task in self.state.take(message) {
            match task {
                Task::Ask(question) => self.questions.put(question),
                Task::Preview(request) => self.previews.put(request),
                Task::Suspend => self.terminal.suspend()?,
                Task::Leave(choice) => return Ok(Some(choice)),
            }
        }
        Ok(None)
    }
}

/// A thread of the picker; it ends with the process, if not before.
fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) {
    // Without it, what it would have told is missing; the picker says so by having no answer.
    let _ = thread::Builder::new().name(name.to_owned()).spawn(work);
}
