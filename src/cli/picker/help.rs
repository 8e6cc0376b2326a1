//! Which keys are there, and what does each do? One table for the help and for docs/picker.md; a
//! test holds [`keys`](super::keys) to it.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::draw;
use super::keys::{self, Action};
use super::state::{Focus, State};

/// A key, or several, as they are written on keyboards (`Ctrl-P/K` is two keys); what they do; and
/// what they ask for: all the same, or each its own.
pub type KeyHelp = (&'static str, &'static str, &'static [Action]);

/// What some keys are about.
pub struct Part {
    pub heading: &'static str,
    /// Whether it stands in the first of two columns.
    pub is_left: bool,
    /// The keys, by what has them.
    keys: &'static [(Focus, &'static [KeyHelp])],
}

impl Part {
    pub fn keys(&self) -> impl Iterator<Item = (Focus, &'static KeyHelp)> {
        let keys = self.keys.iter();
        keys.flat_map(|(focus, keys)| keys.iter().map(move |key| (*focus, key)))
    }
}

/// All keys. Those of the list that move, choose and leave do so in the preview too.
pub const PARTS: &[Part] = &[
    Part {
        heading: "Sessions",
        is_left: true,
        keys: &[(Focus::List, SESSIONS)],
    },
    Part {
        heading: "Preview and tree",
        is_left: true,
        keys: &[(Focus::Preview, PREVIEW), (Focus::Tree, TREE)],
    },
    Part {
        heading: "List",
        is_left: false,
        keys: &[(Focus::List, LIST)],
    },
    Part {
        heading: "Query",
        is_left: false,
        keys: &[(Focus::List, QUERY)],
    },
];

const SESSIONS: &[KeyHelp] = &[
    ("Enter Ctrl-M", "continue the session", &[Action::Accept]),
    (
        "Alt-Enter",
        "continue from this entry",
        &[Action::AcceptEntry],
    ),
    (
        "Tab Shift-Tab",
        "mark, and go down or up",
        &[Action::Mark, Action::MarkUp],
    ),
    ("Alt-M", "unmark all", &[Action::UnmarkAll]),
    ("Alt-P", "pin or unpin", &[Action::Pin]),
    ("Alt-C", "copy: choose what", &[Action::Copy]),
    ("Alt-A", "rename, label, trash …", &[Action::Act]),
    ("Alt-S", "all sessions, or here", &[Action::TogglePlace]),
    ("Alt-O", "best first, or newest", &[Action::ToggleOrder]),
    ("F1", "this help", &[Action::Help]),
    ("Esc Ctrl-C/G/Q", "leave", &[Action::Leave]),
    (
        "Ctrl-Z/L",
        "stop, fg goes on; redraw",
        &[Action::Suspend, Action::Redraw],
    ),
];

const PREVIEW: &[KeyHelp] = &[
    ("n", "the next match", &[Action::NextMatch]),
    ("N", "the match before", &[Action::LastMatch]),
    ("Space", "a screen on", &[Action::PageDown]),
    ("← Esc", "back to the list", &[Action::Back]),
    ("t", "the tree, and back", &[Action::Tree]),
];

const TREE: &[KeyHelp] = &[
    ("f", "the tree: other entries", &[Action::Tree]),
    ("Enter", "the tree: read a branch", &[Action::Accept]),
];

const LIST: &[KeyHelp] = &[
    ("↑ Ctrl-P/K", "up", &[Action::Up]),
    ("↓ Ctrl-N/J", "down", &[Action::Down]),
    (
        "PgUp/PgDn",
        "a page up or down",
        &[Action::PageUp, Action::PageDown],
    ),
    (
        "Ctrl-Home/End",
        "the first, the last",
        &[Action::First, Action::Last],
    ),
    (
        "Shift-↑/↓",
        "scroll the preview",
        &[Action::ScrollUp, Action::ScrollDown],
    ),
];

