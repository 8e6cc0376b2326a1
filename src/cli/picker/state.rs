//! What is on the screen, and what does each message change of it?
//!
//! Nothing here waits, reads or draws: [`State::take`] says what is to be done.

use std::collections::BTreeSet;
use std::time::Duration;

use ratatui::crossterm::event::{Event as TerminalEvent, KeyEvent};
use ratatui::layout::Size;

use super::Opening;
use super::choice::{Choice, ChosenAction, Purpose};
use super::keys::{self, Action};
use super::line::QueryLine;
use super::message::{Answer, Key, Message, News, Order, Place, PreviewRequest, Question, Row};
use super::pane::Pane;

/// More rows are asked for when the selection is so near the last one.
const NEAR_END: usize = 20;

/// What is to be done.
#[derive(Debug)]
pub enum Task {
    Ask(Question),
    Preview(Box<PreviewRequest>),
    Suspend,
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
    /// The help, which any key closes.
    Help,
}

/// All that the screen shows.
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
    /// The filters of the query, as they were typed.
    pub filters: Vec<String>,
    pub marked: BTreeSet<Key>,
    /// What the last answer said beside its rows.
    pub said: Said,
    pub pane: Pane,
    /// Files that are read for the first time: how many of how many.
    pub reading: Option<(u64, u64)>,
    /// Why the index is not kept current.
    pub behind: Option<String>,
    /// The most bytes that were not indexed since the picker is open.
    pub most_owed: u64,
    pub focus: Focus,
    pub size: Size,
    /// Whether it is a plain list below the prompt.
    pub is_plain: bool,
    /// Whether there is a "here".
    pub has_here: bool,
    /// The last question that was asked.
    asked: Question,
    is_answered: bool,
}

/// What an answer said beside its rows.
#[derive(Debug, Default, Clone)]
pub struct Said {
    pub query: String,
    pub total: u64,
    pub total_exact: bool,
    pub has_more: bool,
    pub complete: bool,
    pub owed: u64,
    pub notes: Vec<String>,
    pub took: Duration,
    /// Sessions of the index, as far as they were counted.
    pub all: u64,
    /// Found by titles alone.
    pub is_provisional: bool,
}

impl State {
    pub fn new(opening: &Opening, size: Size) -> Self {
        Self {
            line: QueryLine::new(&opening.query),
            purpose: opening.purpose,
            place: Place::default(),
            order: Order::default(),
            rows: Vec::new(),
            selected: 0,
            top: 0,
            filters: Vec::new(),
            marked: BTreeSet::new(),
            said: Said::default(),
            pane: Pane::default(),
            reading: None,
            behind: None,
            most_owed: 0,
            focus: Focus::default(),
            size,
            is_plain: opening.height.is_some(),
            has_here: opening.here.is_some(),
            asked: Question::default(),
            is_answered: false,
        }
    }

