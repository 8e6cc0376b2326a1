//! The picker: every session a keystroke away.
//!
//! One thread owns the terminal and the [`State`]: it takes messages one by one, changes the state,
//! does what that asks for, and draws. The others wait for something and tell it: [`asker`] asks
//! the index what was typed, [`hinter`] announces an answer that takes long, [`previewer`] reads
//! back the session on which the selection stands, [`news`] keeps the index current, [`terminal`]
//! reads keys. Ranking and reading are the library's.

mod actions;
mod asker;
mod asking;
mod choice;
mod completion;
mod copy;
mod draw;
mod help;
mod hinter;
mod keys;
mod latest;
mod line;
mod marks;
mod menu;
mod message;
mod news;
mod palette;
mod pane;
pub mod pins;
mod previewer;
mod reading;
mod state;
mod terminal;
mod titles;
mod tree;
mod waiting;

use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use ratatui::crossterm::event::Event as TerminalEvent;
use sessionary::model::Cancel;
use sessionary::syntax::Now;
use sessionary::{Config, Freshness, Index};

use crate::command::status;
use crate::failure::Failure;
use crate::here::Here;
use crate::output::Screen;
use actions::Jobs;
pub use choice::{Choice, ChosenAction, PrintFormat, Purpose};
use draw::Reader;
use latest::Latest;
use message::{Message, Reason, System};
use palette::Palette;
use state::{State, Task};
use terminal::Terminal;
pub use terminal::{Height, is_open, is_there};

/// How long the first frame waits for the list, so that it need not be drawn twice.
const FIRST_ANSWER: Duration = Duration::from_millis(40);
/// Ages are drawn again so often when nothing happens.
const MINUTE: Duration = Duration::from_secs(60);
/// The signal by which a process ends whose terminal is gone: SIGHUP.
const HANG_UP: i32 = 1;

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
    #[cfg(feature = "failpoints")]
    let _places = fail::FailScenario::setup();
    let cancel = Cancel::default();
    let config = &Config {
        cancel: cancel.clone(),
        ..config.clone()
    };
    let (tell, messages) = channel();
    let questions = Arc::new(Latest::default());
    let hints = Arc::new(Latest::default());
    let previews = Arc::new(Latest::default());
    asker::start(
        &questions,
        &hints,
        config,
        opening.here.as_ref(),
        screen,
        &tell,
    );
    previewer::start(&previews, config, screen, &tell);
    let mut terminal = Terminal::enter(opening.height, &tell)?;
    let mut state = State::new(&opening, terminal.size());
    let completions = Arc::new(Latest::default());
    completion::start(&completions, config, screen, &tell);
    let jobs = Jobs::start(config, screen, &tell);
    let mut unseen = Vec::new();
    let chosen = Loop {
        terminal: &mut terminal,
        state: &mut state,
        messages: &messages,
        questions: &questions,
        hints: &hints,
        previews: &previews,
        completions: &completions,
        jobs: &jobs,
        // Reading all files, and all titles, would take the cores that the first frame needs.
        later: Some(Box::new(|| {
            news::start(config, &tell);
            hinter::start(&hints, config, screen, &tell);
        })),
        unseen: &mut unseen,
        screen,
    }
    .run(Message::Begin);
    let tty = terminal.tty();
    drop(terminal);
    // What was asked for is done to its end, and said where nobody has seen it yet.
    unseen.iter().for_each(|said| screen.say(said));
    jobs.finish();
    for message in messages.try_iter() {
        if let Message::Done(done) = message {
            done.at_the_end(&tty, screen);
        }
    }
    let is_nothing = matches!(chosen, Ok(None)) && state.finds_no_session();
    let said = is_nothing.then(|| say_nothing(config, screen));
    // Whoever is at work in the library ends as soon as it can; nobody waits for that.
    cancel.cancel();
    questions.close();
    hints.close();
    previews.close();
    completions.close();
    said.unwrap_or(Ok(())).and(chosen)
}

