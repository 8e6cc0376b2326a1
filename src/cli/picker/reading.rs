//! What do keys and the mouse do to what is read: the preview and the tree?

use std::time::{Duration, Instant};

use ratatui::crossterm::event::{KeyEvent, MouseButton, MouseEvent, MouseEventKind};

use super::choice::ChosenAction;
use super::draw::{self, Spot};
use super::help::HINT;
use super::keys::{self, Action};
use super::message::PreviewRequest;
use super::pane::Direction;
use super::state::{Focus, State, Task};
use super::tree::rows_in;

/// What can be done where the keys are now, in a few words.
pub fn keys_in_short(focus: Focus) -> &'static str {
    match focus {
        Focus::Preview => "n N match · t tree · Esc list · F1 help",
        Focus::Tree => "Enter that branch · f others · Esc text",
        Focus::List | Focus::Help => HINT,
    }
}

/// Lines that a turn of the wheel moves a text.
const WHEEL: isize = 3;

/// No longer after a click than this, another one is its second.
const DOUBLE_CLICK: Duration = Duration::from_millis(400);

impl State {
    /// Gives the keys to the preview, where there is one.
    pub(super) fn enter_preview(&mut self) {
        if draw::preview_size(self.size, self.is_plain).is_some() && self.pane.has_session() {
            self.focus = match self.pane.tree {
                Some(_) => Focus::Tree,
                None => Focus::Preview,
            };
        }
    }

    /// There is nothing to be read any more, or no room for it.
    pub(super) fn leave_preview(&mut self) {
        self.pane.close();
        let focus = self.focus_below_help();
        if matches!(focus, Focus::Preview | Focus::Tree) {
            *focus = Focus::List;
        }
    }

    /// Where another session is looked at than the one whose tree had the keys, its text has them.
    pub(super) fn leave_tree_that_is_gone(&mut self) {
        let is_gone = self.pane.tree.is_none();
        let focus = self.focus_below_help();
        if is_gone && *focus == Focus::Tree {
            *focus = Focus::Preview;
        }
    }

    /// What has the keys once the help is closed.
    fn focus_below_help(&mut self) -> &mut Focus {
        match self.focus {
            Focus::Help => &mut self.before_help,
            _ => &mut self.focus,
        }
    }

    /// The session that was read is no longer in the list: what is typed now is not meant for the
    /// one in its place.
    pub(super) fn stop_reading(&mut self) {
        let focus = self.focus_below_help();
        if matches!(focus, Focus::Preview | Focus::Tree) {
            *focus = Focus::List;
            self.pane.close();
            self.notice = Some("The session that was read is no longer in the list.".to_owned());
        }
    }

    pub(super) fn key_in_preview(&mut self, key: KeyEvent) -> Vec<Task> {
        let Some(action) = keys::in_preview(key) else {
            return Vec::new();
        };
        let request = match action {
            Action::Up => self.pane.scroll(-1),
            Action::Down => self.pane.scroll(1),
            Action::PageUp => self.pane.page(-1),
            Action::PageDown => self.pane.page(1),
            Action::First => self.pane.first(),
            Action::Last => self.pane.last(),
            Action::NextMatch => self.pane.go_to_match(Direction::Down),
            Action::LastMatch => self.pane.go_to_match(Direction::Up),
            Action::Tree => {
                self.focus = Focus::Tree;
                self.pane.open_tree()
            }
            Action::Back => {
                self.focus = Focus::List;
                None
            }
            other => return self.act_anywhere(other),
        };
        tasks(request)
    }

    pub(super) fn key_in_tree(&mut self, key: KeyEvent) -> Vec<Task> {
        let Some(action) = keys::in_tree(key) else {
            return Vec::new();
        };
        let height =
            draw::preview_size(self.size, self.is_plain).map_or(1, |size| usize::from(size.height));
        let page = isize::try_from(rows_in(height)).unwrap_or(1);
        let by = match action {
            Action::Up => -1,
            Action::Down => 1,
            Action::PageUp => -page,
            Action::PageDown => page,
            Action::First => isize::MIN,
            Action::Last => isize::MAX,
            Action::Tree => return tasks(self.pane.turn_tree()),
            Action::Accept => {
                self.focus = Focus::Preview;
                let request = self.pane.choose_branch();
                return tasks(request.or_else(|| self.pane.close_tree()));
            }
            Action::Back => {
                self.focus = Focus::Preview;
                return tasks(self.pane.close_tree());
            }
            other => return self.act_anywhere(other),
        };
        if let Some(tree) = &mut self.pane.tree {
            tree.go(by, height);
        }
        Vec::new()
    }

    /// What a key does wherever text is read.
    fn act_anywhere(&mut self, action: Action) -> Vec<Task> {
        use Action::{Accept, AcceptEntry, Act, Copy, Help, Leave, Pin};
        match action {
            Accept | AcceptEntry | Leave | Pin | Copy | Act | Help => self.act(action),
            _ => Vec::new(),
        }
    }

    pub(super) fn mouse(&mut self, mouse: MouseEvent) -> Vec<Task> {
        if self.dialog.is_some() || self.focus == Focus::Help {
            return Vec::new();
        }
        let spot = draw::spot(self.size, self.top, mouse.column, mouse.row);
        let by = match mouse.kind {
            MouseEventKind::ScrollDown => 1,
            MouseEventKind::ScrollUp => -1,
            MouseEventKind::Down(MouseButton::Left) => return self.click(spot),
            _ => return Vec::new(),
        };
        match spot {
            Some(Spot::Preview(_)) => self.scroll_preview(by * WHEEL),
            // The list of what is typed is still to come.
            _ if !self.is_listed => Vec::new(),
            _ => {
                self.take_back();
                self.moved(by)
            }
        }
    }

    /// Scrolls what is in the preview, whatever has the keys.
    pub(super) fn scroll_preview(&mut self, by: isize) -> Vec<Task> {
        let Some(tree) = &mut self.pane.tree else {
            return tasks(self.pane.scroll(by));
        };
        let size = draw::preview_size(self.size, self.is_plain);
        tree.go(by, size.map_or(1, |size| usize::from(size.height)));
        Vec::new()
    }

    fn click(&mut self, spot: Option<Spot>) -> Vec<Task> {
        self.take_back();
        self.notice = None;
        let (before, now) = (self.clicked.take(), Instant::now());
        match spot {
            Some(Spot::Row(row)) if row < self.rows.len() => {
                self.focus = Focus::List;
                self.selected = row;
                let key = self.rows[row].key();
                let is_second = before.is_some_and(|(session, at)| {
                    session == key && now.duration_since(at) < DOUBLE_CLICK
                });
                let mut tasks = self.moved(0);
                match is_second {
                    true => tasks.extend(self.accept(ChosenAction::Accept)),
                    false => self.clicked = Some((key, now)),
                }
                tasks
            }
            Some(Spot::Preview(line)) if self.pane.has_session() => {
                self.enter_preview();
                if let Some(tree) = &mut self.pane.tree {
                    tree.select_line(line);
                }
                Vec::new()
            }
            _ => Vec::new(),
        }
    }
}

fn tasks(request: Option<PreviewRequest>) -> Vec<Task> {
    let request = request.map(Box::new);
    request.map(Task::Preview).into_iter().collect()
}

#[cfg(test)]
mod tests;
