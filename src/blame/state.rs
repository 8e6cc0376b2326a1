//! What is known of a file while the changes of sessions are made again on it?

use std::cell::LazyCell;
use std::collections::{HashMap, HashSet};
use std::ops::Range;

use super::carry::{Between, Origin, anchors, carry};
use super::owners::{Owners, bare};
use super::{ChangeNumber, SessionEdit, Writer, lines};
use crate::format::edits::{Change, Hunk, HunkLine};

/// The lines that are known of a file; `None` is a gap, in which any lines may be.
#[derive(Debug, Clone)]
pub(crate) struct State {
    slots: Vec<Option<Line>>,
    /// The session of each change that was made.
    sessions: Vec<i64>,
    owners: Owners,
}

/// A line, without its end.
#[derive(Debug, Clone)]
struct Line {
    text: String,
    writer: Writer,
}

/// A line in place of others.
struct Rewritten {
    line: Line,
    /// It stood there before.
    is_kept: bool,
}

impl State {
    /// A file of which nothing is known.
    pub fn new() -> State {
        State {
            slots: vec![None],
            sessions: Vec::new(),
            owners: Owners::default(),
        }
    }

    /// The file after these changes.
    #[cfg(test)]
    pub fn after(made: &[SessionEdit]) -> State {
        let mut state = State::new();
        made.iter().for_each(|made| state.add(made));
        state
    }

    /// The next change is made.
    pub fn add(&mut self, made: &SessionEdit) {
        let number = self.sessions.len();
        self.sessions.push(made.session);
        self.make(number, made);
    }

    /// Who wrote each of these lines.
    pub fn writers(&self, lines: &[&str]) -> Vec<Writer> {
        let old: Vec<Option<&str>> = self.texts().collect();
        let origins = carry(&old, lines, Between::Anything).into_iter();
        let writer = |(origin, line): (Origin, &&str)| {
            let writer = self.writer(origin.same()?)?;
            let session = self.sessions.get(writer)?;
            (!self.owners.is_disputed(line, *session)).then_some(writer)
        };
        origins.zip(lines).map(writer).collect()
    }

    /// Who wrote each of these lines but for its white space; asked of those that are `open`.
    pub fn writers_but_for_space(&self, lines: &[&str], open: &[bool]) -> Vec<Writer> {
        let old: Vec<Option<String>> = self.texts().map(|text| text.map(bare)).collect();
        let old: Vec<Option<&str>> = old.iter().map(Option::as_deref).collect();
        let new: Vec<String> = lines.iter().map(|line| bare(line)).collect();
        let new: Vec<&str> = new.iter().map(String::as_str).collect();
        let same: HashMap<usize, usize> = anchors(&old, &new)
            .into_iter()
            .map(|(at, to)| (to, at))
            .collect();
        let writer = |to: usize| {
            let was = self.slots.get(*same.get(&to)?)?.as_ref()?;
            let session = self.sessions.get(was.writer?)?;
            let is_theirs = was.text != lines[to]
                && !self.owners.is_disputed_but_for_space(lines[to], *session);
            was.writer.filter(|_| is_theirs)
        };
        let all = open.iter().enumerate();
        all.map(|(to, is_open)| writer(to).filter(|_| *is_open))
            .collect()
    }

    /// Whether another than this session may have written this line, but for its white space.
    pub fn is_disputed(&self, line: &str, session: i64) -> bool {
        self.owners.is_disputed_but_for_space(line, session)
    }

    fn texts(&self) -> impl Iterator<Item = Option<&str>> {
        let slots = self.slots.iter().map(Option::as_ref);
        slots.map(|line| line.map(|line| &*line.text))
    }

    fn writer(&self, at: usize) -> Writer {
        self.slots.get(at)?.as_ref()?.writer
    }

    fn make(&mut self, number: ChangeNumber, made: &SessionEdit) {
        self.note_owners(made);
        if let Some(before) = &made.before {
            self.become_text(before);
        } else if made.is_new == Some(true) {
            self.slots.clear();
        }
        // Where the text before is known, so is what the call did to it. Else what its agent
        // recorded says more than what was asked for.
        let is_known = made.before.is_some() && made.changes.iter().all(|it| self.applies(it));
        match &made.hunks {
            Some(hunks) if !is_known => {
                hunks.iter().for_each(|hunk| self.patch(hunk, number, made));
                if let [.., Change::Write(text)] = &*made.changes {
                    self.become_text(text);
                }
            }
            _ => {
                let changes = made.changes.iter();
                changes.for_each(|change| self.change(change, number, made));
            }
        }
    }

