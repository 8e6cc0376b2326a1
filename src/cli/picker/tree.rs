//! Which entry of the tree of a session is selected?

use sessionary::index::TreeFilter;

use super::pane::top_that_shows;
use crate::output::style::Tone;

/// Of a session with more entries, what people typed is shown first: to show the others, all of
/// them are read.
const LONG: u64 = 5000;

/// The order in which kinds of entries are asked for.
const FILTERS: [(TreeFilter, &str); 5] = [
    (TreeFilter::Default, "conversation"),
    (TreeFilter::NoTools, "without tools"),
    (TreeFilter::UserOnly, "what was typed"),
    (TreeFilter::LabeledOnly, "labelled"),
    (TreeFilter::All, "every entry"),
];

/// Which entries are shown at first, of a session with so many.
pub fn first_filter(entries: u64) -> TreeFilter {
    match entries > LONG {
        true => TreeFilter::UserOnly,
        false => TreeFilter::Default,
    }
}

/// Which entries are shown next.
pub fn next_filter(filter: TreeFilter) -> TreeFilter {
    let at = FILTERS.iter().position(|(other, _)| *other == filter);
    FILTERS[at.map_or(0, |at| (at + 1) % FILTERS.len())].0
}

/// An entry of the tree, ready to be drawn.
#[derive(Debug, Clone, Default)]
pub struct TreeLine {
    /// What names it.
    pub entry: String,
    pub is_leaf: bool,
    pub parts: Vec<(Tone, String)>,
}

/// The tree, instead of the preview.
#[derive(Debug, Default)]
pub struct TreePane {
    /// Which entries it shows.
    pub filter: TreeFilter,
    pub rows: Vec<TreeLine>,
    pub selected: usize,
    /// The first row in sight.
    pub top: usize,
    /// Whether the rows are those that were asked for last.
    pub is_read: bool,
    /// The entry that is to be selected as soon as the rows are there.
    wanted: Option<String>,
}

impl TreePane {
    /// The tree with these entries, to be read.
    pub fn new(filter: TreeFilter, wanted: Option<String>) -> Self {
        Self {
            filter,
            wanted,
            ..Self::default()
        }
    }

    /// Takes what was read, for so many lines.
    pub fn take(&mut self, rows: Vec<TreeLine>, height: usize) {
        let wanted = self.selected_entry().or_else(|| self.wanted.take());
        let named = |row: &TreeLine| wanted.as_ref() == Some(&row.entry);
        let place = rows.iter().position(named);
        let place = place.or_else(|| rows.iter().position(|row| row.is_leaf));
        self.selected = place.unwrap_or(rows.len().saturating_sub(1));
        self.rows = rows;
        self.is_read = true;
        // What is around it is seen, too.
        self.top = self.selected.saturating_sub(height / 2);
        self.go(0, height);
    }

    /// Selects the row so many rows below.
    pub fn go(&mut self, by: isize, height: usize) {
        let last = self.rows.len().saturating_sub(1);
        self.selected = self.selected.saturating_add_signed(by).min(last);
        self.top = top_that_shows(self.selected, self.top, self.rows.len(), rows_in(height));
    }

    /// Selects what stands on a line of the screen; the title stands on the first.
    pub fn select_line(&mut self, line: usize) {
        let row = line.checked_sub(1).map(|line| self.top + line);
        if let Some(row) = row.filter(|row| *row < self.rows.len()) {
            self.selected = row;
        }
    }

    /// The entry that is selected.
    pub fn selected_entry(&self) -> Option<String> {
        Some(self.rows.get(self.selected)?.entry.clone())
    }

    /// What stands above its rows.
    pub fn title(&self) -> String {
        let named = FILTERS.iter().find(|(filter, _)| *filter == self.filter);
        let name = named.map_or("", |(_, name)| name);
        match (self.is_read, self.rows.is_empty()) {
            (false, _) => format!("tree · {name} · reading…"),
            (true, true) => format!("tree · {name} · none; f shows others"),
            (true, false) => format!("tree · {name}"),
        }
    }
}

/// Rows for which there is room below the title.
pub fn rows_in(height: usize) -> usize {
    height.saturating_sub(1).max(1)
}
