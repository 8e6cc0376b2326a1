//! What does each key mean?

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// What a key asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    Type(char),
    Up,
    Down,
    /// A line of what is in the preview, from the list.
    ScrollUp,
    ScrollDown,
    PageUp,
    PageDown,
    First,
    Last,
    Accept,
    AcceptEntry,
    Leave,
    Suspend,
    /// Draws all of it anew.
    Redraw,
    Mark,
    MarkUp,
    /// Takes all marks away.
    UnmarkAll,
    TogglePlace,
    ToggleOrder,
    Left,
    Right,
    WordLeft,
    WordRight,
    LineStart,
    LineEnd,
    Backspace,
    /// Deletes a letter; in an empty line it leaves.
    DeleteOrLeave,
    Delete,
    CutWord,
    CutNextWord,
    CutToStart,
    PasteCut,
    /// Pins or unpins.
    Pin,
    /// Asks what is to be copied.
    Copy,
    /// Asks what is to be done.
    Act,
    /// Offers what the word being typed may become.
    Complete,
    Help,
    /// Where text is read: the next match, and the one before.
    NextMatch,
    LastMatch,
    /// The tree; in the tree: other entries of it.
    Tree,
    /// From what is read to what had the keys before.
    Back,
}

/// What a key means while the query line has the keys; `None`: nothing.
pub fn in_list(key: KeyEvent) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    let alt = key.modifiers.contains(KeyModifiers::ALT);
    let shift = key.modifiers.contains(KeyModifiers::SHIFT);
    Some(match key.code {
        KeyCode::Char(letter) if control && !alt => match letter.to_ascii_lowercase() {
            'a' => Action::LineStart,
            'b' => Action::Left,
            'c' | 'g' | 'q' => Action::Leave,
            'd' => Action::DeleteOrLeave,
            'e' => Action::LineEnd,
            'f' => Action::Right,
            'h' => Action::Backspace,
            'j' | 'n' => Action::Down,
            'k' | 'p' => Action::Up,
            'l' => Action::Redraw,
            'm' => Action::Accept,
            'u' => Action::CutToStart,
            'w' => Action::CutWord,
            'y' => Action::PasteCut,
            'z' => Action::Suspend,
            ' ' => Action::Complete,
            _ => return None,
        },
        KeyCode::Char(letter) if alt && !control => return with_alt(letter),
        KeyCode::Char(letter) if !control && !alt => Action::Type(letter),
        KeyCode::Enter if alt => Action::AcceptEntry,
        KeyCode::Enter => Action::Accept,
        KeyCode::Esc => Action::Leave,
        KeyCode::Up if shift => Action::ScrollUp,
        KeyCode::Down if shift => Action::ScrollDown,
        KeyCode::Up => Action::Up,
        KeyCode::Down => Action::Down,
        KeyCode::PageUp => Action::PageUp,
        KeyCode::PageDown => Action::PageDown,
        KeyCode::Home if control => Action::First,
        KeyCode::End if control => Action::Last,
        KeyCode::Home => Action::LineStart,
        KeyCode::End => Action::LineEnd,
        KeyCode::Left if control || alt => Action::WordLeft,
        KeyCode::Right if control || alt => Action::WordRight,
        KeyCode::Left => Action::Left,
        KeyCode::Right => Action::Right,
        KeyCode::Backspace if alt => Action::CutWord,
        KeyCode::Backspace => Action::Backspace,
        KeyCode::Delete => Action::Delete,
        KeyCode::Tab => Action::Mark,
        KeyCode::BackTab => Action::MarkUp,
        KeyCode::F(1) => Action::Help,
        _ => return None,
    })
}

/// What a letter means with Alt; `None`: nothing.
fn with_alt(letter: char) -> Option<Action> {
    Some(match letter {
        'a' => Action::Act,
        'c' => Action::Copy,
        'm' => Action::UnmarkAll,
        'p' => Action::Pin,
        's' => Action::TogglePlace,
        'o' => Action::ToggleOrder,
        'b' => Action::WordLeft,
        'f' => Action::WordRight,
        'd' => Action::CutNextWord,
        _ => return None,
    })
}

/// What a key means while the preview has the keys; `None`: nothing.
pub fn in_preview(key: KeyEvent) -> Option<Action> {
    match (key.code, is_plain(key)) {
        (KeyCode::Char('n'), true) => Some(Action::NextMatch),
        (KeyCode::Char('N'), true) => Some(Action::LastMatch),
        (KeyCode::Char('t'), true) => Some(Action::Tree),
        _ => in_text(key),
    }
}

/// What a key means while the tree has the keys; `None`: nothing.
pub fn in_tree(key: KeyEvent) -> Option<Action> {
    match (key.code, is_plain(key)) {
        (KeyCode::Char('f'), true) => Some(Action::Tree),
        (KeyCode::Char('t'), true) => Some(Action::Back),
        _ => in_text(key),
    }
}

fn is_plain(key: KeyEvent) -> bool {
    let held = key.modifiers - KeyModifiers::SHIFT;
    held.is_empty() && key.kind != KeyEventKind::Release
}

/// What a key means in any text that is read.
fn in_text(key: KeyEvent) -> Option<Action> {
    Some(match in_list(key)? {
        Action::ScrollUp => Action::Up,
        Action::ScrollDown => Action::Down,
        Action::Type(' ') => Action::PageDown,
        // Home and End, which in a line are its own.
        Action::LineStart => Action::First,
        Action::LineEnd => Action::Last,
        Action::Left => Action::Back,
        Action::Leave if key.code == KeyCode::Esc => Action::Back,
        other => other,
    })
}
