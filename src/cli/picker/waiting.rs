//! Which keys wait for the list of what is typed?
//!
//! Whatever is done with a session is done with one that was found by what is typed. Until the
//! answer to that is there, another list is seen, or what titles alone have found, which does not
//! tell the best. Keys that are about the list wait as long, and then mean what they would have
//! meant had they been pressed a moment later. Any other key takes them back, but for those that
//! follow Alt-A or Alt-C: they are meant for the menu.

use ratatui::crossterm::event::KeyEvent;

use super::keys::{self, Action};
use super::menu::Dialog;
use super::state::{Focus, State, Task};

impl State {
    /// Whether a key is about a list that is not there yet; then it is kept until it is.
    pub(super) fn waits(&mut self, key: KeyEvent, action: &Action) -> bool {
        if self.waits_for_menu() {
            match action {
                // As it closes the menu.
                Action::Leave => self.take_back(),
                _ => self.waiting.push(key),
            }
            return true;
        }
        // Whoever chooses, and then presses something else, has thought better of it.
        if self.waiting.last().is_some_and(|last| is_choice(*last)) {
            self.waiting.pop();
        }
        if !self.must_wait(action) {
            self.take_back();
            return false;
        }
        self.waiting.push(key);
        true
    }

    /// Whether what is pressed now is meant for a menu that is still to come.
    pub(super) fn waits_for_menu(&self) -> bool {
        self.waiting.iter().any(|key| opens_menu(*key))
    }

    /// Keys that wait are no longer meant.
    pub(super) fn take_back(&mut self) {
        self.waiting.clear();
        self.goes_to_last = false;
    }

    /// Does what has waited for the list, which is there now.
    pub(super) fn do_what_waits(&mut self) -> Vec<Task> {
        let waiting = std::mem::take(&mut self.waiting);
        let mut tasks = match std::mem::take(&mut self.goes_to_last) {
            true => self.moved(isize::MAX),
            false => Vec::new(),
        };
        for key in waiting {
            tasks.extend(match &self.dialog {
                // Nobody has seen yet what would go to the trash.
                Some(Dialog::Confirmation(_)) => break,
                Some(_) => self.key_to_answer(key),
                None if self.focus == Focus::List => self.key_in_list(key),
                None => self.key(key),
            });
        }
        tasks
    }

    /// Whether keys wait for the list of what is typed.
    pub fn is_waiting(&self) -> bool {
        self.goes_to_last || !self.waiting.is_empty()
    }

    fn must_wait(&self, action: &Action) -> bool {
        use Action::{Down, First, Last, Mark, MarkUp, PageDown, PageUp, Pin, Right, Up};
        match action {
            // What titles have found is seen: whoever moves there chooses among that.
            Up | Down | PageUp | PageDown | First | Last => !self.is_listed || self.is_waiting(),
            Right if !self.line.is_at_end() => false,
            action if chooses(action) || matches!(action, Mark | MarkUp | Pin) => {
                self.typed > self.answered || self.is_waiting()
            }
            _ => false,
        }
    }
}

fn is_choice(key: KeyEvent) -> bool {
    keys::in_list(key).is_some_and(|action| chooses(&action))
}

fn opens_menu(key: KeyEvent) -> bool {
    matches!(keys::in_list(key), Some(Action::Act | Action::Copy))
}

/// Whether it goes on with the session on which the selection stands, whatever has the keys then.
fn chooses(action: &Action) -> bool {
    use Action::{Accept, AcceptEntry, Act, Copy, Right};
    matches!(action, Accept | AcceptEntry | Act | Copy | Right)
}
