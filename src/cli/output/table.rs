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
/// A path is cut to so many columns before a title gets fewer than [`TITLE`].
const PATH: usize = 14;
const TITLE: usize = 32;
/// Of fewer columns bars tell nothing.
const SHORTEST_BAR: usize = 5;

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
    /// All of it, before any other column gives way: bars, which become shorter together.
    First,
}

impl Shrinks {
    /// Down to how many columns it is cut while there is anything else to cut.
    fn at_first(self) -> usize {
        match self {
            Self::Start => PATH,
            _ => TITLE,
        }
    }
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
    /// Bars, which adorn numbers: they give way before any text does.
    pub fn bar() -> Self {
        Self::new("", false, Shrinks::First)
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
    /// How wide what stands in it is.
    full: usize,
}

impl CellWidth {
    fn new(title: String, right: bool, shrinks: Shrinks, is_out: bool) -> Self {
        Self {
            width: columns(&title),
            full: 0,
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
            column.full = column.full.max(columns(text));
            column.width = column.width.max(column.full);
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

    /// Cuts what may be cut until the table fits, or nothing is left to cut: bars first, then the
    /// widest columns, of which paths give way before titles.
    fn shrink(&mut self, fits: usize) {
        let shown = || self.0.iter().filter(|column| !column.is_out);
        let gaps = GAP * shown().count().saturating_sub(1);
        let all = shown().map(|column| column.width).sum::<usize>();
        let mut over = (all + gaps).saturating_sub(fits);
        let is_bar = |column: &&mut CellWidth| column.shrinks == Shrinks::First && !column.is_out;
        for bar in self.0.iter_mut().filter(is_bar) {
            let left = bar.width.saturating_sub(over);
            // Where all are short they may stay so.
            bar.is_out = left < SHORTEST_BAR.min(bar.width);
            let cut = if bar.is_out {
                bar.width + GAP
            } else {
                bar.width - left
            };
            bar.width = left;
            over = over.saturating_sub(cut);
        }
        over = self.cut_widest(over, Shrinks::at_first);
        self.cut_widest(over, |_| NARROWEST);
    }

    /// Cuts the widest columns that may be cut, each down to what is the least of its kind. What is
    /// too much all the same is returned.
    fn cut_widest(&mut self, mut over: usize, least: impl Fn(Shrinks) -> usize) -> usize {
        let may_be_cut =
            |column: &&mut CellWidth| !column.is_out && column.shrinks != Shrinks::Never;
        let mut left: Vec<_> = self.0.iter_mut().filter(may_be_cut).collect();
        while over > 0 {
            left.retain(|column| column.width > least(column.shrinks));
            left.sort_by_key(|column| std::cmp::Reverse(column.width));
            let next = left.get(1).map_or(0, |column| column.width);
            let Some(widest) = left.first_mut() else {
                break;
            };
            // Down to the next widest at once; one by one when they are equal.
            let next = next.max(least(widest.shrinks));
            let cut = (widest.width - next).clamp(1, over);
            widest.width -= cut;
            over -= cut;
        }
        over
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
                Shrinks::First => shorter(text, column.width, column.full).into(),
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

/// A bar where the longest one is `width` columns long and not `full`.
fn shorter(bar: &str, width: usize, full: usize) -> String {
    let length = columns(bar) * width + full / 2;
    bar.chars().take(length / full.max(1)).collect()
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
    fn bars_give_way_before_names_and_paths_before_titles() {
        let printed = |width| {
            let mut table = Table::new(&[Column::path("A"), Column::number("N"), Column::bar()]);
            table.row(plain(&["/home/ada/app", "7", &"=".repeat(20)]));
            table.row(plain(&["/home/ada/web", "3", &"=".repeat(10)]));
            table.render(Style::new(false), Some(width))
        };
        let all = "A              N\n/home/ada/app  7  ====================\n\
                   /home/ada/web  3  ==========\n";
        assert_eq!(printed(38), all);
        let shorter = "A              N\n/home/ada/app  7  ======\n/home/ada/web  3  ===\n";
        assert_eq!(printed(24), shorter);
        let none = "A              N\n/home/ada/app  7\n/home/ada/web  3\n";
        assert_eq!(printed(20), none);
        assert_eq!(
            printed(14),
            "A            N\n…me/ada/app  7\n…me/ada/web  3\n"
        );

        let mut table = Table::new(&[Column::path("A"), Column::long("B")]);
        table.row(plain(&[&"a".repeat(40), &"b".repeat(40)]));
        let text = table.render(Style::new(false), Some(48));
        let (path, title) = text.lines().nth(1).unwrap().split_once("  ").unwrap();
        assert_eq!((columns(path), columns(title)), (PATH, TITLE), "{text}");
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
