//! Which part of a branch was read, and which of its lines are in sight?

use std::collections::VecDeque;
use std::ops::Range;

use ratatui::text::Line;

use crate::picker::message::Key;

/// Entries that are asked for at once when more are wanted.
const MORE: usize = 30;
/// Entries that are kept at most.
pub const MOST: usize = 400;

/// An entry of a branch, written out.
#[derive(Debug, Clone, Default)]
pub struct Block {
    /// Its number on the branch, from 0.
    pub position: usize,
    /// Its number in the session, which stays.
    pub place: u32,
    /// What names it.
    pub entry: String,
    pub lines: Vec<Line<'static>>,
    /// Lines in which a match begins, ascending.
    pub matches: Vec<usize>,
    /// The line with the match that is shown first.
    pub best: Option<usize>,
}

/// Where the next match is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    Up,
    Down,
}

/// Where somebody stands, in words that hold when what is around it was read again.
pub struct Bookmark {
    pub place: u32,
    /// The line of the entry.
    pub line: usize,
    /// Which of its matches stands there.
    pub found: Option<usize>,
    /// Lines in sight above it.
    pub above: usize,
}

/// A part of a branch that was read.
pub struct Stretch {
    /// Of this session.
    pub of: Key,
    /// Entries on the branch.
    pub length: usize,
    pub blocks: VecDeque<Block>,
    /// The first line in sight.
    pub top: usize,
    /// The line where somebody stands.
    pub at: usize,
    /// Whether it is a first look, in which nobody goes anywhere.
    pub is_provisional: bool,
}

/// A line of the preview that is in sight.
pub struct VisibleLine<'a> {
    pub line: &'a Line<'static>,
    /// Whether it is of the entry where somebody stands.
    pub is_of_entry: bool,
    /// Whether they stand on it.
    pub is_here: bool,
}

impl Stretch {
    /// Lines that were read.
    pub fn rows(&self) -> usize {
        self.blocks.iter().map(|block| block.lines.len()).sum()
    }

    pub fn has_start(&self) -> bool {
        self.blocks.front().is_none_or(|block| block.position == 0)
    }

    pub fn has_end(&self) -> bool {
        let last = self.blocks.back();
        last.is_none_or(|block| block.position + 1 == self.length)
    }

    pub fn is_at_end(&self) -> bool {
        self.has_end() && self.at + 1 >= self.rows()
    }

    /// Each entry with its first line.
    pub fn begins(&self) -> Vec<(usize, &Block)> {
        let mut begins = Vec::with_capacity(self.blocks.len());
        let mut at = 0;
        for block in &self.blocks {
            begins.push((at, block));
            at += block.lines.len();
        }
        begins
    }

    /// The entry to which a line belongs, and the line of it.
    pub fn block_at(&self, row: usize) -> Option<(&Block, usize)> {
        let begins = self.begins().into_iter();
        let (begin, block) = begins.rev().find(|(begin, _)| *begin <= row)?;
        Some((block, row - begin))
    }

    pub fn row_of(&self, position: usize, line: usize) -> usize {
        let mut begins = self.begins().into_iter();
        let found = begins.find(|(_, block)| block.position == position);
        found.map_or(0, |(begin, block)| {
            begin + line.min(block.lines.len().saturating_sub(1))
        })
    }

