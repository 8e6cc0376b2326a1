//! What do the keys do that pin, copy, act and complete? They ask what is to be done with what is
//! marked, else with the session on which the selection stands, and have it done.

use std::collections::VecDeque;

use ratatui::crossterm::event::{KeyEvent, KeyEventKind};

use sessionary::model::SessionRow;

use super::actions::{Job, JobResult, Target, called};
use super::choice::{Choice, ChosenAction};
use super::completion::Completion;
use super::copy::CopyFormat;
use super::draw;
use super::keys::{self, Action};
use super::line::QueryLine;
use super::menu::{
    ACTIONS, COPIES, Confirmation, Dialog, Menu, MenuItem, NameTarget, Prompt, Reply,
};
use super::message::{Candidates, Row};
use super::state::{State, Task};
use crate::command::export::ExportFormat;
use crate::command::trashing;
use crate::output::time::count;
use crate::redact;

impl State {
    /// The session on which the selection stands, and the entry of it that is shown.
    pub(super) fn shown(&self) -> Option<Target> {
        let row = self.row()?;
        let of_row = target(row);
        let key = row.key();
        Some(Target {
            entry: self.pane.chosen_entry(&key).or(of_row.entry),
            through: self.pane.through(&key).or(of_row.through),
            session: of_row.session,
        })
    }

    /// What is marked, else what is shown.
    pub(super) fn targets(&self) -> Vec<Target> {
        match self.marked.is_empty() {
            true => self.shown().into_iter().collect(),
            false => self
                .marked
                .in_order(&self.rows)
                .iter()
                .map(target)
                .collect(),
        }
    }

    /// Pins what is meant, or unpins it.
    pub(super) fn pin(&mut self) -> Vec<Task> {
        let targets = self.targets().into_iter();
        let sessions: Vec<_> = targets
            .map(|Target { session, .. }| (session.path, session.id))
            .collect();
        match sessions.is_empty() {
            true => Vec::new(),
            false => vec![Task::Do(Job::Pin(sessions))],
        }
    }

    pub(super) fn ask_what_to_copy(&mut self) -> Vec<Task> {
        self.open_menu("Copy", &COPIES)
    }

    pub(super) fn ask_what_to_do(&mut self) -> Vec<Task> {
        let can_undo = trashing::CAN_RESTORE && self.has_trashed;
        let items: &[MenuItem] = match can_undo {
            true => &ACTIONS,
            false => &ACTIONS[..ACTIONS.len() - 1],
        };
        self.open_menu("Do", items)
    }

    /// Opens a menu of those of these items that one at least of the sessions allows; where no
    /// session is there, of those that need none.
    fn open_menu(&mut self, what: &str, items: &[MenuItem]) -> Vec<Task> {
        let targets = self.targets();
        let items = items.iter().copied();
        let items: Vec<MenuItem> = items
            .filter(|item| {
                let is_allowed = |target: &Target| item.is_allowed(target);
                !item.needs_session() || targets.iter().any(is_allowed)
            })
            .collect();
        if items.is_empty() {
            self.notice = Some("There is no session here.".to_owned());
            return Vec::new();
        }
        let title = match &targets[..] {
            [] => what.to_owned(),
            all => format!("{what}: {}", self.all_called(all)),
        };
        self.dialog = Some(Dialog::Menu(Box::new(Menu {
            title,
            items,
            selected: 0,
            targets,
        })));
        Vec::new()
    }

    /// How many of these sessions are on no line of the list that is seen.
    fn unseen(&self, targets: &[Target]) -> usize {
        let shown = draw::rows_shown(self.size, self.is_plain).max(1);
        let is_seen = |target: &&Target| {
            let mut seen = self.rows.iter().skip(self.top).take(shown);
            let Target { session, .. } = target;
            seen.any(|row| (&row.session.path, &row.session.id) == (&session.path, &session.id))
        };
        targets.len() - targets.iter().filter(is_seen).count()
    }

    /// These sessions within a sentence, and whether all of them are seen.
    fn all_called(&self, targets: &[Target]) -> String {
        match (targets, self.unseen(targets)) {
            ([one], 0) => called(&one.session),
            ([one], _) => format!("{}, not on the screen", called(&one.session)),
            (all, 0) => count(all.len() as u64, "session"),
            (all, unseen) => {
                let all = count(all.len() as u64, "session");
                format!("{all}, {unseen} of them not on the screen")
            }
        }
    }