    /// Notes whose the lines are that a change says anything of.
    fn note_owners(&mut self, made: &SessionEdit) {
        self.owners
            .stand(lines(made.before.as_deref().unwrap_or_default()));
        let hunks = made.hunks.iter();
        let asked = made.changes.iter().filter_map(|change| match change {
            Change::Hunks(hunks) => Some(hunks),
            _ => None,
        });
        for hunk in hunks.chain(asked).flatten() {
            let old: HashSet<&str> = hunk.iter().filter_map(HunkLine::before).collect();
            self.owners.stand(old.iter().copied());
            let new = hunk.iter().filter_map(HunkLine::after);
            let new = new.filter(|line| !old.contains(line));
            new.for_each(|line| self.owners.write(line, made.session));
        }
        for change in &made.changes {
            match change {
                Change::Replace { old, new, .. } => {
                    let old: HashSet<&str> = lines(old).into_iter().collect();
                    self.owners.stand(old.iter().copied());
                    let new = lines(new);
                    let new = new.iter().filter(|line| !old.contains(*line));
                    new.for_each(|line| self.owners.write(line, made.session));
                }
                Change::Write(text) => {
                    let before = made.before.as_deref().map(lines).unwrap_or_default();
                    let before: HashSet<&str> = before.into_iter().collect();
                    for line in lines(text) {
                        match before.contains(line) || made.seen.holds_whole(line) {
                            true => self.owners.stand([line]),
                            false => self.owners.write(line, made.session),
                        }
                    }
                }
                _ => {}
            }
        }
        let by_command = lines(&made.filled).into_iter();
        by_command.for_each(|line| self.owners.write(line, made.session));
    }

    /// Whether what a change needs to find is there.
    fn applies(&self, change: &Change) -> bool {
        match change {
            Change::Write(_) => true,
            Change::Replace { old, new, .. } => !self.blocks(old, new).is_empty(),
            _ => false,
        }
    }

    fn change(&mut self, change: &Change, number: ChangeNumber, made: &SessionEdit) {
        match change {
            Change::Write(text) => self.write(text, number, made),
            // So is a file made by a tool that replaces.
            Change::Replace { old, new, .. } if old.is_empty() => self.write(new, number, made),
            Change::Replace { old, new, all } => {
                let (old, new) = (plain(old), plain(new));
                self.replace(&old, &new, *all, number, made);
            }
            Change::Hunks(hunks) => hunks.iter().for_each(|hunk| self.patch(hunk, number, made)),
            Change::Delete | Change::Unknown => self.slots = vec![None],
            Change::Move(_) => {}
        }
    }

    /// Its text is this one now, whoever made it so.
    fn become_text(&mut self, text: &str) {
        let new = lines(text);
        let writers = self.writers(&new);
        self.slots = slots(new.into_iter().zip(writers));
    }

    /// A session writes all of it.
    fn write(&mut self, text: &str, number: ChangeNumber, made: &SessionEdit) {
        let new = lines(text);
        if made.before.is_some() || made.is_new == Some(true) {
            let after = rewritten(&self.slots, &new, made.writer(number), &self.sessions);
            self.slots = after.into_iter().map(|it| Some(it.line)).collect();
            return;
        }
        // What was there before is not known. A line that the session has read is whose it was.
        // One that it has not read is its own, unless another one wrote it as well.
        let old: Vec<Option<&str>> = self.texts().collect();
        let writers =
            new.iter()
                .zip(carry(&old, &new, Between::Anything))
                .map(|(line, origin)| {
                    let before = origin.same().and_then(|at| self.writer(at));
                    match made.seen.holds(line) {
                        true => before.filter(|_| made.seen.holds_whole(line)),
                        false if origin == Origin::New => made.writer(number),
                        false => before
                            .filter(|before| self.sessions.get(*before) == Some(&made.session)),
                    }
                });
        let writers: Vec<Writer> = writers.collect();
        self.slots = slots(new.into_iter().zip(writers));
    }

    /// Puts one text in place of another: where that is known to stand, else somewhere in a gap.
    fn replace(
        &mut self,
        old: &str,
        new: &str,
        all: bool,
        number: ChangeNumber,
        made: &SessionEdit,
    ) {
        let blocks = self.blocks(old, new);
        let found: usize = blocks.iter().map(|block| block.found).sum();
        if found == 0 || found > 1 && !all {
            self.add_island(&lines(old), &lines(new), number, made);
            return;
        }
        // From below, so that the places above stay.
        for block in blocks.into_iter().rev() {
            let text = block.text.replace(old, new);
            let before = &self.slots[block.lines.clone()];
            let after = rewritten(before, &lines(&text), made.writer(number), &self.sessions);
            let after = after.into_iter().map(|it| Some(it.line));
            self.slots.splice(block.lines, after);
        }
    }

