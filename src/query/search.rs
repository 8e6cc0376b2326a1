//! What was said about it? Words and overlay ranked as one, then hydrated, cut to snippets and grouped.

use std::collections::HashMap;
use std::fs::File;
use std::path::PathBuf;

use super::filter::Left;
use super::syntax::{self, Now};
use crate::catalogue::Catalogue;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::read::StoredSession;
use crate::catalogue::write::ARRIVAL_BITS;
use crate::index::{Error, Index};
use crate::ingest::{entry_bytes, open_words, scan_owed};
use crate::model::{Hit, HitGroup, SCHEMA_VERSION, SearchAnswer, iso};
use crate::words::{self, Matcher, Order, Overlay, Pick, Scan, Scope};

/// How a search is asked.
#[derive(Debug, Clone, Default)]
pub struct SearchScope {
    /// Only sessions of this working directory.
    pub cwd: Option<PathBuf>,
    /// Newest first, instead of best first.
    pub newest_first: bool,
    /// Hits at most; 0 = 20.
    pub limit: usize,
    /// The moment that `since:2w` counts from, in ms.
    pub now_ms: i64,
}

/// Characters of a snippet before and after the first match.
const BEFORE: usize = 60;
const AFTER: usize = 140;
/// Rounds of asking for more when hits had to be dropped.
const ROUNDS: usize = 4;

impl Index {
    /// All passages that `query` matches in the scope, best first, grouped by session.
    ///
    /// # Errors
    /// [`Error::Query`] when the query cannot be read.
    pub fn search(&self, query: &str, scope: &SearchScope) -> Result<SearchAnswer, Error> {
        let query = syntax::parse(query, Now::utc(scope.now_ms))?;
        let mut answer = SearchAnswer {
            schema_version: SCHEMA_VERSION,
            complete: self.complete,
            pending_files: self.pending_files,
            total_exact: true,
            ..SearchAnswer::default()
        };
        let Some(catalogue) = &self.catalogue else {
            return Ok(answer);
        };
        catalogue.snapshot()?;
        let result = self.search_snapshot(catalogue, &query, scope, &mut answer);
        catalogue.end_snapshot();
        result.map(|()| answer)
    }

    fn search_snapshot(
        &self,
        catalogue: &Catalogue,
        query: &syntax::Query,
        scope: &SearchScope,
        answer: &mut SearchAnswer,
    ) -> Result<(), Error> {
        // The catalogue's snapshot is taken first: whatever the words hold beyond it is in the overlay as well.
        let (disk, done) = match &query.expr {
            // Only the text itself tells.
            Some(expr) if expr.reads_text() => (None, 0),
            _ => open_words(catalogue, &self.config.words_dir())?,
        };
        let matcher = query.expr.as_ref().map(Matcher::new);
        let mut dead: Vec<(u64, u64)> = catalogue
            .dead(done)?
            .iter()
            .map(|d| (d.first as u64, d.last as u64))
            .collect();
        dead.sort_unstable();
        let left = Left::new(self, catalogue, &query.filters, scope.cwd.as_deref())?;
        let allow = |key: u64| left.holds(key);
        let f = &query.filters;
        let asked = Scope {
            allow: (!left.is_all()).then_some(&allow as &dyn Fn(u64) -> bool),
            dead: &dead,
            class: None,
            kinds: Pick {
                any: &f.kind.any,
                none: &f.kind.none,
            },
            roles: Pick {
                any: &f.role.any,
                none: &f.role.none,
            },
            tools: Pick {
                any: &f.tool.any,
                none: &f.tool.none,
            },
            error: f.error,
            since_ms: f.since_ms,
            until_ms: f.until_ms,
            outside_ms: &f.outside_ms,
        };
        let scan = Scan::new(query.expr.as_ref());
        // What is elsewhere is counted as well.
        let read = Scope {
            allow: asked.allow.filter(|_| scope.cwd.is_none()),
            ..asked
        };
        let (parts, failed) = scan_owed(
            catalogue,
            &self.config.formats,
            disk.as_ref().map(|_| done),
            &scan,
            &read,
        )?;
        if failed > 0 {
            answer.complete = false;
            answer.pending_files += failed;
        }
        let overlay = Overlay::new(&scan, parts);
        let order = if scope.newest_first {
            Order::Newest
        } else {
            Order::Ranked
        };
        let limit = if scope.limit == 0 { 20 } else { scope.limit };
        let mut want = limit;
        for round in 0..ROUNDS {
            let found = words::search(
                disk.as_ref(),
                Some(&overlay),
                query.expr.as_ref(),
                &asked,
                order,
                want,
            )?;
            let exhausted = found.hits.len() >= found.total;
            let mut page = Page {
                matcher: matcher.as_ref(),
                ..Page::new(self, catalogue)
            };
            let mut dropped = 0;
            for hit in &found.hits {
                if page.count == limit {
                    break;
                }
                if !page.add(hit)? {
                    dropped += 1;
                }
            }
            answer.total = (found.total - dropped) as u64;
            answer.total_exact = !found.total_is_bound || exhausted;
            answer.complete &= !page.stale;
            let full = page.count == limit;
            if full || exhausted || round + 1 == ROUNDS {
                answer.sessions = page.into_groups()?;
                break;
            }
            want *= 4;
        }
        if scope.cwd.is_some() {
            let mut wider = asked;
            wider.allow = None;
            let all = words::search(
                disk.as_ref(),
                Some(&overlay),
                query.expr.as_ref(),
                &wider,
                order,
                1,
            )?;
            answer.elsewhere = Some((all.total as u64).saturating_sub(answer.total));
        }
        Ok(())
    }
}