    /// A key while something is asked.
    pub(super) fn key_to_answer(&mut self, key: KeyEvent) -> Vec<Task> {
        let Some(mut dialog) = self.dialog.take() else {
            return Vec::new();
        };
        match (dialog.take(key), dialog) {
            (Reply::Stays, dialog) => {
                self.dialog = Some(dialog);
                Vec::new()
            }
            (Reply::Chosen(item), Dialog::Menu(menu)) => self.chosen(item, *menu),
            (Reply::Typed(text), Dialog::Prompt(prompt)) => self.named(text, prompt.about),
            (Reply::Yes, Dialog::Confirmation(question)) => {
                vec![Task::Do(Job::Trash(question.sessions))]
            }
            _ => Vec::new(),
        }
    }

    fn chosen(&mut self, item: MenuItem, menu: Menu) -> Vec<Task> {
        let Menu { mut targets, .. } = menu;
        targets.retain(|target| !item.needs_session() || item.is_allowed(target));
        vec![Task::Do(match item {
            MenuItem::CopyCommand => Job::Copy(targets, CopyFormat::Command),
            MenuItem::CopyId => Job::Copy(targets, CopyFormat::Id),
            MenuItem::CopyPath => Job::Copy(targets, CopyFormat::Path),
            MenuItem::CopyMarkdown => Job::Copy(targets, CopyFormat::Markdown),
            MenuItem::CopyEntry => Job::Copy(targets, CopyFormat::Entry),
            MenuItem::CopyAddress => Job::Copy(targets, CopyFormat::Address),
            MenuItem::Fork => Job::Fork(targets),
            MenuItem::ExportMarkdown => Job::Export(targets, ExportFormat::Markdown),
            MenuItem::ExportHtml => Job::Export(targets, ExportFormat::Html),
            MenuItem::Undo => Job::Restore,
            MenuItem::Rename => {
                let sessions = targets.into_iter().map(|target| target.session);
                self.ask_name(sessions.collect());
                return Vec::new();
            }
            MenuItem::Label => {
                let title = match &targets[..] {
                    [one] if self.marked.is_empty() => {
                        format!("Label of the entry shown of {}", called(&one.session))
                    }
                    all => {
                        let of = count(all.len() as u64, "session");
                        format!("Label of the entry found in {of}, or the last")
                    }
                };
                self.dialog = Some(Dialog::Prompt(Prompt {
                    title,
                    line: QueryLine::default(),
                    about: NameTarget::Entries(targets),
                }));
                return Vec::new();
            }
            MenuItem::Trash => {
                let mut what = self.all_called(&targets);
                if self.unseen(&targets) > 0 {
                    what.push(',');
                }
                let sessions = targets.into_iter().map(|target| target.session);
                self.dialog = Some(Dialog::Confirmation(Confirmation {
                    text: format!("Move {what} to the trash? y/N"),
                    sessions: sessions.collect(),
                }));
                return Vec::new();
            }
        })]
    }

    /// Asks for the name of the first of these sessions.
    fn ask_name(&mut self, mut sessions: VecDeque<SessionRow>) {
        let Some(session) = sessions.pop_front() else {
            return;
        };
        let more = match sessions.len() {
            0 => String::new(),
            more => format!(", {more} more to come"),
        };
        let name = session.name.as_deref().filter(|name| is_whole(name));
        self.dialog = Some(Dialog::Prompt(Prompt {
            title: format!("Name of {}{more}", called(&session)),
            line: QueryLine::new(name.unwrap_or_default()),
            about: NameTarget::Session(Box::new(session), sessions),
        }));
    }

    fn named(&mut self, text: String, about: NameTarget) -> Vec<Task> {
        match about {
            NameTarget::Entries(targets) => vec![Task::Do(Job::Label {
                targets,
                label: text,
            })],
            NameTarget::Session(session, more) => {
                self.ask_name(more);
                let name = session.name.as_deref().unwrap_or_default();
                if !is_whole(name) && text.is_empty() {
                    // The line was empty because the name could not stand there.
                    let said = "It keeps its name, from which a key was left out here.";
                    self.notice = Some(said.to_owned());
                    return Vec::new();
                }
                // It has that name already.
                if name == text {
                    return Vec::new();
                }
                let name = text;
                vec![Task::Do(Job::Name { session, name })]
            }
        }
    }

