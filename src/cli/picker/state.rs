//! What is on the screen, and what does each message change of it?
//!
//! Nothing here waits, reads or draws: [`State::take`] says what is to be done.

use std::time::Instant;

use ratatui::crossterm::event::{Event as TerminalEvent, KeyEvent};
use ratatui::layout::Size;

use super::Opening;
use super::actions::Job;
use super::choice::{Choice, ChosenAction, Purpose};
use super::completion::Completion;
use super::keys::{self, Action};
use super::line::QueryLine;
use super::marks::Marks;
use super::menu::Dialog;
use super::message::{
    Answer, CompletionRequest, Key, Message, Order, Place, PreviewRequest, Question, Reason, Row,
};
use super::pane::Pane;
use crate::news::News;

/// More rows are asked for when the selection is so near the last one.
const NEAR_END: usize = 20;

/// What is to be done.
#[derive(Debug)]
pub enum Task {
    Ask(Question),
    Preview(Box<PreviewRequest>),
    Complete(CompletionRequest),
    /// To be done by the thread for that.
    Do(Job),
    /// The terminal is to copy this.
    Copy(String),
    Suspend,
    /// All of the screen is to be drawn anew.
    Redraw,
    /// The picker ends; `None`: nothing was chosen.
    Leave(Option<Choice>),
}

/// What has the keys.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Focus {
    /// The query line and the list.
    #[default]
    List,
    /// The text of a session.
    Preview,
    /// Its tree.
    Tree,
    /// The help.
    Help,
}

/// All that the screen shows.
#[derive(Default)]
pub struct State {
    pub line: QueryLine,
    pub purpose: Purpose,
    pub place: Place,
    pub order: Order,
    pub rows: Vec<Row>,
    /// The row of the list on which the selection stands.
    pub selected: usize,
    /// The first row that is seen.
    pub top: usize,
    pub marked: Marks,
    /// The last answer, but for its rows.
    pub summary: Answer,
    pub pane: Pane,
    /// Files that are read for the first time: how many of how many.
    pub reading: Option<(u64, u64)>,
    /// Why the index is not kept current.
    pub behind: Option<String>,
    /// The most bytes that were not indexed since the picker is open.
    pub most_unindexed: u64,
    /// What came of what was done last, up to the next key, click or paste.
    pub notice: Option<String>,
    pub focus: Focus,
    /// What is asked, over everything else; it has the keys.
    pub dialog: Option<Dialog>,
    /// What is offered for the word being typed.
    pub completion: Option<Completion>,
    /// The first line of the help that is shown.
    pub help_top: usize,
    /// What had the keys before the help.
    pub(super) before_help: Focus,
    /// Whether something went to the trash that can come back.
    pub(super) has_trashed: bool,
    pub(super) completions: u64,
    pub size: Size,
    /// Whether it is a plain list below the prompt.
    pub is_plain: bool,
    /// Whether there is a "here".
    pub has_here: bool,
    /// The last question that was asked.
    asked: Question,
    is_answered: bool,
    /// The number of the first question that asks what the query line does now, and of the last one
    /// that was answered as a whole.
    pub(super) typed: u64,
    pub(super) answered: u64,
    /// Whether what is listed answers what the query line asks, if only by titles.
    pub(super) is_listed: bool,
    /// Keys that wait for that answer.
    pub(super) waiting: Vec<KeyEvent>,
    /// Whether the last question is not answered yet.
    is_under_way: bool,
    /// Whether the index has changed since that was asked.
    is_overtaken: bool,
    /// Ctrl-End was pressed, and the last session is not there yet.
    pub(super) goes_to_last: bool,
    /// Which session was clicked last, and when.
    pub(super) clicked: Option<(Key, Instant)>,
    /// A new session, on which the selection is to stand once it is listed.
    pub(super) goes_to: Option<Key>,
    /// A new session is being made, with which the picker ends.
    pub(super) is_branching: bool,
}

impl State {
    pub fn new(opening: &Opening, size: Size) -> Self {
        Self {
            line: QueryLine::new(&opening.query),
            purpose: opening.purpose,
            size,
            is_plain: opening.height.is_some(),
            has_here: opening.here.is_some(),
            ..Self::default()
        }
    }

    /// Whether there is anything to be shown.
    pub fn is_answered(&self) -> bool {
        self.is_answered
    }

    /// Whether there is no session at all: a search that finds none does not tell.
    pub fn finds_no_session(&self) -> bool {
        !self.summary.not_found.is_empty()
    }

