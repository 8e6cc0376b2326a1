//! Which keys are there, and what does each do? One table for the help and for docs/picker.md; a
//! test holds [`keys`](super::keys) to it.

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind};

use super::draw;
use super::keys::{self, Action, ReadingAction};
use super::state::{Focus, State};

/// A key, or several that do the same.
pub struct KeyHelp {
    pub part: Part,
    /// As they are written on keyboards: `Ctrl-P/K` is two keys.
    pub keys: &'static str,
    pub does: &'static str,
    pub action: KeyAction,
}

/// What a key asks for, by what has the keys.
#[derive(Debug, PartialEq, Eq)]
pub enum KeyAction {
    List(Action),
    Preview(ReadingAction),
    Tree(ReadingAction),
}

/// What keys are about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Sessions,
    Preview,
    List,
    Query,
}

impl Part {
    pub const ALL: [Self; 4] = [Self::Sessions, Self::Preview, Self::List, Self::Query];

    pub fn heading(self) -> &'static str {
        match self {
            Self::Sessions => "Sessions",
            Self::Preview => "Preview and tree",
            Self::List => "List",
            Self::Query => "Query",
        }
    }

    /// Whether it stands in the first of two columns.
    pub fn is_left(self) -> bool {
        matches!(self, Self::Sessions | Self::Preview)
    }
}

const fn key(part: Part, keys: &'static str, does: &'static str, action: Action) -> KeyHelp {
    KeyHelp {
        part,
        keys,
        does,
        action: KeyAction::List(action),
    }
}

const fn reading(keys: &'static str, does: &'static str, action: ReadingAction) -> KeyHelp {
    KeyHelp {
        part: Part::Preview,
        keys,
        does,
        action: KeyAction::Preview(action),
    }
}

const fn in_tree(keys: &'static str, does: &'static str, action: ReadingAction) -> KeyHelp {
    KeyHelp {
        part: Part::Preview,
        keys,
        does,
        action: KeyAction::Tree(action),
    }
}