    /// What was done, and what follows.
    pub(super) fn done(&mut self, done: JobResult) -> Vec<Task> {
        match done {
            JobResult::Said(said) => {
                self.notice = Some(said);
                Vec::new()
            }
            JobResult::NotBranched(why) => {
                self.is_branching = false;
                self.notice = Some(why);
                Vec::new()
            }
            JobResult::Changed(said) => {
                self.notice = Some(said);
                self.ask_again()
            }
            JobResult::Forked { new, said } => {
                self.notice = Some(said);
                self.goes_to = new.into_iter().next();
                self.ask_again()
            }
            JobResult::Copied { text, said } => {
                self.notice = Some(said);
                vec![Task::Copy(text)]
            }
            JobResult::Trashed {
                gone,
                is_any_moved,
                said,
            } => {
                self.has_trashed |= is_any_moved;
                self.marked.forget(&gone);
                self.notice = Some(said);
                self.ask_again()
            }
            JobResult::Restored { is_any_left, said } => {
                self.has_trashed = is_any_left;
                self.notice = Some(said);
                self.ask_again()
            }
            JobResult::Branched(session) => vec![Task::Leave(Some(Choice {
                action: ChosenAction::Accept,
                sessions: vec![*session],
                entry: None,
            }))],
        }
    }

    /// Offers what the word before the cursor can become.
    pub(super) fn complete(&mut self, is_at_once: bool) -> Vec<Task> {
        self.completions += 1;
        let before = self.completion.take();
        let (completion, request) =
            Completion::ask(&self.line, self.completions, is_at_once, before);
        self.completion = Some(completion);
        vec![Task::Complete(request)]
    }

    /// What is offered after the query line has changed, or its cursor has moved.
    pub(super) fn complete_on(&mut self, is_edited: bool) -> Vec<Task> {
        let Some(completion) = &self.completion else {
            return Vec::new();
        };
        if is_edited && completion.goes_on(&self.line) {
            return self.complete(false);
        }
        self.completion = None;
        Vec::new()
    }

    /// What the word can become.
    pub(super) fn completed(&mut self, candidates: Candidates) -> Vec<Task> {
        let of_this = |completion: &&mut Completion| completion.number == candidates.number;
        let Some(completion) = self.completion.as_mut().filter(of_this) else {
            return Vec::new();
        };
        if candidates.words.is_empty() {
            self.completion = None;
            return Vec::new();
        }
        match completion.take(candidates.words) {
            true => self.put_in(),
            false => Vec::new(),
        }
    }

    fn put_in(&mut self) -> Vec<Task> {
        let Some(completion) = self.completion.take() else {
            return Vec::new();
        };
        let is_name = completion.put_in(&mut self.line);
        let mut tasks = vec![self.ask_anew()];
        if is_name {
            tasks.extend(self.complete(false));
        }
        tasks
    }

    /// A key while candidates are offered; `None`: it means what it always means.
    pub(super) fn key_to_complete(&mut self, key: KeyEvent) -> Option<Vec<Task>> {
        let completion = self.completion.as_mut()?;
        if key.kind == KeyEventKind::Release || completion.candidates.is_empty() {
            return None;
        }
        match keys::in_list(key)? {
            Action::Down | Action::Mark | Action::Complete => completion.step(true),
            Action::Up | Action::MarkUp => completion.step(false),
            Action::Accept => return Some(self.put_in()),
            Action::Leave => self.completion = None,
            _ => return None,
        }
        Some(Vec::new())
    }
}

/// Whether a name is what is shown of it: no key was left out.
fn is_whole(name: &str) -> bool {
    !name.contains(redact::MARK)
}

fn target(row: &Row) -> Target {
    let found = row.hits.first().map(|hit| hit.entry.clone());
    Target {
        session: row.session.clone(),
        entry: found.clone(),
        through: found,
    }
}

#[cfg(test)]
mod tests;