/// There was nothing to be picked: where sessions were looked for.
fn say_nothing(config: &Config, screen: &Screen) -> Result<(), Failure> {
    let index = Index::open(config, Freshness::AsCommitted)?;
    status::say_nothing(&index, screen)
}

struct Loop<'a> {
    terminal: &'a mut Terminal,
    state: &'a mut State,
    messages: &'a Receiver<Message>,
    questions: &'a Latest<message::Question>,
    hints: &'a Latest<message::Question>,
    previews: &'a Latest<message::PreviewRequest>,
    completions: &'a Latest<message::CompletionRequest>,
    jobs: &'a Jobs,
    /// What is said of jobs that were done since the last frame.
    unseen: &'a mut Vec<String>,
    screen: &'a Screen,
    /// Begins what can wait for the first frame.
    later: Option<Box<dyn FnOnce() + 'a>>,
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
            // What is drawn at places that are no longer its own stays there.
            while self.terminal.is_resized()? {
                self.take(Message::Terminal(TerminalEvent::Resize(0, 0)))?;
            }
            let reader = Reader {
                screen: self.screen,
                palette: Palette::of(self.screen).plain(self.state.is_plain),
                now: Now {
                    ms: self.screen.clock.now_ms(),
                    zone: self.screen.zone(),
                },
            };
            may_panic("picker-draws");
            self.terminal
                .draw(|frame| draw::frame(frame, self.state, &reader))?;
            is_drawn = true;
            self.unseen.clear();
            if let Some(begin) = self.later.take() {
                begin();
            }
        }
    }

    /// Takes one message; `Some`: the picker ends so.
    fn take(&mut self, message: Message) -> Result<Option<Option<Choice>>, Failure> {
        let message = self.seen_to(message)?;
        if let Message::Done(done) = &message {
            self.unseen.extend(done.said().map(str::to_owned));
        }
        for task in self.state.take(message) {
            match task {
                Task::Ask(question) => {
                    self.questions.put(question.clone());
                    if question.reason == Reason::Typed {
                        self.hints.put(question);
                    }
                }
                Task::Preview(request) => self.previews.put(*request),
                Task::Complete(request) => self.completions.put(request),
                Task::Do(job) => self.jobs.put(job),
                Task::Copy(text) => copy::to_terminal(&text, &self.terminal.tty())?,
                Task::Suspend => self.terminal.suspend(true),
                Task::Redraw => self.terminal.redraw()?,
                Task::Leave(choice) => return Ok(Some(choice)),
            }
        }
        Ok(None)
    }

    /// Does with the terminal what a message asks for, before the state learns of it.
    fn seen_to(&mut self, message: Message) -> Result<Message, Failure> {
        match message {
            Message::System(System::Stop) => self.terminal.suspend(false),
            Message::System(System::Continue) => self.terminal.continued()?,
            Message::Terminal(TerminalEvent::Resize(..)) => self.terminal.resized()?,
            Message::System(System::End(signal)) => return Err(self.ended_by(signal)),
            Message::System(System::HungUp) => return Err(self.ended_by(HANG_UP)),
            Message::System(System::Panicked) => return Err(panicked()),
            _ => return Ok(message),
        }
        // The picker may have another part of the terminal now.
        let size = self.terminal.size();
        let size = TerminalEvent::Resize(size.width, size.height);
        Ok(Message::Terminal(size))
    }

    fn ended_by(&mut self, signal: i32) -> Failure {
        self.terminal.end_by_signal();
        Failure::signalled(signal)
    }
}

/// Here a test may have a thread panic; only with the feature `failpoints`.
fn may_panic(_place: &str) {
    #[cfg(feature = "failpoints")]
    let _: Option<()> = fail::eval(_place, |_| ());
}

/// What is said behind the message of a panic.
fn panicked() -> Failure {
    Failure::from(anyhow::anyhow!(
        "the picker ended because of a mistake in it, named above"
    ))
}

/// A thread of the picker; it ends with the process, if not before.
fn start_thread(name: &str, work: impl FnOnce() + Send + 'static) {
    // Without it, what it would have told is missing; the picker says so by having no answer.
    let _ = thread::Builder::new().name(name.to_owned()).spawn(work);
}
