//! How does JSON keep within a limit of bytes? Items are left to the next page. Where a single one
//! is too long, its texts are cut and the answer names them, as `search` does.

use clap::Args;
use schemars::JsonSchema;
use serde::Serialize;
use sessionary::Error;
use sessionary::model::{self, SessionRow, ShownEntry, TreeRow};

use super::cursor::{Shown, number_of};
use super::fields::Fields;
use super::stream::JsonFrame;
use super::text::terminal_safe_json;
use crate::failure::Failure;

/// How much of an answer is printed.
#[derive(Debug, Clone, Args)]
pub struct PageArgs {
    /// Print at most N bytes of JSON; `cursor` fetches the rest, `cut` names what was shortened
    #[arg(long, value_name = "N")]
    max_bytes: Option<usize>,
    /// Continue after the page whose JSON had this `cursor`
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,
}

impl PageArgs {
    /// So many bytes at most, behind what the page with this cursor has shown.
    pub fn of(max_bytes: Option<usize>, cursor: Option<String>) -> Self {
        Self { max_bytes, cursor }
    }

    /// Refuse a page of what is not JSON. (clap's `requires` does not see a `--json` that stands
    /// before the verb.)
    pub fn check(&self, json: bool) -> Result<(), Failure> {
        match json || !self.is_asked() {
            true => Ok(()),
            false => {
                Err(Failure::usage("--max-bytes and --cursor are for JSON").hint("add --json"))
            }
        }
    }

    /// So many bytes at most; 0 is any number.
    pub fn max_bytes(&self) -> Option<usize> {
        self.max_bytes.filter(|most| *most > 0)
    }

    /// That of the page before.
    pub fn cursor(&self) -> Option<&str> {
        self.cursor.as_deref()
    }

    /// Whether a page is asked for, and not all of it.
    pub fn is_asked(&self) -> bool {
        self.max_bytes.is_some() || self.cursor.is_some()
    }
}

/// Those of a session, at the head of an answer about it.
pub fn texts_of(session: &mut SessionRow) -> Texts<'_> {
    let name = session.name.as_mut().map(|name| ("name", name));
    let first = session.first_message.as_mut();
    let first = first.map(|text| ("firstMessage", text));
    first.into_iter().chain(name).collect()
}

/// Texts that may be cut, with the names by which an answer says so, the dearest last.
pub type Texts<'a> = Vec<(&'static str, &'a mut String)>;

/// One member of the list that an answer is.
pub trait Item: Serialize {
    /// Its number, which stays while files grow.
    fn number(&self) -> u64;
    /// What may be cut of it.
    fn texts(&mut self) -> Texts<'_>;
}

impl Item for ShownEntry {
    fn number(&self) -> u64 {
        self.ordinal.map_or_else(|| number_of(&self.id), u64::from)
    }

    fn texts(&mut self) -> Texts<'_> {
        let pieces = self.text.iter_mut().flat_map(|(_, pieces)| pieces);
        pieces.map(|piece| ("text", piece)).collect()
    }
}

impl Item for TreeRow {
    fn number(&self) -> u64 {
        u64::from(self.ordinal)
    }

    fn texts(&mut self) -> Texts<'_> {
        vec![("text", &mut self.text)]
    }
}

impl Item for SessionRow {
    fn number(&self) -> u64 {
        // Two agents may have one folder.
        number_of((&self.agent, &self.label, &self.host, &self.path))
    }

    fn texts(&mut self) -> Texts<'_> {
        let all = self.all_messages_text.as_mut();
        let mut texts: Texts<'_> = all
            .map(|text| ("allMessagesText", text))
            .into_iter()
            .collect();
        let first = self.first_message.as_mut();
        texts.extend(first.map(|text| ("firstMessage", text)));
        texts.extend(self.name.as_mut().map(|name| ("name", name)));
        texts
    }
}

/// An answer of which there may be more pages.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Paged{T}")]
pub struct Paged<'a, T> {
    #[serde(flatten)]
    answer: &'a T,
    /// Where `cursor` or `max_bytes` was given: what shows the next page, or `null`, where nothing
    /// is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    cursor: Option<Option<String>>,
    /// Which texts were cut so that one item fits into `max_bytes`.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    cut: &'a [&'a str],
}

/// A page of an answer that is being made.
pub struct Page<'a, T> {
    /// Whether it may be one of several.
    is_asked: bool,
    most: usize,
    most_items: usize,
    fields: &'a Fields,
    /// What earlier pages have shown.
    before: Shown,
    /// The items of this page as JSON, each with its number.
    items: Vec<(u64, String)>,
    bytes: usize,
    /// The first one, in case that it has to be cut.
    first: Option<T>,
    is_left: bool,
}

