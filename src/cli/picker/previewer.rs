//! What does the session say on which the selection stands?
//!
//! A session may be longer than anybody reads: what branches there are is known by a few bytes an
//! entry, and of the entries only those are read that are seen.

mod entry;
mod fold;
mod found;
mod markdown;
mod rows;

use std::sync::Arc;
use std::sync::mpsc::Sender;

use sessionary::index::{Branch, Snapshot, TreeFilter, TreePart, TreeScope};
use sessionary::model::{Cancel, Mask, SessionRow, ShownEntry, Zone};
use sessionary::{Config, Error, Freshness, Index, with_causes};

use self::entry::{Look, block, has_match};
use super::latest::Latest;
use super::message::{Message, Preview, PreviewContent, PreviewPart, PreviewRequest};
use super::palette::Palette;
use super::pane::{Block, Direction};
use super::tree::TreeLine;
use super::{may_panic, start_thread};
use crate::background::go_on;
use crate::output::Screen;
use crate::output::branches::{UNICODE, prefixes, row_parts};
use crate::output::text::plain_line;

#[cfg(test)]
pub use self::found::tests::hit;

/// Entries that are read at most on either side of the one that is looked for.
const AROUND: usize = 60;
/// Of a session with more entries the outline takes more than some milliseconds.
const LONG: u64 = 2_000;
/// No preview is so narrow that a letter would not fit.
const NARROWEST: u16 = 10;

/// Reads sessions back until no more are asked for.
pub fn start(
    requests: &Arc<Latest<PreviewRequest>>,
    config: &Config,
    screen: &Screen,
    tell: &Sender<Message>,
) {
    let (requests, tell) = (Arc::clone(requests), tell.clone());
    let mut previewer = Previewer {
        config: config.clone(),
        mask: screen.mask(),
        zone: screen.zone().clone(),
        palette: Palette::of(screen),
        index: None,
        outline: None,
    };
    start_thread("picker-reads", move || {
        while let Some((request, cancel)) = requests.take() {
            may_panic("picker-reads");
            let number = request.number;
            let say = |content| {
                let preview = Preview { number, content };
                tell.send(Message::Previewed(Box::new(preview)))
            };
            if let Some(first) = previewer.first_look(&request, &cancel) {
                let _ = say(first);
            }
            let content = match previewer.answer(&request, &cancel) {
                // Another request is waiting.
                Err(Error::Cancelled) => continue,
                Ok(content) => content,
                Err(error) => PreviewContent::Failed(plain_line(&with_causes(&error))),
            };
            if say(content).is_err() {
                return;
            }
        }
    });
}

struct Previewer {
    config: Config,
    mask: Option<Mask>,
    zone: Zone,
    palette: Palette,
    index: Option<Index>,
    outline: Option<Outline>,
}

/// The branch that was read last: making it takes longer than reading a part of it.
struct Outline {
    session: SessionRow,
    through: Option<String>,
    branch: Branch,
}

impl Outline {
    fn is_of(&self, request: &PreviewRequest) -> bool {
        self.session == request.session && self.through == request.through
    }
}

/// Why no further entry is read.
enum End {
    /// There are enough.
    Enough,
    Failed(Error),
}

impl From<Error> for End {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

impl Previewer {
    fn answer(
        &mut self,
        request: &PreviewRequest,
        cancel: &Cancel,
    ) -> Result<PreviewContent, Error> {
        let is_fresh = !self.index.as_ref().is_some_and(Index::is_made);
        if is_fresh {
            self.open()?;
        }
        match self.read(request, cancel) {
            // The index was built anew meanwhile, or the session was read again.
            Err(error) if !is_fresh && !matches!(error, Error::Cancelled) => {
                self.open()?;
                self.read(request, cancel)
            }
            read => read,
        }
    }

    fn open(&mut self) -> Result<(), Error> {
        (self.index, self.outline) = (None, None);
        self.index = Some(Index::open(&self.config, Freshness::AsCommitted)?);
        Ok(())
    }