/// All keys. Those of the list that move, choose and leave do so in the preview too.
pub const KEYS: &[KeyHelp] = &[
    key(
        Part::Sessions,
        "Enter Ctrl-M",
        "continue the session",
        Action::Accept,
    ),
    key(
        Part::Sessions,
        "Alt-Enter",
        "continue from this entry",
        Action::AcceptEntry,
    ),
    key(Part::Sessions, "Tab", "mark, and go down", Action::Mark),
    key(
        Part::Sessions,
        "Shift-Tab",
        "mark, and go up",
        Action::MarkUp,
    ),
    key(Part::Sessions, "Alt-P", "pin or unpin", Action::Pin),
    key(Part::Sessions, "Alt-C", "copy: choose what", Action::Copy),
    key(
        Part::Sessions,
        "Alt-A",
        "rename, label, trash …",
        Action::Act,
    ),
    key(
        Part::Sessions,
        "Alt-S",
        "all sessions, or here",
        Action::TogglePlace,
    ),
    key(
        Part::Sessions,
        "Alt-O",
        "best first, or newest",
        Action::ToggleOrder,
    ),
    key(Part::Sessions, "F1", "this help", Action::Help),
    key(Part::Sessions, "Esc Ctrl-C/G/Q", "leave", Action::Leave),
    key(
        Part::Sessions,
        "Ctrl-Z",
        "stop; fg goes on",
        Action::Suspend,
    ),
    reading("n", "the next match", ReadingAction::NextMatch),
    reading("N", "the match before", ReadingAction::LastMatch),
    reading("Space", "a screen on", ReadingAction::PageDown),
    reading("← Esc", "back to the list", ReadingAction::Back),
    reading("t", "the tree, and back", ReadingAction::Tree),
    in_tree("f", "the tree: other entries", ReadingAction::Tree),
    in_tree("Enter", "the tree: read a branch", ReadingAction::Accept),
    key(Part::List, "↑ Ctrl-P/K", "up", Action::Up),
    key(Part::List, "↓ Ctrl-N/J", "down", Action::Down),
    key(Part::List, "PgUp", "a page up", Action::PageUp),
    key(Part::List, "PgDn", "a page down", Action::PageDown),
    key(Part::List, "Ctrl-Home", "the first", Action::First),
    key(Part::List, "Ctrl-End", "the last", Action::Last),
    key(
        Part::Query,
        "Ctrl-Space",
        "complete a filter",
        Action::Complete,
    ),
    key(Part::Query, "← Ctrl-B", "a letter back", Action::Left),
    key(
        Part::Query,
        "→ Ctrl-F",
        "a letter on; preview",
        Action::Right,
    ),
    key(
        Part::Query,
        "Alt-B Alt/Ctrl-←",
        "a word back",
        Action::WordLeft,
    ),
    key(
        Part::Query,
        "Alt-F Alt/Ctrl-→",
        "a word on",
        Action::WordRight,
    ),
    key(
        Part::Query,
        "Home Ctrl-A",
        "to the beginning",
        Action::LineStart,
    ),
    key(Part::Query, "End Ctrl-E", "to the end", Action::LineEnd),
    key(
        Part::Query,
        "Bksp Ctrl-H",
        "delete before",
        Action::Backspace,
    ),
    key(Part::Query, "Del", "delete behind", Action::Delete),
    key(
        Part::Query,
        "Ctrl-D",
        "the same; empty: leave",
        Action::DeleteOrLeave,
    ),
    key(
        Part::Query,
        "Ctrl-W Alt-Bksp",
        "cut the word before",
        Action::CutWord,
    ),
    key(Part::Query, "Ctrl-U", "cut all before", Action::CutToStart),
    key(
        Part::Query,
        "Ctrl-Y",
        "put back what was cut",
        Action::PasteCut,
    ),
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
                    "" | "Shift" => KeyModifiers::NONE,
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
                    events.push(KeyEvent::new(code, modifier));
                }
            }
        }
        events
    }

    #[test]
    fn every_key_does_what_the_help_says() {
        for line in KEYS {
            for event in events(line.keys) {
                let action = match line.action {
                    KeyAction::List(_) => keys::in_list(event).map(KeyAction::List),
                    KeyAction::Preview(_) => keys::in_preview(event).map(KeyAction::Preview),
                    KeyAction::Tree(_) => keys::in_tree(event).map(KeyAction::Tree),
                };
                assert_eq!(action.as_ref(), Some(&line.action), "{}", line.keys);
            }
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

    /// The keys that the help tells of, with what they ask for.
    fn told() -> Vec<(KeyEvent, &'static KeyAction)> {
        let lines = KEYS.iter();
        let told =
            lines.flat_map(|line| events(line.keys).into_iter().map(|key| (key, &line.action)));
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
            let is_same = !key.modifiers.is_empty() && alone.as_ref() == Some(&action);
            if is_capital || is_same || matches!(action, Action::Type(_)) {
                continue;
            }
            let action = KeyAction::List(action);
            assert!(told.contains(&(key, &action)), "{key:?} {action:?}");
        }
    }

    #[test]
    fn the_help_leaves_no_key_of_what_is_read_out() {
        let told = told();
        for key in all_keys() {
            // What it does in the list it does there too; Home and End are of the text.
            let in_list = keys::in_list(key).map(|action| match action {
                Action::LineStart => "First".to_owned(),
                Action::LineEnd => "Last".to_owned(),
                action => format!("{action:?}"),
            });
            let is_as_in_list = |action| in_list.as_ref() == Some(&format!("{action:?}"));
            let in_preview = keys::in_preview(key).filter(|action| !is_as_in_list(*action));
            if let Some(action) = in_preview.map(KeyAction::Preview) {
                let is_alone = key.modifiers.is_empty();
                assert!(
                    !is_alone || told.contains(&(key, &action)),
                    "{key:?} {action:?}"
                );
            }
            let in_tree = keys::in_tree(key).filter(|action| !is_as_in_list(*action));
            if let Some(action) = in_tree {
                let is_in_preview = keys::in_preview(key) == Some(action);
                // The key that opened it closes it.
                let is_back = keys::in_preview(key) == Some(ReadingAction::Tree);
                let action = KeyAction::Tree(action);
                let is_told = is_in_preview || is_back || told.contains(&(key, &action));
                assert!(is_told, "{key:?} {action:?}");
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
        let told = KEYS
            .iter()
            .map(|line| format!("| {} | {} |", line.keys, line.does));
        assert_eq!(rows, told.collect::<Vec<_>>());
    }
}
