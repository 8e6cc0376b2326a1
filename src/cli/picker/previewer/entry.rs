//! How does an entry become lines of the preview?

use std::ops::Range;

use ratatui::style::Style;
use ratatui::text::{Line, Span};
use sessionary::index::Highlighter;
use sessionary::model::{BranchPlace, Class, Hit, ShownEntry, Zone};

use super::fold::{self, Part, Room};
use super::rows::StyledText;
use super::{found, markdown};
use crate::output::text::{columns, fit, plain_lines};
use crate::output::time::{bytes, count};
use crate::output::transcript::{self, EntryHead};
use crate::output::wrap::{self, Wrap};
use crate::picker::palette::Palette;
use crate::picker::pane::Block;

/// How much of what a tool took or gave is shown unasked.
const OUTPUT: Room = Room {
    lines: 6,
    bytes: 400,
};
/// How much of what is said.
const PROSE: Room = Room {
    lines: 400,
    bytes: 8000,
};
/// Matches of a text for which more of it is shown.
const MOST_MATCHES: usize = 500;
/// Text that is longer is no text that somebody has laid out.
const LAID_OUT: usize = 1 << 20;
/// What stands before a line of what a tool took or gave.
const MARGIN: &str = "│ ";

/// How entries look.
pub struct Look {
    pub palette: Palette,
    pub zone: Zone,
    /// Columns.
    pub width: usize,
    pub highlighter: Option<Highlighter>,
    /// What was found in the session, the best first.
    pub hits: Vec<Hit>,
}

impl Look {
    fn marks(&self, class: Class, text: &str) -> Vec<Range<usize>> {
        let marks = self.highlighter.as_ref();
        marks.map_or_else(Vec::new, |found| found.marks(class, text))
    }

    fn hit(&self, entry: &ShownEntry) -> Option<&Hit> {
        self.hits.iter().find(|hit| hit.entry == entry.id)
    }
}

/// Whether anything in an entry stands out.
pub fn has_match(entry: &ShownEntry, look: &Look) -> bool {
    let mut passages = entry.text.iter();
    !transcript::is_setting(entry)
        && passages.any(|(class, pieces)| {
            let mut pieces = pieces.iter();
            pieces.any(|piece| !look.marks(*class, &plain_lines(piece)).is_empty())
        })
}

/// An entry, written out; no line where it says nothing.
pub fn block(position: usize, entry: &ShownEntry, look: &Look) -> Block {
    let mut writer = Writer {
        look,
        hit: look.hit(entry),
        lines: Vec::new(),
        matches: Vec::new(),
        best: None,
        first_of_class: None,
    };
    let is_left_out = transcript::says_nothing(entry) && writer.hit.is_none();
    if !is_left_out {
        match transcript::is_setting(entry) {
            true => writer.setting(entry),
            false => writer.entry(entry),
        }
        writer.lines.push(Line::default());
    }
    let first = writer.matches.first().copied();
    Block {
        position,
        place: entry.ordinal.unwrap_or_default(),
        entry: entry.id.clone(),
        best: writer.best.or(writer.first_of_class).or(first),
        lines: writer.lines,
        matches: writer.matches,
    }
}

struct Writer<'a> {
    look: &'a Look,
    /// What was found in the entry.
    hit: Option<&'a Hit>,
    lines: Vec<Line<'static>>,
    matches: Vec<usize>,
    /// The line with the match that the snippet of the hit shows.
    best: Option<usize>,
    /// The first line with a match in a passage of the hit's class.
    first_of_class: Option<usize>,
}