    /// Puts lines between lines: where these are known to stand, else somewhere in a gap.
    fn patch(&mut self, hunk: &Hunk, number: ChangeNumber, made: &SessionEdit) {
        let old: Vec<&str> = hunk.iter().filter_map(HunkLine::before).collect();
        let new: Vec<&str> = hunk.iter().filter_map(HunkLine::after).collect();
        let is_here = |here: &[Option<Line>]| {
            let mut pairs = here.iter().zip(&old);
            pairs.all(|(slot, old)| slot.as_ref().is_some_and(|line| line.text == *old))
        };
        let windows = self.slots.windows(old.len().max(1)).enumerate();
        let mut places = windows.filter(|(_, here)| !old.is_empty() && is_here(here));
        match (places.next(), places.next()) {
            (Some((at, before)), None) => {
                let after = rewritten(before, &new, made.writer(number), &self.sessions);
                let after = after.into_iter().map(|it| Some(it.line));
                self.slots.splice(at..at + old.len(), after);
            }
            _ => self.add_island(&old, &new, number, made),
        }
    }

    /// Puts lines in place of others somewhere in the file. Where those that stay are known from
    /// elsewhere, that is where they are; those that go are gone; what another session wrote alike
    /// is nobody's from now on.
    fn add_island(&mut self, old: &[&str], new: &[&str], number: ChangeNumber, made: &SessionEdit) {
        let before = slots(old.iter().map(|line| (*line, None)));
        let mut island = rewritten(&before, new, made.writer(number), &self.sessions);
        let changed = ChangedLines::of(old, new, &self.slots);
        for Rewritten { line, is_kept } in &mut island {
            if *is_kept {
                line.writer = self.take(&line.text, &changed);
            } else {
                self.disown(&line.text, &changed, made.session);
            }
        }
        let stays: HashSet<&str> = new.iter().copied().collect();
        for line in old.iter().filter(|line| !stays.contains(*line)) {
            self.take(line, &changed);
            self.disown(line, &changed, made.session);
        }
        self.slots.push(None);
        self.slots
            .extend(island.into_iter().map(|it| Some(it.line)));
        self.slots.push(None);
    }

    /// Takes away the line that says this, because it turned out to stand among the old ones: where
    /// it says enough, is the only one of both, and stands beside what stands beside it there.
    fn take(&mut self, text: &str, changed: &ChangedLines<'_>) -> Writer {
        let [there] = changed.among_old(text) else {
            return None;
        };
        let mut here = changed.among_slots(text).iter().copied();
        let mut here = here.by_ref().filter(|at| self.slots[*at].is_some());
        let (Some(here), None) = (here.next(), here.next()) else {
            return None;
        };
        let same = |here: Option<usize>, there: Option<usize>| {
            let line = self.slots.get(here?)?.as_ref()?;
            Some(line.text == *changed.old.get(there?)?)
        };
        let above = same(here.checked_sub(1), there.checked_sub(1));
        let below = same(Some(here + 1), Some(there + 1));
        let is_there = above.unwrap_or(false) || below.unwrap_or(false);
        if !is_there || !super::is_telling(text) {
            return None;
        }
        self.slots[here].take()?.writer
    }

    /// Lines with this text are nobody's from now on. Those of the session that writes it again
    /// are not known to be there.
    fn disown(&mut self, text: &str, changed: &ChangedLines<'_>, session: i64) {
        let sessions = &self.sessions;
        for at in changed.among_slots(text) {
            let slot = &mut self.slots[*at];
            let Some(line) = slot else {
                continue;
            };
            let writer = line.writer.and_then(|writer| sessions.get(writer));
            match writer == Some(&session) {
                true => *slot = None,
                false => line.writer = None,
            }
        }
    }