    pub fn seen(&self, height: usize) -> impl Iterator<Item = VisibleLine<'_>> {
        let here = self.block_at(self.at).map(|(block, _)| block.position);
        let lines = self.blocks.iter().flat_map(move |block| {
            let is_of_entry = here == Some(block.position);
            block.lines.iter().map(move |line| (line, is_of_entry))
        });
        let lines = lines.enumerate().skip(self.top).take(height);
        lines.map(|(row, (line, is_of_entry))| VisibleLine {
            line,
            is_of_entry,
            is_here: row == self.at,
        })
    }

    /// The first line in sight at most.
    pub fn last_top(&self, height: usize) -> usize {
        self.rows().saturating_sub(height)
    }

    /// Stands on a line, which is seen at a third of the height.
    pub fn go(&mut self, row: usize, height: usize) {
        self.at = row.min(self.rows().saturating_sub(1));
        self.top = self
            .at
            .saturating_sub(height / 3)
            .min(self.last_top(height));
    }

    pub fn keep_in_sight(&mut self, height: usize) {
        let rows = self.rows();
        self.at = self.at.min(rows.saturating_sub(1));
        self.top = top_that_shows(self.at, self.top, rows, height);
    }

    /// Moves the text; where it cannot be moved any further, only where somebody stands.
    pub fn scroll(&mut self, by: isize, height: usize) {
        let top = self
            .top
            .saturating_add_signed(by)
            .min(self.last_top(height));
        let moved = top.cast_signed() - self.top.cast_signed();
        let by = if moved == 0 { by } else { moved };
        self.top = top;
        self.at = self.at.saturating_add_signed(by);
        self.keep_in_sight(height);
    }

    pub fn next_match(&self, direction: Direction) -> Option<usize> {
        let begins = self.begins().into_iter();
        let mut rows = begins.flat_map(|(begin, block)| {
            let matches = block.matches.iter();
            matches.map(move |line| begin + line)
        });
        match direction {
            Direction::Down => rows.find(|row| *row > self.at),
            Direction::Up => rows.take_while(|row| *row < self.at).last(),
        }
    }

    pub fn bookmark(&self) -> Option<Bookmark> {
        let (block, line) = self.block_at(self.at)?;
        Some(Bookmark {
            place: block.place,
            line,
            found: block.matches.iter().position(|found| *found == line),
            above: self.at.saturating_sub(self.top),
        })
    }

    /// Stands where somebody stood before.
    pub fn stand(&mut self, bookmark: &Bookmark, height: usize) {
        let mut blocks = self.blocks.iter();
        let Some(block) = blocks.find(|block| block.place == bookmark.place) else {
            return self.go(self.rows().saturating_sub(1), height);
        };
        let found = bookmark.found.and_then(|at| block.matches.get(at));
        let line = found.copied().unwrap_or(bookmark.line);
        self.at = self.row_of(block.position, line);
        self.top = self
            .at
            .saturating_sub(bookmark.above)
            .min(self.last_top(height));
        self.keep_in_sight(height);
    }

    /// Entries that are to be read before somebody who goes on comes to the end of what was read.
    pub fn lacks(&self, towards: isize, height: usize) -> Option<Range<usize>> {
        let (first, last) = (self.blocks.front()?, self.blocks.back()?);
        if towards < 0 && self.top < height && !self.has_start() {
            return Some(first.position.saturating_sub(MORE)..first.position);
        }
        let is_near = self.top + 2 * height > self.rows();
        (towards > 0 && is_near && !self.has_end()).then(|| {
            let next = last.position + 1;
            next..(next + MORE).min(self.length)
        })
    }

    /// Adds entries before or behind those that were read. What lies far off on the other side is
    /// forgotten.
    pub fn add(&mut self, blocks: Vec<Block>, height: usize) {
        let (Some(first), Some(last)) = (self.blocks.front(), self.blocks.back()) else {
            return;
        };
        let (first, last) = (first.position, last.position);
        for block in blocks.iter().rev().filter(|block| block.position < first) {
            self.top += block.lines.len();
            self.at += block.lines.len();
            self.blocks.push_front(block.clone());
        }
        let behind = blocks.into_iter().filter(|block| block.position > last);
        self.blocks.extend(behind);
        let goes_down = self
            .blocks
            .back()
            .is_some_and(|block| block.position > last);
        while self.blocks.len() > MOST {
            if !goes_down {
                self.blocks.pop_back();
            } else if let Some(block) = self.blocks.pop_front() {
                self.top = self.top.saturating_sub(block.lines.len());
                self.at = self.at.saturating_sub(block.lines.len());
            }
        }
        self.keep_in_sight(height);
    }
}

/// The first of so many lines in sight, as near to `top` as can be, so that a line is among them.
pub fn top_that_shows(line: usize, top: usize, lines: usize, height: usize) -> usize {
    let first = (line + 1).saturating_sub(height);
    top.clamp(first, line).min(lines.saturating_sub(height))
}