impl<'a, T: Item> Page<'a, T> {
    /// An empty page of the answer to `question`.
    ///
    /// # Errors
    /// When the cursor cannot be read, or is of another question.
    pub fn new(args: &PageArgs, fields: &'a Fields, question: u64) -> Result<Self, Failure> {
        Ok(Self {
            is_asked: args.is_asked(),
            most: args.max_bytes().unwrap_or(usize::MAX),
            most_items: usize::MAX,
            fields,
            before: Shown::read(args.cursor(), question)?,
            items: Vec::new(),
            bytes: 0,
            first: None,
            is_left: false,
        })
    }

    /// With so many items at most.
    pub fn of_items(self, most_items: usize) -> Self {
        Self { most_items, ..self }
    }

    /// Takes the next item, unless an earlier page had it or it is left to the next one.
    pub fn offer(&mut self, item: T) -> Result<(), Failure> {
        let number = item.number();
        if !self.wants(number) {
            return Ok(());
        }
        let is_full = self.bytes > self.most || self.items.len() >= self.most_items;
        if is_full {
            self.is_left = true;
            return Ok(());
        }
        let json = json_of(&item, self.fields)?;
        self.bytes += json.len() + 1;
        self.items.push((number, json));
        self.first.get_or_insert(item);
        Ok(())
    }

    /// Whether the item of this number can still come onto it, or says that something is left.
    pub fn wants(&self, number: u64) -> bool {
        !self.is_left && !self.before.holds(number)
    }

    /// How many items there are on it.
    pub fn len(&self) -> usize {
        self.items.len()
    }

    /// The page as a line of JSON: `head` with the items in its list `list`; or all items as lines
    /// of values. `texts` are those of the head that may be cut.
    ///
    /// # Errors
    /// [`Error::TooFewBytes`] when no page is so short.
    pub fn print<H: Serialize>(
        mut self,
        mut head: H,
        list: &str,
        texts: impl Fn(&mut H) -> Texts<'_>,
    ) -> Result<String, Failure> {
        if self.fields.tsv {
            let lines = self.items.into_iter().map(|(_, line)| line);
            return Ok(self.fields.header() + &lines.collect::<String>());
        }
        let mut cut = Vec::new();
        loop {
            let page = self.line(&head, list, &cut)?;
            let over = page.len().saturating_sub(self.most);
            if over == 0 {
                return Ok(page);
            }
            if self.items.len() > 1 {
                self.leave(over);
                continue;
            }
            // One item is left: the head's texts are cut, then its own.
            if shorten(texts(&mut head), over, &mut cut) {
                continue;
            }
            let Some(first) = &mut self.first else {
                return Err(too_few(self.most + over));
            };
            if !shorten(first.texts(), over, &mut cut) {
                return Err(too_few(self.most + over));
            }
            let json = json_of(first, self.fields)?;
            self.items
                .iter_mut()
                .for_each(|(_, item)| item.clone_from(&json));
        }
    }

    /// Leaves items of at least so many bytes to the next page; the first one stays.
    fn leave(&mut self, over: usize) {
        let mut left = 0;
        while left < over
            && self.items.len() > 1
            && let Some((_, item)) = self.items.pop()
        {
            left += item.len() + 1;
            self.is_left = true;
        }
    }

    fn line<H: Serialize>(&self, head: &H, list: &str, cut: &[&str]) -> Result<String, Failure> {
        let cursor = self.is_left.then(|| {
            let mut shown = self.before.clone();
            self.items.iter().for_each(|(number, _)| shown.add(*number));
            shown.cursor()
        });
        let cursor = self.is_asked.then_some(cursor);
        let answer = Paged {
            answer: head,
            cursor,
            cut,
        };
        let frame = JsonFrame::of(&answer, list)?;
        let items: Vec<&str> = self.items.iter().map(|(_, item)| item.as_str()).collect();
        let (before, after) = (
            terminal_safe_json(&frame.before),
            terminal_safe_json(&frame.after),
        );
        Ok(format!("{before}{}{after}", items.join(",")))
    }
}

/// An item as it is printed.
fn json_of(item: &impl Serialize, fields: &Fields) -> Result<String, Failure> {
    if fields.tsv {
        return Ok(fields.tsv(&serde_json::to_value(item)?));
    }
    let json = fields.of_json(serde_json::to_string(item)?)?;
    Ok(terminal_safe_json(&json).into_owned())
}

fn too_few(least: usize) -> Failure {
    Error::TooFewBytes { least }.into()
}

/// Cuts the first of these texts of which something is left by as many bytes as are too many, or by
/// all it has. `false`: nothing is left of any.
fn shorten(texts: Texts<'_>, over: usize, cut: &mut Vec<&'static str>) -> bool {
    let Some((name, text)) = texts.into_iter().find(|(_, text)| !text.is_empty()) else {
        return false;
    };
    model::shorten(text, over);
    if !cut.contains(&name) {
        cut.push(name);
    }
    true
}