    /// Whether there is anything to be shown.
    pub fn is_answered(&self) -> bool {
        self.is_answered
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
            Message::Terminal(TerminalEvent::Paste(text)) => {
                self.line.insert(&text);
                vec![self.ask_anew()]
            }
            Message::Terminal(TerminalEvent::Resize(width, height)) => {
                self.size = Size::new(width, height);
                self.scroll();
                self.look().into_iter().collect()
            }
            Message::Terminal(TerminalEvent::Mouse(mouse)) => self.mouse(mouse),
            Message::Terminal(_) => Vec::new(),
            Message::Answered(answer) => self.answered(*answer),
            Message::Previewed(preview) => {
                self.pane.take(*preview);
                Vec::new()
            }
            Message::News(news) => self.news(news),
            // The loop has seen to it.
            Message::System(_) => Vec::new(),
        }
    }

    /// What the query line asks now, as much of it as is seen.
    fn ask_anew(&mut self) -> Task {
        self.ask(super::draw::rows_shown(self.size, self.is_plain) + 1)
    }

    /// The question that the query line asks now.
    fn ask(&mut self, rows: usize) -> Task {
        self.asked = Question {
            number: self.asked.number + 1,
            query: self.line.text().to_owned(),
            place: self.place,
            order: self.order,
            rows,
        };
        Task::Ask(self.asked.clone())
    }

    fn answered(&mut self, answer: Answer) -> Vec<Task> {
        if answer.question.number != self.asked.number {
            return Vec::new();
        }
        self.is_answered = true;
        // The selection stays on its session where only the index has changed.
        let is_same = self.said.query == answer.question.query;
        // Whoever has not moved looks at the best, which titles alone do not tell.
        let is_first = self.said.is_provisional && self.selected == 0;
        let stays = self.row().filter(|_| is_same && !is_first);
        let stays = stays.map(Row::key);
        self.rows = answer.rows;
        let place = stays.and_then(|key| self.rows.iter().position(|row| row.key() == key));
        self.selected = match (place, is_same) {
            (Some(place), _) => place,
            (None, true) => self.selected.min(self.rows.len().saturating_sub(1)),
            (None, false) => 0,
        };
        self.most_owed = self.most_owed.max(answer.owed);
        self.filters = answer.filters;
        self.scroll();
        self.said = Said {
            all: self.said.all.max(answer.all),
            query: answer.question.query,
            total: answer.total,
            total_exact: answer.total_exact,
            has_more: answer.has_more,
            complete: answer.complete,
            owed: answer.owed,
            notes: answer.notes,
            took: answer.took,
            is_provisional: answer.is_provisional,
        };
        self.look().into_iter().collect()
    }

    fn news(&mut self, news: News) -> Vec<Task> {
        match news {
            News::Reading { done, all } => {
                self.reading = (done < all).then_some((done, all));
                Vec::new()
            }
            News::Changed => {
                let rows = self.asked.rows;
                vec![self.ask(rows)]
            }
            News::Current => {
                self.reading = None;
                Vec::new()
            }
            News::Behind(why) => {
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
        let request = self.pane.look(row, &self.said.query, size);
        request.map(Box::new).map(Task::Preview)
    }

    fn key(&mut self, key: KeyEvent) -> Vec<Task> {
        match self.focus {
            Focus::List => self.key_in_list(key),
            Focus::Preview => self.key_in_preview(key),
            Focus::Tree => self.key_in_tree(key),
            Focus::Help => {
                self.focus = Focus::List;
                Vec::new()
            }
        }
    }

    fn key_in_list(&mut self, key: KeyEvent) -> Vec<Task> {
        let Some(action) = keys::in_list(key) else {
            return Vec::new();
        };
        let before = self.line.text().to_owned();
        let tasks = self.act(action);
        match self.line.text() == before {
            true => tasks,
            false => vec![self.ask_anew()],
        }
    }

    fn act(&mut self, action: Action) -> Vec<Task> {
        match action {
            Action::Type(letter) => self.line.insert(letter.encode_utf8(&mut [0; 4])),
            Action::Up => return self.moved(-1),
            Action::Down => return self.moved(1),
            Action::PageUp => return self.moved(-self.page()),
            Action::PageDown => return self.moved(self.page()),
            Action::First => return self.moved(isize::MIN),
            Action::Last => return self.moved(isize::MAX),
            Action::Accept => return self.accept(ChosenAction::Accept),
            Action::AcceptEntry => return self.accept(ChosenAction::ResumeFrom),
            Action::Leave => return vec![Task::Leave(None)],
            Action::DeleteOrLeave if self.line.text().is_empty() => return vec![Task::Leave(None)],
            Action::Suspend => return vec![Task::Suspend],
            Action::Mark | Action::MarkUp => {
                if let Some(key) = self.row().map(Row::key)
                    && !self.marked.remove(&key)
                {
                    self.marked.insert(key);
                }
                return self.moved(if action == Action::Mark { 1 } else { -1 });
            }
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
            Action::Left => self.line.left(),
            Action::Right if self.line.is_at_end() => self.enter_preview(),
            Action::Right => self.line.right(),
            Action::WordLeft => self.line.word_left(),
            Action::WordRight => self.line.word_right(),
            Action::LineStart => self.line.home(),
            Action::LineEnd => self.line.end(),
            Action::Backspace => self.line.backspace(),
            Action::Delete | Action::DeleteOrLeave => self.line.delete(),
            Action::CutWord => self.line.cut_word(),
            Action::CutToStart => self.line.cut_to_start(),
            Action::PasteCut => self.line.paste_cut(),
            Action::Help => self.focus = Focus::Help,
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
        self.scroll();
        let mut tasks = Vec::new();
        if self.said.has_more && self.selected + NEAR_END > last && self.asked.rows <= last + 1 {
            tasks.push(self.ask(self.rows.len() * 2));
        }
        tasks.extend(self.look());
        tasks
    }

    pub(super) fn accept(&mut self, action: ChosenAction) -> Vec<Task> {
        let marked = self.rows.iter();
        let marked = marked.filter(|row| self.marked.contains(&row.key()));
        let mut sessions: Vec<_> = marked.map(|row| row.session.clone()).collect();
        let Some(row) = self.row() else {
            return Vec::new();
        };
        if sessions.is_empty() || action == ChosenAction::ResumeFrom {
            sessions = vec![row.session.clone()];
        }
        let entry = self.pane.chosen_entry(&row.key());
        let entry = entry.or_else(|| row.hits.first().map(|hit| hit.entry.clone()));
        vec![Task::Leave(Some(Choice {
            action,
            sessions,
            entry,
        }))]
    }
}

#[cfg(test)]
mod tests;