impl Writer<'_> {
    fn setting(&mut self, entry: &ShownEntry) {
        let text = format!("── {}", transcript::setting(entry));
        let quiet = self.look.palette.quiet();
        for (_, piece) in wrap::pieces(&text, self.look.width) {
            self.lines.push(Line::styled(text[piece].to_owned(), quiet));
        }
    }

    fn entry(&mut self, entry: &ShownEntry) {
        let head = transcript::head(entry, &self.look.zone);
        self.head(entry, &head);
        let is_markdown = transcript::is_markdown(entry);
        for (class, pieces) in &entry.text {
            let is_named = |at: usize, piece: &String| {
                at == 0 && pieces.len() > 1 && transcript::is_name(piece)
            };
            for (at, piece) in pieces.iter().enumerate() {
                let text = plain_lines(piece);
                let text = text.trim_end_matches('\n');
                match class {
                    Class::Prose => self.prose(text, is_markdown),
                    // It stands in the head.
                    _ if is_named(at, piece) && head.tool.is_some() => {}
                    _ if is_named(at, piece) => self.output(*class, text, self.look.palette.name()),
                    _ => self.output(*class, text, self.look.palette.quiet()),
                }
            }
        }
    }

    /// The line above an entry.
    fn head(&mut self, entry: &ShownEntry, head: &EntryHead) {
        let palette = self.look.palette;
        let mut text = "── ".to_owned();
        let mut styles = vec![(0..text.len(), palette.quiet())];
        let mut marks = Vec::new();
        let who = match (head.is_bad, entry.role.as_deref()) {
            (true, _) => palette.bad(),
            (false, Some("user")) => palette.person(),
            (false, _) => palette.strong(),
        };
        let mut add = |part: &str, style: Style| {
            let from = text.len();
            text.push_str(part);
            styles.push((from..text.len(), style));
            from
        };
        add(&head.who, who);
        if let Some(tool) = &head.tool {
            add(" · ", palette.quiet());
            let from = add(tool, palette.name());
            let found = self.look.marks(Class::Output, tool).into_iter();
            marks.extend(found.map(|mark| from + mark.start..from + mark.end));
        }
        for part in &head.after {
            let style = match part.as_str() {
                "error" => palette.bad(),
                label if label.starts_with('[') => palette.warning(),
                _ => palette.quiet(),
            };
            add(" · ", palette.quiet());
            add(part, style);
        }
        let place = self.hit.and_then(|hit| hit.place).and_then(place);
        if let Some(place) = place {
            add(" · ", palette.quiet());
            add(place, palette.warning());
        }
        let styled = self.styled(&text, Style::new(), &styles, &marks);
        for (indent, piece) in wrap::pieces(&text, self.look.width) {
            self.row(&styled, piece, "", indent);
        }
    }

    /// What is said.
    fn prose(&mut self, text: &str, is_markdown: bool) {
        let marks = self.look.marks(Class::Prose, text);
        let styles = match is_markdown && text.len() <= LAID_OUT {
            true => markdown::styles(text, self.look.palette),
            false => Vec::new(),
        };
        let best = self.best_in(Class::Prose, text, &marks);
        let styled = self.styled(text, Style::new(), &styles, &marks);
        let mut wrap = Wrap::new(Some(self.look.width));
        for part in fold::parts(text, &to_show(&marks, best), PROSE) {
            let Some(line) = self.shown(text, part, "") else {
                continue;
            };
            for (indent, piece) in wrap.fitting(&text[line.clone()]) {
                let piece = line.start + piece.start..line.start + piece.end;
                self.note_best(Class::Prose, best, &styled, &piece);
                self.row(&styled, piece, "", indent);
            }
        }
    }

    /// What a tool took or gave.
    fn output(&mut self, class: Class, text: &str, base: Style) {
        let marks = self.look.marks(class, text);
        let best = self.best_in(class, text, &marks);
        let styled = self.styled(text, base, &[], &marks);
        let width = self.look.width.saturating_sub(columns(MARGIN)).max(1);
        for part in fold::parts(text, &to_show(&marks, best), OUTPUT) {
            let Some(line) = self.shown(text, part, MARGIN) else {
                continue;
            };
            for (indent, piece) in wrap::pieces(&text[line.clone()], width) {
                let piece = line.start + piece.start..line.start + piece.end;
                self.note_best(class, best, &styled, &piece);
                self.row(&styled, piece, MARGIN, indent);
            }
        }
    }

    fn styled<'t>(
        &self,
        text: &'t str,
        base: Style,
        styles: &'t [(Range<usize>, Style)],
        marks: &'t [Range<usize>],
    ) -> StyledText<'t> {
        StyledText {
            text,
            base,
            styles,
            marks,
            matched: self.look.palette.matched(),
        }
    }

    /// What of a part is shown; where none of it is, that is said.
    fn shown(&mut self, text: &str, part: Part, margin: &str) -> Option<Range<usize>> {
        let left_out = match part {
            Part::Shown(range) => return Some(range),
            Part::Lines(range) => {
                let lines = text[range].split('\n').count();
                format!("… {} more", count(lines as u64, "line"))
            }
            Part::Bytes(range) => format!("… {} more", bytes(range.len() as u64)),
        };
        let line = fit(&format!("{margin}{left_out}"), self.look.width);
        let quiet = self.look.palette.quiet();
        self.lines.push(Line::styled(line, quiet));
        None
    }

    /// Where in a text the match is that the hit's snippet shows.
    fn best_in(&self, class: Class, text: &str, marks: &[Range<usize>]) -> Option<usize> {
        let hit = self.hit.filter(|hit| hit.class == class);
        found::shown_first(hit?, text, marks)
    }

    /// Notes when what comes next holds the match for which the entry was found.
    fn note_best(
        &mut self,
        class: Class,
        best: Option<usize>,
        styled: &StyledText<'_>,
        part: &Range<usize>,
    ) {
        let row = self.lines.len();
        if best.is_some_and(|best| part.contains(&best)) {
            self.best.get_or_insert(row);
        }
        let is_of_class = self.hit.is_some_and(|hit| hit.class == class);
        if is_of_class && styled.has_match(part) {
            self.first_of_class.get_or_insert(row);
        }
    }

    /// One line.
    fn row(&mut self, styled: &StyledText<'_>, part: Range<usize>, margin: &str, indent: usize) {
        let mut spans = Vec::new();
        if !margin.is_empty() {
            let quiet = self.look.palette.quiet();
            spans.push(Span::styled(margin.to_owned(), quiet));
        }
        if indent > 0 {
            spans.push(Span::raw(" ".repeat(indent)));
        }
        if styled.has_match(&part) {
            self.matches.push(self.lines.len());
        }
        spans.extend(styled.spans(part));
        self.lines.push(Line::from(spans));
    }
}

/// Matches that are not folded away: the first ones, and the one that is looked for.
fn to_show(marks: &[Range<usize>], best: Option<usize>) -> Vec<Range<usize>> {
    let mut others = marks.iter().skip(MOST_MATCHES);
    let best = others.find(|mark| Some(mark.start) == best);
    let first = marks.iter().take(MOST_MATCHES);
    first.chain(best).cloned().collect()
}

/// Where the entry stands, if that is worth a word.
fn place(place: BranchPlace) -> Option<&'static str> {
    match place {
        BranchPlace::Active => None,
        BranchPlace::Compacted => Some("before compaction"),
        BranchPlace::Abandoned => Some("abandoned"),
    }
}

#[cfg(test)]
mod tests;
