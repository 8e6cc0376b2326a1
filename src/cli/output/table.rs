//! How do rows line up? Columns by display width, cut only where a terminal's width asks for it.

use super::style::{Style, Tone};
use super::text::{columns, fit, fit_end};

/// The narrowest a column is cut to.
const NARROWEST: usize = 8;
/// Where nothing is cut, a column is padded to so many columns at most: one long text would push all others far to the right.
const PADDED: usize = 48;
/// Columns between two columns.
const GAP: usize = 2;

/// One column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    title: &'static str,
    right: bool,
    shrinks: Shrinks,
}

/// Which end of a text gives way when the terminal is too narrow.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Shrinks {
    Never,
    /// Its end: titles.
    End,
    /// Its beginning: paths.
    Start,
}

impl Column {
    /// Text that is never cut.
    pub fn text(title: &'static str) -> Self {
        Self {
            title,
            right: false,
            shrinks: Shrinks::Never,
        }
    }
    /// Numbers, to the right.
    pub fn number(title: &'static str) -> Self {
        Self {
            title,
            right: true,
            shrinks: Shrinks::Never,
        }
    }
    /// Text that is cut when the table is wider than the terminal.
    pub fn long(title: &'static str) -> Self {
        Self {
            title,
            right: false,
            shrinks: Shrinks::End,
        }
    }
    /// As [`Column::long`], but the end stays: what tells paths apart.
    pub fn path(title: &'static str) -> Self {
        Self {
            title,
            right: false,
            shrinks: Shrinks::Start,
        }
    }
}

/// One field: its text, safe to print, and its tone.
pub type Cell = (Tone, String);

/// Rows to be printed.
pub struct Table {
    columns: Vec<(String, bool, Shrinks)>,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with the given columns.
    pub fn new(columns: &[Column]) -> Self {
        Self {
            columns: columns
                .iter()
                .map(|c| (c.title.to_owned(), c.right, c.shrinks))
                .collect(),
            rows: Vec::new(),
        }
    }

    /// A table whose columns are known only now; all of them may be cut.
    pub fn named(titles: impl Iterator<Item = String>) -> Self {
        Self {
            columns: titles.map(|title| (title, false, Shrinks::End)).collect(),
            rows: Vec::new(),
        }
    }

    /// Moves a column to the right.
    pub fn align_right(&mut self, column: usize) {
        if let Some(column) = self.columns.get_mut(column) {
            column.1 = true;
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    /// The printed table, header first.
    pub fn render(&self, style: Style, width: Option<usize>) -> String {
        let mut widths: Vec<usize> = self
            .columns
            .iter()
            .map(|column| columns(&column.0))
            .collect();
        for row in &self.rows {
            for (width, (_, text)) in widths.iter_mut().zip(row) {
                *width = (*width).max(columns(text));
            }
        }
        let cuts = match width {
            Some(width) => {
                self.shrink(&mut widths, width);
                true
            }
            None => {
                widths
                    .iter_mut()
                    .for_each(|width| *width = (*width).min(PADDED));
                false
            }
        };
        let mut out = String::new();
        let header: Vec<Cell> = self
            .columns
            .iter()
            .map(|column| (Tone::Quiet, column.0.clone()))
            .collect();
        for row in std::iter::once(&header).chain(&self.rows) {
            self.line(&mut out, row, &widths, cuts, style);
        }
        out
    }

    fn line(&self, out: &mut String, row: &[Cell], widths: &[usize], cuts: bool, style: Style) {
        // Blanks are written only before something, so that no line ends in white space.
        let mut blanks = 0;
        for (((tone, text), width), (_, right, shrinks)) in
            row.iter().zip(widths).zip(&self.columns)
        {
            let text = match shrinks {
                _ if !cuts => text.clone(),
                Shrinks::Start => fit_end(text, *width),
                Shrinks::Never | Shrinks::End => fit(text, *width),
            };
            let rest = width.saturating_sub(columns(&text));
            if *right {
                blanks += rest;
            }
            if !text.is_empty() {
                out.push_str(&" ".repeat(blanks));
                out.push_str(&style.paint(*tone, &text));
                blanks = 0;
            }
            blanks += if *right { GAP } else { rest + GAP };
        }
        out.push('\n');
    }

    /// Cuts the widest columns that may be cut until the table fits, or nothing is left to cut.
    fn shrink(&self, widths: &mut [usize], fits: usize) {
        let gaps = GAP * widths.len().saturating_sub(1);
        let mut over = (widths.iter().sum::<usize>() + gaps).saturating_sub(fits);
        while over > 0 {
            let mut can: Vec<usize> = (0..widths.len())
                .filter(|&i| self.columns[i].2 != Shrinks::Never && widths[i] > NARROWEST)
                .collect();
            can.sort_by_key(|&i| std::cmp::Reverse(widths[i]));
            let Some(&widest) = can.first() else { return };
            let next = can.get(1).map_or(NARROWEST, |&i| widths[i]);
            // Down to the next widest at once; one by one when they are equal.
            let cut = (widths[widest] - next).clamp(1, over);
            widths[widest] -= cut;
            over -= cut;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(texts: &[&str]) -> Vec<Cell> {
        texts
            .iter()
            .map(|text| (Tone::Plain, (*text).to_owned()))
            .collect()
    }

    #[test]
    fn columns_line_up_by_display_width() {
        let mut table = Table::new(&[
            Column::text("ID"),
            Column::number("N"),
            Column::long("TITLE"),
        ]);
        table.row(plain(&["日本", "7", "x"]));
        table.row(plain(&["abcdef", "1234", ""]));
        assert_eq!(
            table.render(Style::new(false), None),
            "ID         N  TITLE\n日本       7  x\nabcdef  1234\n"
        );
    }

    #[test]
    fn long_columns_give_way() {
        let mut table = Table::new(&[Column::text("ID"), Column::long("A"), Column::long("B")]);
        table.row(plain(&["12345678", &"日本語".repeat(20), &"b".repeat(30)]));
        for width in 30..120 {
            let text = table.render(Style::new(false), Some(width));
            assert!(
                text.lines().all(|line| columns(line) <= width),
                "{width}: {text}"
            );
            assert!(text.contains("12345678"));
        }
    }

    #[test]
    fn where_nothing_is_cut_a_long_text_pushes_its_own_row_only() {
        let mut table = Table::new(&[Column::path("A"), Column::number("N"), Column::long("B")]);
        let long = "x".repeat(200);
        table.row(plain(&[&long, "7", "end"]));
        table.row(plain(&["short", "8", "end"]));
        let text = table.render(Style::new(false), None);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines[1], format!("{long}  7  end"));
        assert_eq!(lines[2], format!("{:PADDED$}  8  end", "short"));
    }

    #[test]
    fn tones_do_not_count_as_width() {
        let mut table = Table::new(&[Column::text("ID"), Column::long("A")]);
        table.row(vec![
            (Tone::Name, "x".to_owned()),
            (Tone::Match, "abc".to_owned()),
        ]);
        let text = table.render(Style::new(true), Some(20));
        assert!(
            text.contains("\u{1b}[36mx\u{1b}[0m   \u{1b}[1;33mabc"),
            "{text:?}"
        );
    }
}
