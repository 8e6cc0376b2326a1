//! What of a session is in the preview, and where in it does its reader stand?
//!
//! The pane holds a stretch of a branch. Somebody stands on one of its lines, which is in sight;
//! where they come near the end of what was read, more is asked for.

use ratatui::layout::Size;
use sessionary::index::TreeFilter;
use sessionary::model::{Hit, SessionRow};

use super::message::{Key, Preview, PreviewContent, PreviewPart, PreviewRequest, Row};
use super::tree::{self, TreePane};
use stretch::{Bookmark, Stretch};

mod stretch;

pub use stretch::{Block, Direction, VisibleLine, top_that_shows};

/// The preview.
#[derive(Default)]
pub struct Pane {
    /// What was asked for last.
    subject: Option<Subject>,
    stretch: Option<Stretch>,
    /// The tree, where that is seen instead.
    pub tree: Option<TreePane>,
    /// Of the request that was made last.
    number: u64,
    /// What the last request was for, as long as it is not answered.
    purpose: Option<RequestPurpose>,
    /// What there is to say about it.
    pub note: Option<String>,
    size: Size,
}

/// A session, and what makes somebody look at it.
struct Subject {
    session: SessionRow,
    query: String,
    hits: Vec<Hit>,
    /// The entry through which the branch goes.
    through: Option<String>,
    /// Whether somebody has gone to a place in it.
    is_moved: bool,
    /// The entry of the tree to which they went, until it is read.
    chosen: Option<String>,
}

impl Subject {
    fn key(&self) -> Key {
        (self.session.path.clone(), self.session.id.clone())
    }
}

/// What a request is for.
enum RequestPurpose {
    /// Another part of the session.
    Elsewhere,
    /// The same part, as it says now.
    Again(Bookmark),
    /// The next match.
    Match(Direction),
    /// More of what is shown.
    More,
}

impl Pane {
    /// Looks at what is selected now, on a screen with this much room for it.
    pub fn look(&mut self, row: &Row, query: &str, size: Size) -> Option<PreviewRequest> {
        let is_as_wide = self.size.width == size.width;
        self.resize(size);
        let Some(subject) = &mut self.subject else {
            return Some(self.open(row, query));
        };
        // What was found by its title so far is found by its text now.
        let is_found_now = subject.hits.is_empty() && !row.hits.is_empty();
        if subject.key() != row.key() || subject.query != query || is_found_now {
            return Some(self.open(row, query));
        }
        if subject.session == row.session && is_as_wide {
            return None;
        }
        // What takes long would never come to its end in a session that is being written.
        let takes_long = match &self.tree {
            Some(tree) => !tree.is_read,
            None => matches!(self.purpose, Some(RequestPurpose::Match(_))),
        };
        if takes_long && is_as_wide {
            return None;
        }
        subject.session = row.session.clone();
        if let Some(tree) = self.tree.as_mut() {
            tree.is_read = false;
            let part = PreviewPart::Tree(tree.filter);
            return Some(self.request(part, RequestPurpose::Elsewhere));
        }
        Some(self.again())
    }

    /// Nothing is selected.
    pub fn close(&mut self) {
        let number = self.number + 1;
        *self = Self {
            number,
            size: self.size,
            ..Self::default()
        };
    }

    fn open(&mut self, row: &Row, query: &str) -> PreviewRequest {
        self.tree = None;
        self.subject = Some(Subject {
            session: row.session.clone(),
            query: query.to_owned(),
            through: row.hits.first().map(|hit| hit.entry.clone()),
            hits: row.hits.clone(),
            is_moved: false,
            chosen: None,
        });
        self.request(PreviewPart::Through, RequestPurpose::Elsewhere)
    }

    /// Asks for what is shown once more.
    fn again(&mut self) -> PreviewRequest {
        let is_chosen = |subject: &Subject| subject.chosen.is_some();
        if self.subject.as_ref().is_some_and(is_chosen) {
            // What is shown is not yet what was chosen.
            return self.request(PreviewPart::Through, RequestPurpose::Elsewhere);
        }
        let shown = self.shown().filter(|stretch| !stretch.is_at_end());
        let bookmark = shown.and_then(Stretch::bookmark);
        match (bookmark, self.shown()) {
            (Some(bookmark), _) => {
                let part = PreviewPart::Place(bookmark.place);
                self.request(part, RequestPurpose::Again(bookmark))
            }
            (None, Some(_)) => self.request(PreviewPart::End, RequestPurpose::Elsewhere),
            (None, None) => self.request(PreviewPart::Through, RequestPurpose::Elsewhere),
        }
    }