    /// What is near the entry that is looked for, in a session so long that its outline takes
    /// longer than anybody should wait.
    fn first_look(&mut self, request: &PreviewRequest, cancel: &Cancel) -> Option<PreviewContent> {
        let is_known = self
            .outline
            .as_ref()
            .is_some_and(|known| known.is_of(request));
        let is_long = request.session.entries > LONG && request.part == PreviewPart::Through;
        if is_known || !is_long {
            return None;
        }
        if !self.index.as_ref().is_some_and(Index::is_made) {
            self.open().ok()?;
        }
        let snapshot = self.index.as_ref()?.snapshot().ok()?;
        let through = request.through.as_deref();
        let near = snapshot.branch_nearby(&request.session, through, AROUND);
        let near = near.ok()??;
        let reading = self.reading(&snapshot, &near, request, cancel);
        let mut content = reading.content(&request.part).ok()?;
        if let PreviewContent::Opened { is_provisional, .. } = &mut content {
            *is_provisional = true;
        }
        Some(content)
    }

    /// How a branch is read for a request.
    fn reading<'a>(
        &self,
        snapshot: &'a Snapshot<'a>,
        branch: &'a Branch,
        request: &'a PreviewRequest,
        cancel: &'a Cancel,
    ) -> BranchReader<'a> {
        BranchReader {
            snapshot,
            session: &request.session,
            branch,
            mask: self.mask.clone(),
            cancel,
            look: Look {
                palette: self.palette,
                zone: self.zone.clone(),
                width: usize::from(request.size.width.max(NARROWEST)),
                highlighter: found::highlighter(&request.query, &request.hits),
                hits: request.hits.clone(),
            },
            height: usize::from(request.size.height.max(1)),
        }
    }

    fn read(&mut self, request: &PreviewRequest, cancel: &Cancel) -> Result<PreviewContent, Error> {
        let Some(index) = &self.index else {
            return Err(Error::Cancelled);
        };
        let snapshot = index.snapshot()?;
        if let PreviewPart::Tree(filter) = request.part {
            return tree(&snapshot, request, filter, self.mask.as_ref(), cancel);
        }
        let known = self.outline.take().filter(|known| known.is_of(request));
        let outline = match known {
            Some(outline) => outline,
            None => outline(&snapshot, request)?,
        };
        let reading = self.reading(&snapshot, &outline.branch, request, cancel);
        let content = reading.content(&request.part);
        self.outline = Some(outline);
        content
    }
}

/// The branch that is asked for; the active one where its entry is gone.
fn outline(snapshot: &Snapshot<'_>, request: &PreviewRequest) -> Result<Outline, Error> {
    let through = request.through.as_deref();
    let branch = match snapshot.branch(&request.session, through) {
        Err(Error::NoEntry { .. }) => snapshot.branch(&request.session, None)?,
        branch => branch?,
    };
    Ok(Outline {
        session: request.session.clone(),
        through: request.through.clone(),
        branch,
    })
}

/// A branch that is being read.
struct BranchReader<'a> {
    snapshot: &'a Snapshot<'a>,
    session: &'a SessionRow,
    branch: &'a Branch,
    mask: Option<Mask>,
    cancel: &'a Cancel,
    look: Look,
    /// Lines that are seen at once.
    height: usize,
}

