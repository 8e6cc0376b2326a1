//! How do rows line up? Columns by display width, cut only where a terminal's width asks for it.

use std::borrow::Cow;

use super::style::{Style, Tone};
use super::text::{columns, fit, fit_end};

/// The narrowest a column is cut to.
const NARROWEST: usize = 8;
/// Where nothing is cut, a column is padded to so many columns at most: one long text would push
/// all others far to the right.
const PADDED: usize = 48;
/// Columns between two columns.
const GAP: usize = 2;

/// One column of a table.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    title: &'static str,
    right: bool,
    shrinks: Shrinks,
    /// Whether it is left out where nothing stands in it.
    where_any: bool,
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
    fn new(title: &'static str, right: bool, shrinks: Shrinks) -> Self {
        Self {
            title,
            right,
            shrinks,
            where_any: false,
        }
    }
    /// Text that is never cut.
    pub fn text(title: &'static str) -> Self {
        Self::new(title, false, Shrinks::Never)
    }
    /// Numbers, to the right.
    pub fn number(title: &'static str) -> Self {
        Self::new(title, true, Shrinks::Never)
    }
    /// Text that is cut when the table is wider than the terminal.
    pub fn long(title: &'static str) -> Self {
        Self::new(title, false, Shrinks::End)
    }
    /// As [`Column::long`], but the end stays: what tells paths apart.
    pub fn path(title: &'static str) -> Self {
        Self::new(title, false, Shrinks::Start)
    }
    /// Leaves the column out where no row has something in it.
    pub fn where_any(self) -> Self {
        Self {
            where_any: true,
            ..self
        }
    }
}

/// One field: its text, safe to print, and its tone.
pub type Cell = (Tone, String);

/// Rows to be printed.
pub struct Table {
    columns: Columns,
    rows: Vec<Vec<Cell>>,
}

impl Table {
    /// A table with the given columns.
    pub fn new(columns: &[Column]) -> Self {
        Self {
            columns: Columns::new(columns),
            rows: Vec::new(),
        }
    }

    /// A table whose columns are known only now; all of them may be cut.
    pub fn named(titles: impl Iterator<Item = String>) -> Self {
        let columns = titles.map(|title| CellWidth::new(title, false, Shrinks::End, false));
        Self {
            columns: Columns(columns.collect()),
            rows: Vec::new(),
        }
    }

    /// Moves a column to the right.
    pub fn align_right(&mut self, column: usize) {
        if let Some(column) = self.columns.0.get_mut(column) {
            column.right = true;
        }
    }

    /// Adds a row.
    pub fn row(&mut self, cells: Vec<Cell>) {
        self.columns.hold(&cells);
        self.rows.push(cells);
    }

    /// The printed table, header first.
    pub fn render(self, style: Style, width: Option<usize>) -> String {
        let lines = self.columns.side_by_side(style, width);
        let mut out = lines.header();
        for row in &self.rows {
            lines.line(&mut out, row);
        }
        out
    }
}

/// The columns of a table, each as wide as the rows need that it was shown.
pub struct Columns(Vec<CellWidth>);

struct CellWidth {
    title: String,
    right: bool,
    shrinks: Shrinks,
    /// Whether it is left out: nothing has stood in it so far but what is usual there.
    is_out: bool,
    usual: String,
    width: usize,
}

impl CellWidth {
    fn new(title: String, right: bool, shrinks: Shrinks, is_out: bool) -> Self {
        Self {
            width: columns(&title),
            title,
            right,
            shrinks,
            is_out,
            usual: String::new(),
        }
    }
}

impl Columns {
    /// Columns as wide as their titles.
    pub fn new(columns: &[Column]) -> Self {
        let measured =
            |c: &Column| CellWidth::new(c.title.to_owned(), c.right, c.shrinks, c.where_any);
        Self(columns.iter().map(measured).collect())
    }

    /// Leaves a column out where this stands in every row.
    pub fn leave_out_usual(&mut self, column: usize, usual: String) {
        if let Some(column) = self.0.get_mut(column) {
            column.is_out = true;
            column.usual = usual;
        }
    }

    /// Makes room for a row.
    pub fn hold(&mut self, row: &[Cell]) {
        for (column, (_, text)) in self.0.iter_mut().zip(row) {
            column.width = column.width.max(columns(text));
            column.is_out &= *text == column.usual;
        }
    }

    /// How lines look in which these columns stand side by side, `width` columns wide at most, or
    /// else as long as they are.
    pub fn side_by_side(mut self, style: Style, width: Option<usize>) -> Lines {
        match width {
            Some(width) => self.shrink(width),
            None => {
                for column in &mut self.0 {
                    column.width = column.width.min(PADDED);
                }
            }
        }
        Lines {
            columns: self.0,
            cuts: width.is_some(),
            style,
        }
    }