    /// The lines in which a text stands that another one is put in place of, from above to below.
    fn blocks(&self, old: &str, new: &str) -> Vec<Block> {
        let old = plain(old);
        let mut blocks: Vec<Block> = Vec::new();
        let mut first = 0;
        for run in self.slots.split(Option::is_none) {
            let texts = run.iter().flatten().map(|line| &*line.text);
            let whole: String = texts.flat_map(|text| [text, "\n"]).collect();
            let found = whole.match_indices(&*old).filter(|_| !old.is_empty());
            let (mut counted, mut above) = (0, first);
            for (at, _) in found {
                // Without the end of its last line the next line is joined to it.
                let joins = usize::from(old.ends_with('\n') && !new.ends_with('\n'));
                above += ends(&whole[counted..at]);
                counted = at;
                let from = above;
                let to = from + ends(old.strip_suffix('\n').unwrap_or(&old)) + 1 + joins;
                let to = to.min(first + run.len());
                match blocks.last_mut() {
                    Some(last) if from < last.lines.end => {
                        last.lines.end = to.max(last.lines.end);
                        last.found += 1;
                    }
                    _ => blocks.push(Block {
                        lines: from..to,
                        found: 1,
                        text: String::new(),
                    }),
                }
            }
            first += run.len() + 1;
        }
        for block in &mut blocks {
            let lines = self.slots[block.lines.clone()].iter().flatten();
            let texts = lines.map(|line| &*line.text);
            block.text = texts.flat_map(|text| [text, "\n"]).collect();
        }
        blocks
    }
}

/// The lines that a change takes away or puts in: where each stands among those taken away, and
/// where in the file. True until a line of the file moves.
struct ChangedLines<'t> {
    old: &'t [&'t str],
    places: HashMap<&'t str, LinePlaces>,
}

#[derive(Default)]
struct LinePlaces {
    among_old: Vec<usize>,
    among_slots: Vec<usize>,
}

impl<'t> ChangedLines<'t> {
    fn of(old: &'t [&'t str], new: &[&'t str], slots: &[Option<Line>]) -> ChangedLines<'t> {
        let mut places: HashMap<&str, LinePlaces> = HashMap::new();
        for (at, line) in old.iter().enumerate() {
            places.entry(line).or_default().among_old.push(at);
        }
        for line in new {
            places.entry(line).or_default();
        }
        for (at, line) in slots.iter().enumerate() {
            let known = line.as_ref().and_then(|line| places.get_mut(&*line.text));
            if let Some(known) = known {
                known.among_slots.push(at);
            }
        }
        ChangedLines { old, places }
    }

    fn among_old(&self, text: &str) -> &[usize] {
        let places = self.places.get(text);
        places.map_or(&[], |places| &places.among_old)
    }

    fn among_slots(&self, text: &str) -> &[usize] {
        let places = self.places.get(text);
        places.map_or(&[], |places| &places.among_slots)
    }
}

impl SessionEdit {
    /// Who wrote what this change adds.
    fn writer(&self, number: ChangeNumber) -> Writer {
        Some(number).filter(|_| !self.is_uncertain)
    }
}

/// Lines in which a text stands.
struct Block {
    lines: Range<usize>,
    text: String,
    /// How often it stands there.
    found: usize,
}

/// Lines in place of others: those that stay keep their writers, the new ones have this one.
fn rewritten(
    before: &[Option<Line>],
    new: &[&str],
    writer: Writer,
    sessions: &[i64],
) -> Vec<Rewritten> {
    let texts = before.iter().map(|slot| slot.as_ref());
    let old: Vec<Option<&str>> = texts.map(|line| line.map(|line| &*line.text)).collect();
    let session = |writer: Writer| sessions.get(writer?).copied();
    let is_another = |line: &&Line| session(line.writer) != session(writer);
    let of_others = LazyCell::new(|| {
        let others = before.iter().flatten().filter(is_another);
        others.map(|line| &*line.text).collect::<HashSet<&str>>()
    });
    let origins = carry(&old, new, Between::One).into_iter().zip(new);
    let line = |(origin, text): (Origin, &&str)| {
        let writer = match origin {
            Origin::New => writer,
            Origin::Same(at) => before[at].as_ref().and_then(|line| line.writer),
            // Whichever it is, it is the same session's.
            Origin::Open => writer.filter(|_| !of_others.contains(*text)),
        };
        Rewritten {
            line: Line {
                text: (*text).to_owned(),
                writer,
            },
            is_kept: origin.same().is_some(),
        }
    };
    origins.map(line).collect()
}

fn slots<'t>(lines: impl IntoIterator<Item = (&'t str, Writer)>) -> Vec<Option<Line>> {
    let line = |(text, writer): (&str, Writer)| {
        let text = text.to_owned();
        Some(Line { text, writer })
    };
    lines.into_iter().map(line).collect()
}

/// How many lines end in a text.
fn ends(text: &str) -> usize {
    text.bytes().filter(|byte| *byte == b'\n').count()
}

/// A text with the ends of lines that all files have here.
fn plain(text: &str) -> String {
    text.replace("\r\n", "\n")
}