impl BranchReader<'_> {
    fn content(&self, part: &PreviewPart) -> Result<PreviewContent, Error> {
        match part {
            PreviewPart::Through => self.around(self.branch.focus()),
            PreviewPart::Place(place) => self.around(self.branch.position(*place)),
            PreviewPart::Start => self.around(Some(0)),
            PreviewPart::End => self.around(None),
            PreviewPart::Entries(part) => self
                .blocks(part.clone(), usize::MAX)
                .map(PreviewContent::More),
            PreviewPart::Match { from, direction } => match self.next_match(*from, *direction)? {
                Some(found) => self.at_match(found, *direction),
                None => Ok(PreviewContent::NoMatch),
            },
            PreviewPart::Tree(_) => Err(Error::Cancelled),
        }
    }

    /// A screen on either side of an entry; of the end of the branch, where there is none.
    fn around(&self, position: Option<usize>) -> Result<PreviewContent, Error> {
        let end = self.branch.len();
        let from = position.map_or(end, |at| at.min(end));
        let behind = from..end.min(from.saturating_add(AROUND));
        let mut blocks = self.blocks(behind, 2 * self.height)?;
        let before = (from.saturating_sub(AROUND)..from).rev();
        let mut before = self.blocks(before, 2 * self.height)?;
        before.reverse();
        before.append(&mut blocks);
        let found = before.iter().find(|block| Some(block.position) == position);
        let (position, line) = match (found, before.last()) {
            (Some(block), _) => (block.position, block.best.unwrap_or(0)),
            (None, Some(last)) => (last.position, last.lines.len()),
            (None, None) => (0, 0),
        };
        Ok(PreviewContent::Opened {
            length: end,
            blocks: before,
            position,
            line,
            is_provisional: false,
        })
    }

    /// What is around an entry, with its first match, or its last.
    fn at_match(&self, found: usize, direction: Direction) -> Result<PreviewContent, Error> {
        let mut content = self.around(Some(found))?;
        if let PreviewContent::Opened {
            blocks,
            position,
            line,
            ..
        } = &mut content
        {
            let block = blocks.iter().find(|block| block.position == found);
            let matches = block.map(|block| block.matches.as_slice());
            let at = match direction {
                Direction::Down => matches.and_then(<[usize]>::first),
                Direction::Up => matches.and_then(<[usize]>::last),
            };
            (*position, *line) = (found, at.copied().unwrap_or(0));
        }
        Ok(content)
    }

    /// These entries, until they fill so many lines.
    fn blocks(
        &self,
        positions: impl Iterator<Item = usize>,
        lines: usize,
    ) -> Result<Vec<Block>, Error> {
        let (mut blocks, mut taken) = (Vec::new(), 0);
        self.each(positions, &mut |position, entry| {
            let block = block(position, &entry, &self.look);
            taken += block.lines.len();
            blocks.push(block);
            match taken >= lines {
                true => Err(End::Enough),
                false => Ok(()),
            }
        })?;
        Ok(blocks)
    }

    /// The next entry with a match behind this one, or before it.
    fn next_match(&self, from: usize, direction: Direction) -> Result<Option<usize>, Error> {
        let mut found = None;
        let take = &mut |position, entry: ShownEntry| {
            if !has_match(&entry, &self.look) {
                return Ok(());
            }
            found = Some(position);
            Err(End::Enough)
        };
        match direction {
            Direction::Down => self.each(from.saturating_add(1)..self.branch.len(), take)?,
            Direction::Up => self.each((0..from).rev(), take)?,
        }
        Ok(found)
    }

    /// Reads these entries one by one, as long as they are wanted.
    fn each(
        &self,
        positions: impl Iterator<Item = usize>,
        take: &mut dyn FnMut(usize, ShownEntry) -> Result<(), End>,
    ) -> Result<(), Error> {
        let each = &mut |position, entry| {
            go_on(self.cancel)?;
            take(position, entry)
        };
        let (session, branch, mask) = (self.session, self.branch, self.mask.as_ref());
        let read = self
            .snapshot
            .read_branch(session, branch, positions, mask, each);
        match read {
            Err(End::Failed(error)) => Err(error),
            Err(End::Enough) | Ok(()) => Ok(()),
        }
    }
}

/// The session's tree.
fn tree(
    snapshot: &Snapshot<'_>,
    request: &PreviewRequest,
    filter: TreeFilter,
    mask: Option<&Mask>,
    cancel: &Cancel,
) -> Result<PreviewContent, Error> {
    let ids = snapshot.short_entry_ids(&request.session)?;
    let width = usize::from(request.size.width.max(NARROWEST));
    let (mut before, mut rows) = (Vec::new(), Vec::new());
    let scope = TreeScope {
        filter,
        mask: mask.cloned(),
        cancel: cancel.clone(),
        ..TreeScope::default()
    };
    snapshot.tree_each(&request.session, scope, &mut |part| {
        match part {
            TreePart::Head(_) => {}
            TreePart::Parents(parents) => before = prefixes(parents, &UNICODE),
            TreePart::Row(row) => {
                let id = plain_line(ids.short(&row.id));
                let prefix = before.get(rows.len()).map_or("", |prefix| prefix);
                rows.push(TreeLine {
                    parts: row_parts(&row, &id, prefix, &UNICODE, Some(width)),
                    is_leaf: row.is_leaf,
                    entry: row.id,
                });
            }
        }
        Ok::<(), Error>(())
    })?;
    Ok(PreviewContent::Tree(rows))
}