    /// The row on which the selection stands.
    pub fn row(&self) -> Option<&Row> {
        self.rows.get(self.selected)
    }

    /// What a message changes, and what is to be done for it.
    pub fn take(&mut self, message: Message) -> Vec<Task> {
        match message {
            Message::Begin => vec![self.ask_anew()],
            Message::Terminal(TerminalEvent::Key(key)) => self.key(key),
            Message::Terminal(TerminalEvent::Paste(text)) => self.paste(&text),
            Message::Terminal(TerminalEvent::Resize(width, height)) => {
                self.size = Size::new(width, height);
                self.scroll();
                let more = self.more(0);
                self.look().into_iter().chain(more).collect()
            }
            Message::Terminal(TerminalEvent::Mouse(mouse)) => self.mouse(mouse),
            Message::Terminal(_) => Vec::new(),
            Message::Answered(answer) => self.answered(*answer),
            Message::Previewed(preview) => {
                self.pane.take(*preview);
                Vec::new()
            }
            Message::Completed(completed) => self.completed(completed),
            Message::Done(done) => self.done(*done),
            Message::News(news) => self.news(news),
            // The loop has seen to it.
            Message::System(_) => Vec::new(),
        }
    }

    /// What the query line asks now, as much of it as is seen.
    pub(super) fn ask_anew(&mut self) -> Task {
        let rows = super::draw::rows_shown(self.size, self.is_plain) + 1;
        let task = self.ask(rows, Reason::Typed);
        self.typed = self.asked.number;
        (self.is_listed, self.goes_to) = (false, None);
        self.take_back();
        task
    }

    /// The question that the query line asks now.
    fn ask(&mut self, rows: usize, reason: Reason) -> Task {
        let is_typed = reason == Reason::Typed;
        self.asked = Question {
            number: self.asked.number + 1,
            query: self.line.text().to_owned(),
            place: self.place,
            order: self.order,
            rows,
            keep: self
                .goes_to
                .clone()
                .or_else(|| self.row().map(Row::key))
                .filter(|_| !is_typed),
            reason,
        };
        (self.is_under_way, self.is_overtaken) = (true, false);
        Task::Ask(self.asked.clone())
    }

    /// The same question again: its answer may be another. One that is under way is answered
    /// first, because it would never be where the index changes all the time.
    pub(super) fn ask_again(&mut self) -> Vec<Task> {
        if self.is_under_way {
            self.is_overtaken = true;
            return Vec::new();
        }
        vec![self.ask(self.asked.rows, Reason::Changed)]
    }

    fn answered(&mut self, answer: Answer) -> Vec<Task> {
        let number = answer.question.number;
        let is_waited_for = match answer.is_provisional {
            true => number == self.typed && number > self.answered,
            false => number == self.asked.number,
        };
        if !is_waited_for {
            return Vec::new();
        }
        if !answer.is_provisional {
            self.is_under_way = false;
            self.asked.rows = answer.question.rows;
        }
        let mut tasks = self.show(answer);
        if self.is_overtaken && !self.is_under_way {
            tasks.extend(self.ask_again());
        }
        tasks
    }

    /// Shows an answer, and does what has waited for it.
    fn show(&mut self, mut answer: Answer) -> Vec<Task> {
        // The selection stays on its session where only the index has changed.
        let is_same = self.summary.question.query == answer.question.query;
        // Whoever has not moved looks at the best, which titles alone do not tell.
        let has_moved = self.selected > 0 || self.answered >= self.typed;
        let is_first = self.summary.is_provisional && !has_moved;
        let stays = self.row().filter(|_| is_same && !is_first);
        let stays = stays.map(Row::key);
        let position = |key: &Key| answer.rows.iter().position(|row| row.key() == *key);
        // Where it is not listed though it was looked for, or somebody reads, nobody goes there.
        let was_looked_for = |new: &mut Key| answer.question.keep.as_ref() == Some(new);
        let new = self.goes_to.take_if(was_looked_for);
        let new = new.filter(|new| self.focus == Focus::List && position(new).is_some());
        let stays = new.or(stays);
        let place = stays.as_ref().and_then(position);
        if stays.is_some() && place.is_none() && !self.goes_to_last {
            let is_looked_for = answer.question.keep == stays || !self.is_listed;
            if answer.has_more && !is_looked_for {
                // The selection has come to it since that was asked; it may stand further below.
                return vec![self.ask(answer.question.rows, Reason::More)];
            }
            self.stop_reading();
        }
        self.is_answered = true;
        self.is_listed = true;
        self.rows = std::mem::take(&mut answer.rows);
        self.selected = match (place, is_same) {
            (Some(place), _) => place,
            (None, true) => self.selected.min(self.rows.len().saturating_sub(1)),
            (None, false) => 0,
        };
        self.most_unindexed = self.most_unindexed.max(answer.unindexed);
        self.scroll();
        if answer.all == 0 {
            // A search does not count the others.
            answer.all = self.summary.all;
        }
        self.summary = answer;
        if self.summary.is_provisional {
            return self.look().into_iter().collect();
        }
        self.answered = self.summary.question.number;
        let mut tasks: Vec<Task> = self.look().into_iter().collect();
        tasks.extend(self.do_what_waits());
        tasks.extend(self.more(0));
        tasks
    }

