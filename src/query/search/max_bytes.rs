//! How does an answer keep within its limit of bytes? Hits are left to the next page. Where a
//! single hit is too long, other parts are shortened or left out, and the answer names them.

use std::fmt;
use std::sync::Arc;

use super::cursor::{DIGITS, Fingerprint, SeenHits};
use crate::error::Error;
use crate::model::{self, Hit, HitGroup, SearchAnswer, SessionRow, acts, end_of_cut};

/// How many bytes of JSON one is.
type LengthOf<T> = Arc<dyn Fn(&T) -> usize + Send + Sync>;

/// How many bytes sessions and hits take where not all of them is printed, by functions that the
/// caller gives. Clones are the same functions.
#[derive(Clone)]
pub struct PrintedLengths {
    session: LengthOf<SessionRow>,
    hit: LengthOf<Hit>,
}

impl PrintedLengths {
    /// By these functions: each gives the bytes of JSON, with escapes for what acts on a terminal.
    pub fn new(
        session: impl Fn(&SessionRow) -> usize + Send + Sync + 'static,
        hit: impl Fn(&Hit) -> usize + Send + Sync + 'static,
    ) -> Self {
        Self {
            session: Arc::new(session),
            hit: Arc::new(hit),
        }
    }

    /// Bytes of a hit.
    pub(super) fn of_hit(lengths: Option<&Self>, hit: &Hit) -> usize {
        lengths.map_or_else(|| bytes(hit), |lengths| (lengths.hit)(hit))
    }

    fn of_group(lengths: Option<&Self>, group: &HitGroup) -> usize {
        let all = bytes(group);
        let Some(lengths) = lengths else {
            return all;
        };
        let hits: usize = group.hits.iter().map(bytes).sum();
        let printed: usize = group.hits.iter().map(|hit| (lengths.hit)(hit)).sum();
        all - bytes(&group.session) - hits + (lengths.session)(&group.session) + printed
    }

    fn of_answer(lengths: Option<&Self>, answer: &SearchAnswer) -> usize {
        let all = bytes(answer);
        if lengths.is_none() {
            return all;
        }
        let groups: usize = answer.sessions.iter().map(bytes).sum();
        let printed = answer.sessions.iter();
        let printed: usize = printed.map(|group| Self::of_group(lengths, group)).sum();
        all - groups + printed
    }
}

impl fmt::Debug for PrintedLengths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PrintedLengths").finish_non_exhaustive()
    }
}

/// A hit of the page: its place in the answer, and how a cursor names it.
pub(super) struct PageHit {
    pub group: usize,
    pub prints: (Fingerprint, Option<Fingerprint>),
    /// Of its entry, where only so many hits of a session are shown.
    pub entry: Option<Fingerprint>,
}

impl PageHit {
    fn prints(&self) -> impl Iterator<Item = Fingerprint> {
        let of_text = std::iter::once(self.prints.0).chain(self.prints.1);
        of_text.chain(self.entry.filter(|entry| *entry != self.prints.0))
    }
}

/// The cursor behind what was shown and the hits on this page.
pub(super) fn cursor(shown: &SeenHits, hits_on_page: &[PageHit]) -> String {
    shown.cursor(hits_on_page.iter().flat_map(PageHit::prints))
}

/// Bytes of its JSON on one line, with what acts on a terminal written as an escape.
pub(super) fn bytes(of: &impl serde::Serialize) -> usize {
    let json = serde_json::to_string(of).unwrap_or_default();
    let escapes = json.chars().filter(|character| acts(*character));
    let longer = escapes.map(|character| 6 * character.len_utf16() - character.len_utf8());
    json.len() + longer.sum::<usize>()
}

/// Keep the answer, whose hits are `hits_on_page`, to at most `most` bytes with the end of its
/// line.
///
/// # Errors
/// [`Error::TooFewBytes`] when nothing more can be left out.
pub(super) fn fit(
    answer: &mut SearchAnswer,
    mut hits_on_page: Vec<PageHit>,
    shown: &SeenHits,
    most: usize,
    lengths: Option<&PrintedLengths>,
) -> Result<(), Error> {
    let length = |answer: &SearchAnswer| PrintedLengths::of_answer(lengths, answer);
    let is_over = |answer: &SearchAnswer| (length(answer) + 1).saturating_sub(most);
    if is_over(answer) == 0 {
        return Ok(());
    }
    if !hits_on_page.is_empty() {
        leave_room(answer, most);
    }
    leave_hits(answer, &mut hits_on_page, shown, most, lengths);
    for give_up in [
        leave_out_facets as fn(&mut SearchAnswer),
        leave_out_named,
        leave_out_context,
    ] {
        if is_over(answer) > 0 {
            give_up(answer);
        }
    }
    for (name, texts) in [
        (
            "firstMessage",
            first_messages as fn(&mut SearchAnswer) -> Vec<&mut String>,
        ),
        ("snippet", snippets),
        ("name", names),
    ] {
        if is_over(answer) > 0 && texts(answer).iter().any(|text| !text.is_empty()) {
            note(answer, name);
            let over = is_over(answer);
            shorten(texts(answer), over);
            // What is not printed has not become shorter.
            if is_over(answer) == over {
                answer.cut.retain(|known| known != name);
            }
        }
    }
    keep_highlights(answer);
    if is_over(answer) > 0 && !answer.notes.is_empty() {
        answer.notes.clear();
        note(answer, "notes");
    }
    match is_over(answer) {
        0 => Ok(()),
        over => Err(Error::TooFewBytes { least: most + over }),
    }
}