    fn request(&mut self, part: PreviewPart, purpose: RequestPurpose) -> PreviewRequest {
        self.number += 1;
        self.purpose = Some(purpose);
        self.note = None;
        let subject = self.subject.as_ref();
        PreviewRequest {
            number: self.number,
            session: subject.map(|of| of.session.clone()).unwrap_or_default(),
            through: subject.and_then(|of| of.through.clone()),
            part,
            query: subject.map(|of| of.query.clone()).unwrap_or_default(),
            hits: subject.map(|of| of.hits.clone()).unwrap_or_default(),
            size: self.size,
        }
    }

    fn resize(&mut self, size: Size) {
        self.size = size;
        let height = self.height();
        if let Some(stretch) = &mut self.stretch {
            stretch.keep_in_sight(height);
        }
    }

    /// What was read, unless it is of a session that was left, or a first look.
    fn shown(&self) -> Option<&Stretch> {
        let subject = self.subject.as_ref()?;
        let stretch = self.stretch.as_ref();
        stretch.filter(|stretch| stretch.of == subject.key() && !stretch.is_provisional)
    }

    fn shown_mut(&mut self) -> Option<&mut Stretch> {
        let subject = self.subject.as_ref()?;
        let stretch = self.stretch.as_mut();
        stretch.filter(|stretch| stretch.of == subject.key() && !stretch.is_provisional)
    }

    fn height(&self) -> usize {
        usize::from(self.size.height).max(1)
    }

    /// Takes what was read; `false`: it was not waited for.
    pub fn take(&mut self, preview: Preview) -> bool {
        if preview.number != self.number {
            return false;
        }
        // What was asked for is still to come.
        let purpose = match preview.content.is_first_look() {
            true => None,
            false => self.purpose.take(),
        };
        let height = self.height();
        self.note = None;
        match preview.content {
            PreviewContent::Opened {
                length,
                blocks,
                position,
                line,
                is_provisional,
            } => {
                let Some(subject) = &mut self.subject else {
                    return false;
                };
                if !is_provisional {
                    subject.chosen = None;
                }
                let of = subject.key();
                let mut stretch = Stretch {
                    of,
                    length,
                    blocks: blocks.into(),
                    top: 0,
                    at: 0,
                    is_provisional,
                };
                match purpose {
                    Some(RequestPurpose::Again(bookmark)) => stretch.stand(&bookmark, height),
                    _ => stretch.go(stretch.row_of(position, line), height),
                }
                self.stretch = Some(stretch);
            }
            PreviewContent::More(blocks) => {
                if let Some(stretch) = self.shown_mut() {
                    stretch.add(blocks, height);
                }
            }
            PreviewContent::NoMatch => self.note = Some("no more matches".to_owned()),
            PreviewContent::Tree(rows) => {
                if let Some(tree) = &mut self.tree {
                    tree.take(rows, height);
                }
            }
            PreviewContent::Failed(why) => {
                // What is there says nothing about another session.
                if self.shown().is_none() {
                    self.stretch = None;
                }
                self.note = Some(why);
            }
        }
        true
    }