const QUERY: &[KeyHelp] = &[
    ("Ctrl-Space", "complete a filter", &[Action::Complete]),
    ("← Ctrl-B", "a letter back", &[Action::Left]),
    ("→ Ctrl-F", "a letter on; preview", &[Action::Right]),
    ("Alt-B Alt/Ctrl-←", "a word back", &[Action::WordLeft]),
    ("Alt-F Alt/Ctrl-→", "a word on", &[Action::WordRight]),
    ("Home Ctrl-A", "to the beginning", &[Action::LineStart]),
    ("End Ctrl-E", "to the end", &[Action::LineEnd]),
    ("Bksp Ctrl-H", "delete before", &[Action::Backspace]),
    ("Del", "delete behind", &[Action::Delete]),
    ("Ctrl-D", "the same; empty: leave", &[Action::DeleteOrLeave]),
    ("Ctrl-W Alt-Bksp", "cut the word before", &[Action::CutWord]),
    ("Alt-D", "cut the word behind", &[Action::CutNextWord]),
    ("Ctrl-U", "cut all before", &[Action::CutToStart]),
    ("Ctrl-Y", "put back what was cut", &[Action::PasteCut]),
];

/// The keys that people need first, for the line at the bottom.
pub const HINT: &str = "Alt-A actions · F1 help";

impl State {
    pub(super) fn open_help(&mut self) {
        self.before_help = self.focus;
        (self.focus, self.help_top) = (Focus::Help, 0);
    }