    fn news(&mut self, news: News) -> Vec<Task> {
        match news {
            News::Reading { done, all } => {
                self.reading = (done < all).then_some((done, all));
                Vec::new()
            }
            News::Changed => self.ask_again(),
            News::Current => {
                (self.reading, self.behind) = (None, None);
                Vec::new()
            }
            News::Removed => {
                let why = "the index was removed".to_owned();
                (self.reading, self.behind) = (None, Some(why));
                Vec::new()
            }
            News::Behind(why) | News::Stopped(why) => {
                (self.reading, self.behind) = (None, Some(why));
                Vec::new()
            }
        }
    }

    /// What the preview needs, where it is not there already.
    pub(super) fn look(&mut self) -> Option<Task> {
        let size = super::draw::preview_size(self.size, self.is_plain);
        let Some((size, row)) = size.zip(self.rows.get(self.selected)) else {
            self.leave_preview();
            return None;
        };
        let request = self.pane.look(row, &self.summary.question.query, size);
        self.leave_tree_that_is_gone();
        request.map(Box::new).map(Task::Preview)
    }

    /// Takes what was pasted; where text is read, it is no query, as letters are none.
    fn paste(&mut self, text: &str) -> Vec<Task> {
        self.notice = None;
        // What it is meant for is still to come.
        if self.waits_for_menu() {
            return Vec::new();
        }
        match &mut self.dialog {
            Some(dialog) => dialog.paste(text),
            None if self.focus == Focus::List => {
                self.line.insert(text);
                return vec![self.ask_anew()];
            }
            None => {}
        }
        Vec::new()
    }

    pub(super) fn key(&mut self, key: KeyEvent) -> Vec<Task> {
        self.notice = None;
        // Whatever has the keys; afterwards all of it goes on as it was.
        match keys::in_list(key) {
            Some(Action::Suspend) => return vec![Task::Suspend],
            Some(Action::Redraw) => return vec![Task::Redraw],
            _ => {}
        }
        if self.dialog.is_some() {
            return self.key_to_answer(key);
        }
        match self.focus {
            Focus::List => match self.key_to_complete(key) {
                Some(tasks) => {
                    self.take_back();
                    tasks
                }
                None => self.key_in_list(key),
            },
            Focus::Preview => self.key_in_preview(key),
            Focus::Tree => self.key_in_tree(key),
            Focus::Help => {
                self.key_in_help(key);
                Vec::new()
            }
        }
    }

    pub(super) fn key_in_list(&mut self, key: KeyEvent) -> Vec<Task> {
        let Some(action) = keys::in_list(key) else {
            return Vec::new();
        };
        if self.waits(key, &action) {
            return Vec::new();
        }
        let is_new = action == Action::Complete;
        let (before, cursor) = (self.line.text().to_owned(), self.line.cursor());
        let mut tasks = self.act(action);
        let is_edited = self.line.text() != before;
        if is_edited {
            tasks = vec![self.ask_anew()];
        }
        if !is_new && (is_edited || self.line.cursor() != cursor) {
            tasks.extend(self.complete_on(is_edited));
        }
        tasks
    }