    /// Cuts the widest columns that may be cut until the table fits, or nothing is left to cut.
    fn shrink(&mut self, fits: usize) {
        let mut shown: Vec<&mut CellWidth> = self.0.iter_mut().filter(|c| !c.is_out).collect();
        let gaps = GAP * shown.len().saturating_sub(1);
        let all = shown.iter().map(|column| column.width).sum::<usize>();
        let mut over = (all + gaps).saturating_sub(fits);
        shown.retain(|column| column.shrinks != Shrinks::Never);
        while over > 0 {
            shown.retain(|column| column.width > NARROWEST);
            shown.sort_by_key(|column| std::cmp::Reverse(column.width));
            let next = shown.get(1).map_or(NARROWEST, |column| column.width);
            let Some(widest) = shown.first_mut() else {
                return;
            };
            // Down to the next widest at once; one by one when they are equal.
            let cut = (widest.width - next).clamp(1, over);
            widest.width -= cut;
            over -= cut;
        }
    }
}

/// How the lines of a table look.
pub struct Lines {
    columns: Vec<CellWidth>,
    cuts: bool,
    style: Style,
}

impl Lines {
    /// The line above all rows.
    pub fn header(&self) -> String {
        let titles = self.columns.iter().map(|column| column.title.clone());
        let header: Vec<Cell> = titles.map(|title| (Tone::Quiet, title)).collect();
        let mut out = String::new();
        self.line(&mut out, &header);
        out
    }

    /// A row's line. What is too long for its column is cut, or else makes the line longer.
    pub fn line(&self, out: &mut String, row: &[Cell]) {
        // Blanks are written only before something, so that no line ends in white space.
        let mut blanks = 0;
        for ((tone, text), column) in row.iter().zip(&self.columns) {
            if column.is_out {
                continue;
            }
            let text = match column.shrinks {
                _ if !self.cuts => Cow::Borrowed(text.as_str()),
                Shrinks::Start => fit_end(text, column.width).into(),
                Shrinks::Never | Shrinks::End => fit(text, column.width).into(),
            };
            let rest = column.width.saturating_sub(columns(&text));
            if column.right {
                blanks += rest;
            }
            if !text.is_empty() {
                out.push_str(&" ".repeat(blanks));
                out.push_str(&self.style.paint(*tone, &text));
                blanks = 0;
            }
            blanks += if column.right { GAP } else { rest + GAP };
        }
        out.push('\n');
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
        for width in 30..120 {
            let mut table = Table::new(&[Column::text("ID"), Column::long("A"), Column::long("B")]);
            table.row(plain(&["12345678", &"日本語".repeat(20), &"b".repeat(30)]));
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
    fn a_column_in_which_nothing_stands_is_left_out() {
        let columns = [
            Column::text("ID"),
            Column::number("N").where_any(),
            Column::long("TITLE"),
        ];
        let printed = |rows: [&[&str]; 2], width| {
            let mut table = Table::new(&columns);
            rows.iter().for_each(|row| table.row(plain(row)));
            table.render(Style::new(false), width)
        };
        let none = [&["a", "", "one"][..], &["b", "", "two"]];
        assert_eq!(printed(none, None), "ID  TITLE\na   one\nb   two\n");
        let some = [&["a", "", "one"][..], &["b", "7", "two"]];
        let lines = "ID  N  TITLE\na      one\nb   7  two\n";
        assert_eq!(printed(some, None), lines);
        // It takes no room in a narrow terminal either.
        let long = [&["a", "", "abcdefghij"][..], &["b", "", ""]];
        assert_eq!(printed(long, Some(14)), "ID  TITLE\na   abcdefghij\nb\n");
    }

    #[test]
    fn what_came_after_the_columns_were_measured() {
        let mut columns = Columns::new(&[Column::text("ID"), Column::number("N").where_any()]);
        columns.hold(&plain(&["abc", ""]));
        let line = |columns: Columns, width| {
            let mut line = String::new();
            let lines = columns.side_by_side(Style::new(false), width);
            lines.line(&mut line, &plain(&["abcdef", "7"]));
            line
        };
        assert_eq!(line(columns, None), "abcdef\n");
        let mut columns = Columns::new(&[Column::text("ID"), Column::number("N")]);
        columns.hold(&plain(&["abc", ""]));
        assert_eq!(line(columns, Some(20)), "ab…  7\n");
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