/// Hits on their way into groups.
struct Page<'a> {
    index: &'a Index,
    catalogue: &'a Catalogue,
    matcher: Option<&'a Matcher>,
    order: Vec<i64>,
    hits: HashMap<i64, Vec<(StoredEntry, Hit)>>,
    open: HashMap<i64, Option<(PathBuf, String, Option<File>)>>,
    count: usize,
    /// Some bytes were no longer what was catalogued.
    stale: bool,
}

impl<'a> Page<'a> {
    fn new(index: &'a Index, catalogue: &'a Catalogue) -> Page<'a> {
        Page {
            index,
            catalogue,
            matcher: None,
            order: Vec::new(),
            hits: HashMap::new(),
            open: HashMap::new(),
            count: 0,
            stale: false,
        }
    }

    /// Read the hit's line again. `false`: it does not count after all.
    fn add(&mut self, hit: &words::Hit) -> Result<bool, Error> {
        let Some(entry) = self.catalogue.entry(hit.key as i64)? else {
            return Ok(false);
        };
        let place = match self.open.entry(entry.source) {
            std::collections::hash_map::Entry::Occupied(open) => open.into_mut(),
            std::collections::hash_map::Entry::Vacant(new) => new.insert(
                self.catalogue
                    .source_place(entry.source)?
                    .map(|(path, format)| (path, format, None)),
            ),
        };
        let Some((path, format, file)) = place else {
            return Ok(false);
        };
        let record = match entry_bytes(path, file, entry.start, entry.length, entry.hash) {
            Ok(Some(record)) => record,
            // Changed since it was catalogued: what it says now is for the next check to find.
            Ok(None) | Err(_) => {
                self.stale = true;
                return Ok(false);
            }
        };
        let Some(format) = self.index.config.format(format) else {
            return Ok(false);
        };
        let pieces = format
            .passages_at(path, &record)
            .into_iter()
            .find(|p| p.class == hit.class)
            .map(|p| p.pieces)
            .unwrap_or_default();
        if hit.needs_check && self.matcher.is_some_and(|m| !m.matches(&pieces)) {
            return Ok(false);
        }
        let (snippet, highlights) = snippet(self.matcher, &pieces);
        let tool = self.catalogue.tools(entry.key)?.into_iter().next();
        let session = entry.key >> ARRIVAL_BITS;
        if !self.hits.contains_key(&session) {
            self.order.push(session);
        }
        let shown = Hit {
            address: String::new(),
            entry: String::new(),
            class: hit.class,
            kind: entry.kind.clone(),
            role: entry.role.clone(),
            tool,
            time: entry.time_ms.and_then(iso),
            score: hit.score,
            snippet,
            highlights,
        };
        self.hits.entry(session).or_default().push((entry, shown));
        self.count += 1;
        Ok(true)
    }

    fn into_groups(mut self) -> Result<Vec<HitGroup>, Error> {
        let mut sessions: HashMap<i64, StoredSession> = self
            .catalogue
            .sessions_by_number(&self.order)?
            .into_iter()
            .map(|s| (s.session, s))
            .collect();
        let mut groups = Vec::new();
        for number in &self.order {
            let Some(session) = sessions.remove(number) else {
                continue;
            };
            let mut hits = Vec::new();
            for (entry, mut hit) in self.hits.remove(number).unwrap_or_default() {
                hit.entry = super::show::address(&entry);
                hit.address = format!("{}:{}", session.row.id, hit.entry);
                hits.push(hit);
            }
            groups.push(HitGroup {
                session: session.row,
                hits,
            });
        }
        Ok(groups)
    }
}

/// The text around the first match, on one line, and where the matches are in it.
fn snippet(matcher: Option<&Matcher>, pieces: &[String]) -> (String, Vec<(usize, usize)>) {
    let first = pieces
        .iter()
        .map(|piece| {
            (
                piece,
                matcher.map(|m| m.highlights(piece)).unwrap_or_default(),
            )
        })
        .find(|(_, found)| !found.is_empty());
    let Some((piece, found)) = first.or_else(|| pieces.first().map(|piece| (piece, Vec::new())))
    else {
        return (String::new(), Vec::new());
    };
    let middle = found.first().map_or(0, |r| r.start);
    let start = piece[..middle]
        .char_indices()
        .rev()
        .take(BEFORE)
        .last()
        .map_or(middle, |(at, _)| at);
    let end = piece[middle..]
        .char_indices()
        .nth(AFTER)
        .map_or(piece.len(), |(at, _)| middle + at);
    let mut text = String::new();
    if start > 0 {
        text.push('…');
    }
    let mut marks = Vec::new();
    let mut open: Option<usize> = None;
    let mut found = found
        .iter()
        .filter(|r| r.end <= end && r.start >= start)
        .peekable();
    let mut blank = false;
    for (offset, c) in piece[start..end].char_indices() {
        let at = start + offset;
        if found.peek().is_some_and(|r| r.end <= at)
            && let Some(from) = open.take()
        {
            marks.push((from, text.len()));
            found.next();
        }
        if open.is_none() && found.peek().is_some_and(|r| r.start == at) {
            open = Some(text.len());
        }
        if c.is_whitespace() || c.is_control() {
            if !blank {
                text.push(' ');
            }
            blank = true;
        } else {
            text.push(c);
            blank = false;
        }
    }
    if let Some(from) = open {
        marks.push((from, text.len()));
    }
    if end < piece.len() {
        text.push('…');
    }
    (text, marks)
}