    pub(super) fn act(&mut self, action: Action) -> Vec<Task> {
        match action {
            Action::Up => return self.moved(-1),
            Action::Down => return self.moved(1),
            Action::ScrollUp => return self.scroll_preview(-1),
            Action::ScrollDown => return self.scroll_preview(1),
            Action::PageUp => return self.moved(-self.page()),
            Action::PageDown => return self.moved(self.page()),
            Action::First => return self.moved(isize::MIN),
            Action::Last => return self.go_to_last(),
            Action::Accept => return self.accept(ChosenAction::Accept),
            Action::AcceptEntry => return self.accept(ChosenAction::ResumeFrom),
            Action::Leave => return vec![Task::Leave(None)],
            Action::DeleteOrLeave if self.line.text().is_empty() => return vec![Task::Leave(None)],
            Action::Mark | Action::MarkUp => {
                if let Some(row) = self.rows.get(self.selected) {
                    self.marked.toggle(row);
                }
                return self.moved(if action == Action::Mark { 1 } else { -1 });
            }
            Action::UnmarkAll => self.marked = Marks::default(),
            Action::TogglePlace => {
                self.place = match self.place {
                    Place::Everywhere if self.has_here => Place::Here,
                    _ => Place::Everywhere,
                };
                return vec![self.ask_anew()];
            }
            Action::ToggleOrder => {
                self.order = match self.order {
                    Order::Best => Order::Newest,
                    Order::Newest => Order::Best,
                };
                return vec![self.ask_anew()];
            }
            Action::Pin => return self.pin(),
            Action::Copy => return self.ask_what_to_copy(),
            Action::Act => return self.ask_what_to_do(),
            Action::Complete => return self.complete(true),
            Action::Help => self.open_help(),
            Action::Right if self.line.is_at_end() => self.enter_preview(),
            edit => self.line.edit(&edit),
        }
        Vec::new()
    }

    /// Rows on the screen.
    fn page(&self) -> isize {
        isize::try_from(super::draw::rows_shown(self.size, self.is_plain)).unwrap_or(1)
    }

    /// Keeps the selection among the rows that are seen.
    fn scroll(&mut self) {
        let shown = super::draw::rows_shown(self.size, self.is_plain).max(1);
        let most = self.rows.len().saturating_sub(shown);
        let least = (self.selected + 1).saturating_sub(shown);
        self.top = self.top.clamp(least, self.selected.max(least)).min(most);
    }

    /// Moves the selection so many rows down.
    pub(super) fn moved(&mut self, by: isize) -> Vec<Task> {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        // What is chosen is among what is seen.
        (self.answered, self.goes_to) = (self.typed, None);
        self.scroll();
        let more = self.more(NEAR_END);
        more.into_iter().chain(self.look()).collect()
    }

    /// Goes to the last session of all, which may have to be asked for.
    fn go_to_last(&mut self) -> Vec<Task> {
        if !self.summary.has_more {
            return self.moved(isize::MAX);
        }
        self.goes_to_last = true;
        let all = usize::try_from(self.summary.total).unwrap_or(usize::MAX);
        // Some may have come since they were counted.
        let rows = all.max(self.rows.len()).saturating_add(NEAR_END);
        vec![self.ask(rows, Reason::More)]
    }

    /// Asks for more rows where the selection is as near the last one as that, or where those that
    /// are there do not fill the screen.
    fn more(&mut self, near: usize) -> Option<Task> {
        let rows = self.rows.len();
        let shown = super::draw::rows_shown(self.size, self.is_plain);
        let are_few = self.selected + near >= rows || self.top + shown > rows;
        let are_asked_for = self.asked.rows > rows || !self.is_listed;
        (self.summary.has_more && are_few && !are_asked_for).then(|| {
            let wanted = (rows * 2).max(self.top + shown + 1);
            self.ask(wanted, Reason::More)
        })
    }

    pub(super) fn accept(&mut self, action: ChosenAction) -> Vec<Task> {
        if self.is_branching {
            self.notice = Some("The new session is being made; then the picker ends.".to_owned());
            return Vec::new();
        }
        let is_from_entry = action == ChosenAction::ResumeFrom;
        let prints = matches!(self.purpose, Purpose::Print(_));
        let targets = match prints && !is_from_entry {
            true => self.targets(),
            // One can be continued, read, drawn.
            false => self.shown().into_iter().collect(),
        };
        let Some(first) = targets.first() else {
            return Vec::new();
        };
        if is_from_entry && (prints || self.purpose == Purpose::Resume) {
            // It is made before the picker goes; where that fails, the picker stays.
            self.is_branching = true;
            return vec![Task::Do(Job::Branch(Box::new(first.clone())))];
        }
        vec![Task::Leave(Some(Choice {
            action,
            entry: first.entry.clone(),
            sessions: targets.into_iter().map(|target| target.session).collect(),
        }))]
    }
}

#[cfg(test)]
mod tests;