    /// The lines in sight.
    pub fn seen(&self) -> impl Iterator<Item = VisibleLine<'_>> {
        let stretch = self.stretch.iter();
        stretch.flat_map(|stretch| stretch.seen(self.height()))
    }

    /// Whether there is a session to be read.
    pub fn has_session(&self) -> bool {
        self.subject.is_some()
    }

    /// The entry where somebody stands.
    pub fn entry(&self) -> Option<String> {
        let stretch = self.shown()?;
        Some(stretch.block_at(stretch.at)?.0.entry.clone())
    }

    /// The entry through which the branch goes that is shown of this session.
    pub fn through(&self, key: &Key) -> Option<String> {
        let subject = self.subject.as_ref()?;
        let through = subject.through.clone();
        through.filter(|_| subject.key() == *key)
    }

    /// The entry to which somebody went in this session, in the preview or the tree.
    pub fn chosen_entry(&self, key: &Key) -> Option<String> {
        let subject = self.subject.as_ref()?;
        let subject = Some(subject).filter(|subject| subject.key() == *key)?;
        if let Some(tree) = &self.tree {
            return tree.selected_entry();
        }
        let chosen = subject.chosen.clone();
        chosen.or_else(|| self.entry().filter(|_| subject.is_moved))
    }

    /// Whether somebody has gone to another place of what is shown.
    pub fn is_moved(&self) -> bool {
        self.subject.as_ref().is_some_and(|of| of.is_moved)
    }

    /// Somebody goes to another place of what is shown.
    fn moves(&mut self) {
        if let Some(subject) = &mut self.subject {
            subject.is_moved = true;
            subject.chosen = None;
        }
    }

    /// Goes so many lines down, or up.
    pub fn scroll(&mut self, by: isize) -> Option<PreviewRequest> {
        let height = self.height();
        self.note = None;
        self.shown_mut()?.scroll(by, height);
        self.moves();
        self.more(by.signum())
    }

    /// Goes so many screens down, or up.
    pub fn page(&mut self, by: isize) -> Option<PreviewRequest> {
        // A line stays in sight.
        let lines = isize::try_from(self.height()).unwrap_or(1) - 1;
        self.scroll(by * lines.max(1))
    }

    /// Goes to the beginning of the branch.
    pub fn first(&mut self) -> Option<PreviewRequest> {
        let height = self.height();
        self.shown()?;
        self.moves();
        let stretch = self.shown_mut()?;
        if stretch.has_start() {
            stretch.go(0, height);
            return None;
        }
        Some(self.request(PreviewPart::Start, RequestPurpose::Elsewhere))
    }

    /// Goes to its end.
    pub fn last(&mut self) -> Option<PreviewRequest> {
        let height = self.height();
        self.shown()?;
        self.moves();
        let stretch = self.shown_mut()?;
        if stretch.has_end() {
            stretch.go(stretch.rows().saturating_sub(1), height);
            return None;
        }
        Some(self.request(PreviewPart::End, RequestPurpose::Elsewhere))
    }

    /// Goes to the next match, where there is one.
    pub fn go_to_match(&mut self, direction: Direction) -> Option<PreviewRequest> {
        // To ask again would begin again.
        if matches!(self.purpose, Some(RequestPurpose::Match(asked)) if asked == direction) {
            return None;
        }
        let height = self.height();
        self.note = None;
        let stretch = self.shown_mut()?;
        if let Some(row) = stretch.next_match(direction) {
            stretch.go(row, height);
            self.moves();
            return None;
        }
        let edge = match direction {
            Direction::Up => stretch.blocks.front().filter(|_| !stretch.has_start()),
            Direction::Down => stretch.blocks.back().filter(|_| !stretch.has_end()),
        };
        let Some(from) = edge.map(|block| block.position) else {
            self.note = Some("no more matches".to_owned());
            return None;
        };
        self.moves();
        let request = self.request(
            PreviewPart::Match { from, direction },
            RequestPurpose::Match(direction),
        );
        self.note = Some("looking for more matches…".to_owned());
        Some(request)
    }

    /// Shows the tree.
    pub fn open_tree(&mut self) -> Option<PreviewRequest> {
        let entries = self.subject.as_ref()?.session.entries;
        self.show_tree(tree::first_filter(entries))
    }

    /// Shows other entries of the tree.
    pub fn turn_tree(&mut self) -> Option<PreviewRequest> {
        let filter = self.tree.as_ref()?.filter;
        self.show_tree(tree::next_filter(filter))
    }

    fn show_tree(&mut self, filter: TreeFilter) -> Option<PreviewRequest> {
        self.subject.as_ref()?;
        let selected = self.tree.take().and_then(|tree| tree.selected_entry());
        let selected = selected.or_else(|| self.entry());
        self.tree = Some(TreePane::new(filter, selected));
        Some(self.request(PreviewPart::Tree(filter), RequestPurpose::Elsewhere))
    }

    /// Shows the branch of the entry that is selected in the tree.
    pub fn choose_branch(&mut self) -> Option<PreviewRequest> {
        let entry = self.tree.as_ref()?.selected_entry()?;
        self.tree = None;
        self.moves();
        let subject = self.subject.as_mut()?;
        subject.through = Some(entry.clone());
        subject.chosen = Some(entry);
        Some(self.request(PreviewPart::Through, RequestPurpose::Elsewhere))
    }

    /// Goes back from the tree to what was shown before, which may say more by now.
    pub fn close_tree(&mut self) -> Option<PreviewRequest> {
        self.tree = None;
        self.subject.is_some().then(|| self.again())
    }

    /// Asks for more where an end of what was read is near.
    fn more(&mut self, towards: isize) -> Option<PreviewRequest> {
        if self.purpose.is_some() {
            return None;
        }
        let height = self.height();
        let part = self.shown()?.lacks(towards, height)?;
        Some(self.request(PreviewPart::Entries(part), RequestPurpose::More))
    }
}

#[cfg(test)]
mod tests;