    /// A key while the help is shown: it scrolls where it does not fit, any other closes it.
    pub(super) fn key_in_help(&mut self, key: KeyEvent) {
        if key.kind == KeyEventKind::Release {
            return;
        }
        let (lines, shown) = draw::help_size(self.size);
        let most = lines.saturating_sub(shown);
        let top = self.help_top;
        let scrolled = match (key.code, keys::in_list(key)) {
            (_, Some(Action::Up)) => top.saturating_sub(1),
            (_, Some(Action::Down)) => top + 1,
            (_, Some(Action::PageUp)) => top.saturating_sub(shown),
            (KeyCode::Char(' '), _) | (_, Some(Action::PageDown)) => top + shown,
            (_, Some(Action::First | Action::LineStart)) => 0,
            (_, Some(Action::Last | Action::LineEnd)) => most,
            _ => return self.focus = self.before_help,
        };
        match most {
            0 => self.focus = self.before_help,
            most => self.help_top = scrolled.min(most),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use ratatui::crossterm::event::KeyModifiers;

    use super::*;

    /// The keys that a line of the table names.
    fn events(written: &str) -> Vec<KeyEvent> {
        let mut events = Vec::new();
        for word in written.split(' ') {
            let (modifiers, names) = word.rsplit_once('-').unwrap_or(("", word));
            for modifier in modifiers.split('/') {
                let modifier = match modifier {
                    "" => KeyModifiers::NONE,
                    "Shift" => KeyModifiers::SHIFT,
                    "Ctrl" => KeyModifiers::CONTROL,
                    "Alt" => KeyModifiers::ALT,
                    other => panic!("{other}"),
                };
                for name in names.split('/') {
                    let code = match name {
                        "Enter" => KeyCode::Enter,
                        "Tab" if modifiers == "Shift" => KeyCode::BackTab,
                        "Tab" => KeyCode::Tab,
                        "Esc" => KeyCode::Esc,
                        "F1" => KeyCode::F(1),
                        "↑" => KeyCode::Up,
                        "↓" => KeyCode::Down,
                        "←" => KeyCode::Left,
                        "→" => KeyCode::Right,
                        "PgUp" => KeyCode::PageUp,
                        "PgDn" => KeyCode::PageDown,
                        "Home" => KeyCode::Home,
                        "End" => KeyCode::End,
                        "Bksp" => KeyCode::Backspace,
                        "Del" => KeyCode::Delete,
                        "Space" => KeyCode::Char(' '),
                        letter => {
                            let mut letters = letter.chars();
                            // A key alone is a letter as it is.
                            let code = letters.next().map(|one| match modifiers {
                                "" => one,
                                _ => one.to_ascii_lowercase(),
                            });
                            assert_eq!(letters.next(), None, "{name}");
                            KeyCode::Char(code.expect("a letter"))
                        }
                    };
                    let modifier = match code {
                        KeyCode::BackTab => KeyModifiers::NONE,
                        _ => modifier,
                    };
                    events.push(KeyEvent::new(code, modifier));
                }
            }
        }
        events
    }

    /// What a key means where this has the keys.
    fn meaning(focus: Focus, key: KeyEvent) -> Option<Action> {
        match focus {
            Focus::List => keys::in_list(key),
            Focus::Preview => keys::in_preview(key),
            Focus::Tree => keys::in_tree(key),
            Focus::Help => None,
        }
    }

    #[test]
    fn every_key_does_what_the_help_says() {
        for (focus, key, action) in told() {
            assert_eq!(meaning(focus, key), Some(action), "{key:?}");
        }
    }

    /// Every key of a keyboard, alone and with Ctrl or Alt.
    fn all_keys() -> Vec<KeyEvent> {
        let letters = (' '..='~').map(KeyCode::Char);
        let functions = (1..=12).map(KeyCode::F);
        let others = [
            KeyCode::Enter,
            KeyCode::Esc,
            KeyCode::Tab,
            KeyCode::BackTab,
            KeyCode::Backspace,
            KeyCode::Delete,
            KeyCode::Insert,
            KeyCode::Up,
            KeyCode::Down,
            KeyCode::Left,
            KeyCode::Right,
            KeyCode::Home,
            KeyCode::End,
            KeyCode::PageUp,
            KeyCode::PageDown,
        ];
        let codes = letters.chain(functions).chain(others);
        let held = [KeyModifiers::NONE, KeyModifiers::CONTROL, KeyModifiers::ALT];
        codes
            .flat_map(|code| held.map(|held| KeyEvent::new(code, held)))
            .collect()
    }

    /// The keys that the help tells of, with what has them and what they ask for.
    fn told() -> Vec<(Focus, KeyEvent, Action)> {
        let told = PARTS.iter().flat_map(Part::keys);
        let told = told.flat_map(|(focus, (keys, _, actions))| {
            let events = events(keys);
            assert!([1, events.len()].contains(&actions.len()), "{keys}");
            let actions = actions.iter().cycle();
            let told = events.into_iter().zip(actions);
            told.map(move |(key, action)| (focus, key, *action))
        });
        told.collect()
    }

    #[test]
    fn the_help_leaves_no_key_of_the_list_out() {
        let told = told();
        for key in all_keys() {
            let Some(action) = keys::in_list(key) else {
                continue;
            };
            // Capital letters mean what small ones do, and a modifier that changes nothing is no
            // key of its own.
            let is_capital = matches!(key.code, KeyCode::Char(letter) if letter.is_uppercase());
            let alone = keys::in_list(KeyEvent::new(key.code, KeyModifiers::NONE));
            let is_same = !key.modifiers.is_empty() && alone == Some(action);
            if is_capital || is_same || matches!(action, Action::Type(_)) {
                continue;
            }
            let is_told = told.contains(&(Focus::List, key, action));
            assert!(is_told, "{key:?} {action:?}");
        }
    }

    #[test]
    fn the_help_leaves_no_key_of_what_is_read_out() {
        let told = told();
        for key in all_keys() {
            // What it does in the list it does there too; Home and End are of the text.
            let in_list = keys::in_list(key).map(|action| match action {
                Action::LineStart => Action::First,
                Action::LineEnd => Action::Last,
                action => action,
            });
            let is_of_its_own = |action: &Action| in_list != Some(*action);
            if let Some(action) = keys::in_preview(key).filter(is_of_its_own) {
                let is_alone = key.modifiers.is_empty();
                let is_told = told.contains(&(Focus::Preview, key, action));
                assert!(!is_alone || is_told, "{key:?} {action:?}");
            }
            if let Some(action) = keys::in_tree(key).filter(is_of_its_own) {
                let is_in_preview = keys::in_preview(key) == Some(action);
                // The key that opened it closes it.
                let is_back = keys::in_preview(key) == Some(Action::Tree);
                let is_told = told.contains(&(Focus::Tree, key, action));
                assert!(is_in_preview || is_back || is_told, "{key:?} {action:?}");
            }
        }
    }

    #[test]
    fn the_document_has_the_same_table() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/picker.md");
        let text = fs::read_to_string(path).expect("docs/picker.md");
        let (_, text) = text.split_once("\n## Keys\n").expect("its keys");
        let (text, _) = text.split_once("\n## ").expect("what follows");
        let rows = text.lines().filter(|line| line.starts_with("| "));
        let rows: Vec<&str> = rows.filter(|line| *line != "| key | does |").collect();
        let told = PARTS.iter().flat_map(Part::keys);
        let told = told.map(|(_, (keys, does, _))| format!("| {keys} | {does} |"));
        assert_eq!(rows, told.collect::<Vec<_>>());
    }
}
