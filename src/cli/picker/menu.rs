//! What is somebody at the picker asked: which of a few things, what something is called, yes or
//! no?

use std::collections::VecDeque;

use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use sessionary::model::SessionRow;

use super::actions::Target;
use super::keys::{self, Action};
use super::line::QueryLine;
use crate::command::{trashing, writing};

/// What stands over the list until it is answered.
pub enum Dialog {
    Menu(Box<Menu>),
    Prompt(Prompt),
    Confirmation(Confirmation),
}

/// Which of a few things?
pub struct Menu {
    pub title: String,
    pub items: Vec<MenuItem>,
    /// The item on which the selection stands.
    pub selected: usize,
    /// What is marked, else the session on which the selection stands.
    pub targets: Vec<Target>,
}

/// What a menu offers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MenuItem {
    CopyCommand,
    CopyId,
    CopyPath,
    CopyMarkdown,
    CopyEntry,
    CopyAddress,
    Rename,
    Label,
    Fork,
    ExportMarkdown,
    ExportHtml,
    Trash,
    Undo,
}

/// What can be copied.
pub const COPIES: [MenuItem; 6] = [
    MenuItem::CopyCommand,
    MenuItem::CopyId,
    MenuItem::CopyPath,
    MenuItem::CopyMarkdown,
    MenuItem::CopyEntry,
    MenuItem::CopyAddress,
];

/// What can be done.
pub const ACTIONS: [MenuItem; 7] = [
    MenuItem::Rename,
    MenuItem::Label,
    MenuItem::Fork,
    MenuItem::ExportMarkdown,
    MenuItem::ExportHtml,
    MenuItem::Trash,
    MenuItem::Undo,
];

impl MenuItem {
    /// The key that chooses it at once.
    pub fn letter(self) -> char {
        match self {
            Self::CopyCommand => 'c',
            Self::CopyId => 'i',
            Self::CopyPath => 'p',
            Self::CopyMarkdown | Self::ExportMarkdown => 'm',
            Self::CopyEntry => 'e',
            Self::CopyAddress => 'a',
            Self::Rename => 'r',
            Self::Label => 'l',
            Self::Fork => 'f',
            Self::ExportHtml => 'h',
            Self::Trash => 't',
            Self::Undo => 'u',
        }
    }

    /// Whether it is about sessions of the list.
    pub fn needs_session(self) -> bool {
        self != Self::Undo
    }

    /// Whether what is shown of the session, its agent, and where it comes from allow that.
    pub fn is_allowed(self, Target { session, entry, .. }: &Target) -> bool {
        match self {
            Self::CopyEntry | Self::CopyAddress => entry.is_some(),
            Self::Rename => writing::may_be_named(session),
            Self::Label => writing::may_be_labelled(session),
            Self::Fork => writing::may_be_forked(session),
            Self::Trash => trashing::may_be_trashed(session),
            _ => true,
        }
    }

    /// What it is called.
    pub fn text(self) -> &'static str {
        match self {
            Self::CopyCommand => "command that continues the session",
            Self::CopyId => "id",
            Self::CopyPath => "path of the file",
            Self::CopyMarkdown => "branch as Markdown",
            Self::CopyEntry => "text of the entry shown, or its command",
            Self::CopyAddress => "address of the entry shown",
            Self::Rename => "rename",
            Self::Label => "label the entry shown, or all marked",
            Self::Fork => "fork: a copy for this directory",
            Self::ExportMarkdown => "export the branch as Markdown",
            Self::ExportHtml => "export the branch as HTML",
            Self::Trash => "move to the trash",
            Self::Undo => "bring back what went to the trash last",
        }
    }
}

/// What is it called?
pub struct Prompt {
    pub title: String,
    pub line: QueryLine,
    pub about: NameTarget,
}

/// What is given a name.
pub enum NameTarget {
    /// A session, and those that come after it.
    Session(Box<SessionRow>, VecDeque<SessionRow>),
    /// An entry of each of these sessions.
    Entries(Vec<Target>),
}

/// Yes or no?
pub struct Confirmation {
    pub text: String,
    /// What it is about.
    pub sessions: Vec<SessionRow>,
}

/// What becomes of the question.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply {
    /// It still stands.
    Stays,
    /// Nothing is to be done.
    No,
    Chosen(MenuItem),
    Typed(String),
    Yes,
}

impl Dialog {
    /// What a key answers.
    pub fn take(&mut self, key: KeyEvent) -> Reply {
        if key.kind == KeyEventKind::Release {
            return Reply::Stays;
        }
        match (self, keys::in_list(key)) {
            (_, Some(Action::Leave)) => Reply::No,
            (Self::Menu(menu), action) => menu.take(action),
            (Self::Prompt(prompt), Some(Action::Accept)) => {
                Reply::Typed(prompt.line.text().trim().to_owned())
            }
            (Self::Prompt(prompt), Some(action)) => {
                prompt.line.edit(&action);
                Reply::Stays
            }
            (Self::Prompt(_), None) => Reply::Stays,
            (Self::Confirmation(_), _) => match key.code {
                KeyCode::Char('y' | 'Y')
                    if key.modifiers.difference(KeyModifiers::SHIFT).is_empty() =>
                {
                    Reply::Yes
                }
                // Anything but yes is no.
                _ => Reply::No,
            },
        }
    }

    /// Takes what was pasted.
    pub fn paste(&mut self, text: &str) {
        if let Self::Prompt(prompt) = self {
            prompt.line.insert(text);
        }
    }
}

impl Menu {
    fn take(&mut self, action: Option<Action>) -> Reply {
        let last = self.items.len().saturating_sub(1);
        match action {
            Some(Action::Up | Action::MarkUp) => {
                self.selected = self.selected.checked_sub(1).unwrap_or(last);
            }
            Some(Action::Down | Action::Mark) if self.selected == last => self.selected = 0,
            Some(Action::Down | Action::Mark) => self.selected += 1,
            Some(Action::PageUp | Action::First) => self.selected = 0,
            Some(Action::PageDown | Action::Last) => self.selected = last,
            Some(Action::Accept) => {
                let chosen = self.items.get(self.selected);
                return chosen.map_or(Reply::No, |item| Reply::Chosen(*item));
            }
            Some(Action::Type(letter)) => {
                let letter = letter.to_ascii_lowercase();
                let mut items = self.items.iter();
                if let Some(item) = items.find(|item| item.letter() == letter) {
                    return Reply::Chosen(*item);
                }
            }
            // The key that opened it closes it.
            Some(Action::Copy | Action::Act) => return Reply::No,
            _ => {}
        }
        Reply::Stays
    }
}