/// Beside hits, the rest takes no more than half.
fn leave_room(answer: &mut SearchAnswer, most: usize) {
    if answer.facets.as_ref().is_some_and(|f| bytes(f) > most / 2) {
        leave_out_facets(answer);
    }
    let mut named = bytes(&answer.named);
    while answer.named.len() > 1 && named > most / 2 {
        named -= answer.named.pop().as_ref().map_or(0, bytes) + 1;
        note(answer, "named");
    }
}

/// Leave as many hits to the next page as needed; the first stays.
fn leave_hits(
    answer: &mut SearchAnswer,
    hits_on_page: &mut Vec<PageHit>,
    shown: &SeenHits,
    most: usize,
    lengths: Option<&PrintedLengths>,
) {
    let of_group = |group: &HitGroup| PrintedLengths::of_group(lengths, group);
    let of_hit = |hit: &Hit| PrintedLengths::of_hit(lengths, hit);
    let groups = std::mem::take(&mut answer.sessions);
    let had = answer.cursor.take();
    let rest = bytes(answer) + 1 - "null".len();
    answer.sessions = groups;
    let begun = cursor(shown, &[]).len() + 2;
    let mut digits: usize = hits_on_page
        .iter()
        .map(|hit| hit.prints().count() * DIGITS)
        .sum();
    let mut hits: usize = answer
        .sessions
        .iter()
        .map(|group| of_group(group) + 1)
        .sum();
    let mut left = false;
    loop {
        let ends = match left || had.is_some() {
            true => begun + digits,
            false => "null".len(),
        };
        if hits_on_page.len() <= 1 || rest + hits + ends <= most {
            break;
        }
        let Some(last) = hits_on_page.pop() else {
            break;
        };
        digits -= last.prints().count() * DIGITS;
        left = true;
        if let Some(group) = answer.sessions.get_mut(last.group) {
            hits -=
                group.hits.pop().as_ref().map_or(0, of_hit) + usize::from(!group.hits.is_empty());
            if group.hits.is_empty() {
                hits -= of_group(group) + 1;
                answer.sessions.pop();
            }
        }
    }
    answer.cursor = match left {
        true => Some(cursor(shown, hits_on_page)),
        false => had,
    };
}

fn leave_out_facets(answer: &mut SearchAnswer) {
    if answer.facets.take().is_some() {
        note(answer, "facets");
    }
}

fn leave_out_named(answer: &mut SearchAnswer) {
    let kept = usize::from(answer.sessions.is_empty());
    if answer.named.len() > kept {
        answer.named.truncate(kept);
        note(answer, "named");
    }
}

fn leave_out_context(answer: &mut SearchAnswer) {
    let mut any = false;
    for hit in answer.sessions.iter_mut().flat_map(|group| &mut group.hits) {
        any |= !hit.context.is_empty();
        hit.context.clear();
    }
    if any {
        note(answer, "context");
    }
}

fn rows(answer: &mut SearchAnswer) -> impl Iterator<Item = &mut SessionRow> {
    let hits = answer.sessions.iter_mut().map(|group| &mut group.session);
    hits.chain(answer.named.iter_mut().map(|named| &mut named.session))
}

fn first_messages(answer: &mut SearchAnswer) -> Vec<&mut String> {
    rows(answer)
        .filter_map(|row| row.first_message.as_mut())
        .collect()
}

fn names(answer: &mut SearchAnswer) -> Vec<&mut String> {
    rows(answer).filter_map(|row| row.name.as_mut()).collect()
}

fn snippets(answer: &mut SearchAnswer) -> Vec<&mut String> {
    let hits = answer
        .sessions
        .iter_mut()
        .flat_map(|group: &mut HitGroup| &mut group.hits);
    hits.map(|hit| &mut hit.snippet).collect()
}

/// Drop the highlights of matches that were cut off.
fn keep_highlights(answer: &mut SearchAnswer) {
    for hit in answer.sessions.iter_mut().flat_map(|group| &mut group.hits) {
        let end = end_of_cut(&hit.snippet);
        hit.highlights.retain(|(_, to)| *to <= end);
    }
}

/// Cut these texts at their ends until so many bytes of JSON are gone, or nothing is left of them.
fn shorten(texts: Vec<&mut String>, over: usize) {
    let mut over = over;
    for text in texts {
        if over == 0 {
            return;
        }
        over = over.saturating_sub(model::shorten(text, over));
    }
}

/// Name what was shortened or left out.
fn note(answer: &mut SearchAnswer, what: &str) {
    if !answer.cut.iter().any(|known| known == what) {
        answer.cut.push(what.to_owned());
    }
}
