//! Do the words hold the passages that the files have, and no others?
//!
//! All that they hold is read once, in one state. Each source claims what is its own. What is
//! missing then, and what nobody has claimed, may have come or gone since. Only these entries are
//! looked at again, in a state of both stores whose batches agree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::time::Duration;

use super::Inspection;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::outbox::{OutboxItem, StaleKeys};
use crate::catalogue::write::flag;
use crate::causes::with_causes;
use crate::error::Error;
use crate::ingest::{Comparison, OpenSource, WordsState, passages};
use crate::model::{Class, StoreName};
use crate::source::content::Location;
use crate::words::{Words, condemn};

/// How often words that are damaged, or belong to another state of the catalogue, are asked for
/// again: while nobody writes, and while somebody does, who may be rebuilding them.
const TRIES: (usize, usize) = (3, 50);
/// How long to wait between two tries while somebody writes.
const PAUSE: Duration = Duration::from_millis(20);
/// At most so many entries are looked at again in one state of both stores.
const AT_ONCE: usize = 1 << 16;

/// What the words of one state hold, and what they lack then.
#[derive(Default)]
pub(super) struct Passages {
    /// Ascending.
    held: Vec<(u64, Class)>,
    /// Of each, whether some source has claimed it.
    claimed: Vec<bool>,
    /// By source.
    outbox: HashMap<i64, Vec<OutboxItem>>,
    dead: Vec<StaleKeys>,
    /// Entries to be looked at again.
    doubtful: BTreeSet<u64>,
}

impl Passages {
    /// All that the words hold; `None` when they cannot be read, which is reported.
    pub(super) fn open(inspection: &mut Inspection<'_>) -> Result<Option<Passages>, Error> {
        let catalogue = inspection.catalogue;
        let mut tries = RetryBudget::default();
        let (found, outbox, dead, damaged) = loop {
            let (found, outbox, dead) = inspection.with_words(&mut |found| {
                let (outbox, dead) = (catalogue.outbox(found.done)?, catalogue.dead(found.done)?);
                Ok((found, outbox, dead))
            })?;
            let damaged = found.words.as_deref().map_or_else(Vec::new, damage_of);
            // While somebody throws the words away, files are missing as well.
            if damaged.is_empty() || !tries.once_more(inspection) {
                break (found, outbox, dead, damaged);
            }
        };
        if let Some(why) = &found.damage {
            inspection.differs(StoreName::Words, None, why.clone());
            return Ok(None);
        }
        let mut passages = Passages {
            dead,
            ..Passages::default()
        };
        for item in outbox {
            passages.outbox.entry(item.source).or_default().push(item);
        }
        let Some(words) = &found.words else {
            return Ok(Some(passages));
        };
        if !damaged.is_empty() {
            inspection.condemn_words(damaged);
            return Ok(None);
        }
        passages.held = match words.keys() {
            Ok(keys) => keys,
            Err(error) => {
                inspection.differs(StoreName::Words, None, with_causes(&error));
                return Ok(None);
            }
        };
        passages.claimed = vec![false; passages.held.len()];
        Ok(Some(passages))
    }

    /// Mark the passages of a source that was compared as its own.
    pub(super) fn claim(&mut self, compared: &Comparison) {
        for expected in &compared.passages {
            let place = self.held.binary_search(&(expected.key, expected.class));
            match place {
                Ok(at) => self.claimed[at] = true,
                Err(_) => {
                    let outbox = compared.source.and_then(|source| self.outbox.get(&source));
                    let mut outbox = outbox.into_iter().flatten();
                    if !outbox.any(|item| is_in_outbox(item, expected.key, expected.of_tools)) {
                        self.doubtful.insert(expected.key);
                    }
                }
            }
        }
        for key in &compared.unread_entries {
            self.pass_over(*key);
        }
    }

    /// Accept whatever the words have of an entry whose passages nobody can name.
    fn pass_over(&mut self, key: u64) {
        let from = self.held.partition_point(|(held, _)| *held < key);
        let of_key = self.held[from..]
            .iter()
            .take_while(|(held, _)| *held == key);
        let until = from + of_key.count();
        self.claimed[from..until].fill(true);
    }

    /// After the last source: look again at what is in doubt.
    pub(super) fn settle(mut self, inspection: &mut Inspection<'_>) -> Result<(), Error> {
        for (at, (key, _)) in self.held.iter().enumerate() {
            let is_twice =
                at.checked_sub(1).map(|before| &self.held[before]) == Some(&self.held[at]);
            if (is_twice || !self.claimed[at]) && !is_dead(&self.dead, *key) {
                self.doubtful.insert(*key);
            }
        }
        let doubtful: Vec<u64> = self.doubtful.into_iter().collect();
        for part in doubtful.chunks(AT_ONCE) {
            inspection.look_again(part)?;
        }
        Ok(())
    }
}

fn is_in_outbox(item: &OutboxItem, key: u64, of_tools: bool) -> bool {
    (item.first as u64..=item.last as u64).contains(&key) && item.of_tools == of_tools
}

fn is_dead(dead: &[StaleKeys], key: u64) -> bool {
    let holds = |dead: &StaleKeys| (dead.first as u64..=dead.last as u64).contains(&key);
    dead.iter().any(holds)
}

/// What is damaged of the words.
fn damage_of(words: &Words) -> Vec<String> {
    match words.damaged_files() {
        Ok(names) => names
            .iter()
            .map(|name| format!("{name} is damaged"))
            .collect(),
        // Files that cannot even be listed count as damaged.
        Err(error) => vec![with_causes(&error)],
    }
}

/// How often something was tried.
#[derive(Default)]
struct RetryBudget(usize);

impl RetryBudget {
    /// Whether to try again; whoever writes is given some time.
    fn once_more(&mut self, inspection: &Inspection<'_>) -> bool {
        self.0 += 1;
        let is_written = inspection.stores.config.has_writer();
        let most = match is_written {
            true => TRIES.1,
            false => TRIES.0,
        };
        let again = self.0 < most;
        if again && is_written {
            std::thread::sleep(PAUSE);
        }
        again
    }
}

/// Entries in doubt, in one state of both stores.
struct SuspectEntries {
    entries: Vec<SuspectEntry>,
    /// Path and format of each of their sources.
    places: HashMap<i64, (Location, String)>,
    /// There are words in this state.
    has_words: bool,
}

/// An entry in doubt.
struct SuspectEntry {
    entry: Option<StoredEntry>,
    /// What the words have of it, unless that is known to be outdated.
    held: Vec<Class>,
    is_in_outbox: bool,
}

/// How the words differ from the files.
#[derive(Default)]
struct Differences {
    /// By source: the first difference, and how many entries differ.
    by_source: BTreeMap<i64, (String, u64)>,
    /// Entries that the words have and no source does.
    nowhere: u64,
}

impl Inspection<'_> {
    /// Ask both stores, on one snapshot. Words that are just being rebuilt are waited for; when
    /// that takes too long, the question is asked without them.
    fn with_words<T>(
        &self,
        ask: &mut dyn FnMut(Rc<WordsState>) -> Result<T, Error>,
    ) -> Result<T, Error> {
        let mut tries = RetryBudget::default();
        loop {
            let (found, _) = self.stores.ask(&mut |snapshot| {
                let found = snapshot.words()?;
                match found.words.is_some() {
                    true => ask(found).map(Ok),
                    false => Ok(Err(found)),
                }
            });
            match found? {
                Ok(asked) => return Ok(asked),
                Err(_) if tries.once_more(self) => {}
                Err(found) => return self.catalogue.at_one_moment(|| ask(found)),
            }
        }
    }

    /// Reports damaged files of the words, and marks the words as damaged.
    fn condemn_words(&mut self, damaged: Vec<String>) {
        // Reading on in damaged files could make tantivy panic, and the next search would trust
        // what they say now.
        let why = format!("the words cannot be read: {}", damaged.join(", "));
        condemn(&self.stores.config.words_dir(), &why);
        for what in damaged {
            self.differs(StoreName::Words, None, what);
        }
    }

    /// Look at these entries again, ascending, in a newer state of both stores.
    fn look_again(&mut self, keys: &[u64]) -> Result<(), Error> {
        let suspects = self.suspects(keys)?;
        // The transaction has ended: now the files may be read.
        let differences = self.differences(&suspects);
        if differences.nowhere > 0 {
            let what = format!("{} entries are in no file", differences.nowhere);
            self.differs(StoreName::Words, None, what);
        }
        // Whoever rebuilds the words has thrown away what was there, and has not put it into the
        // outbox yet.
        let is_rebuilt = !suspects.has_words && self.stores.config.has_writer();
        if is_rebuilt && !differences.by_source.is_empty() {
            self.behind(StoreName::Words, None, "are being rebuilt".into());
            return Ok(());
        }
        for (source, (what, entries)) in differences.by_source {
            let what = match entries {
                1 => what,
                _ => format!("{what}; and {} more entries", entries - 1),
            };
            if let Some((path, _)) = suspects.places.get(&source) {
                self.differs(StoreName::Words, Some(path), what);
            }
        }
        Ok(())
    }

    /// What both stores hold of these entries, in one state of the two.
    fn suspects(&self, keys: &[u64]) -> Result<SuspectEntries, Error> {
        let catalogue = self.catalogue;
        let mut places: HashMap<i64, (Location, String)> = HashMap::new();
        let (entries, has_words) = self.with_words(&mut |found| {
            let (outbox, dead) = (catalogue.outbox(found.done)?, catalogue.dead(found.done)?);
            let mut held: HashMap<u64, Vec<Class>> = HashMap::new();
            let all = found.words.as_ref().map(|words| words.keys()).transpose()?;
            for (key, class) in all.unwrap_or_default() {
                if keys.binary_search(&key).is_ok() {
                    held.entry(key).or_default().push(class);
                }
            }
            let mut entries = Vec::with_capacity(keys.len());
            for key in keys {
                let entry = catalogue.entry(*key as i64)?;
                let is_in_outbox = entry.as_ref().is_some_and(|entry| {
                    let of_tools = entry.flags & flag::TOOL_RESULT != 0;
                    let mut outbox = outbox.iter().filter(|item| item.source == entry.source);
                    outbox.any(|item| is_in_outbox(item, *key, of_tools))
                });
                if let Some(entry) = &entry
                    && !places.contains_key(&entry.source)
                    && let Some(place) = catalogue.source_place(entry.source)?
                {
                    places.insert(entry.source, place);
                }
                let mut held = held.remove(key).unwrap_or_default();
                if is_dead(&dead, *key) {
                    held.clear();
                }
                entries.push(SuspectEntry {
                    entry,
                    held,
                    is_in_outbox,
                });
            }
            Ok((entries, found.words.is_some()))
        })?;
        Ok(SuspectEntries {
            entries,
            places,
            has_words,
        })
    }

    /// Hold what the words have of these entries against the files.
    fn differences(&self, suspects: &SuspectEntries) -> Differences {
        let mut differences = Differences::default();
        let mut open: Option<(i64, OpenSource)> = None;
        for suspect in &suspects.entries {
            let Some(entry) = &suspect.entry else {
                differences.nowhere += u64::from(!suspect.held.is_empty());
                continue;
            };
            let Some((path, format)) = suspects.places.get(&entry.source) else {
                continue;
            };
            let source = match &mut open {
                Some((source, opened)) if *source == entry.source => opened,
                _ => {
                    let Some(format) = self.stores.config.format(format) else {
                        continue;
                    };
                    let opened = OpenSource::new(path.clone(), format);
                    &mut open.insert((entry.source, opened)).1
                }
            };
            let Some(expected) = expected(entry, source) else {
                continue;
            };
            if let Some(what) = suspect.differs(entry, &expected) {
                let of_source = differences.by_source.entry(entry.source);
                let (_, entries) = of_source.or_insert((what, 0));
                *entries += 1;
            }
        }
        differences
    }
}

/// The classes of the passages of an entry; `None` when its bytes are no longer there.
fn expected(entry: &StoredEntry, source: &mut OpenSource) -> Option<Vec<Class>> {
    // Provisional entries are never given to the words.
    if entry.flags & flag::PROVISIONAL != 0 {
        return Some(Vec::new());
    }
    let record = source.record(entry).ok().flatten()?;
    let (flags, ended) = (entry.flags, entry.stop_reason.is_some());
    let passages = passages(source.format, &source.path, &record, flags, ended);
    Some(passages.iter().map(|passage| passage.class).collect())
}

impl SuspectEntry {
    /// What differs, if anything does.
    fn differs(&self, entry: &StoredEntry, expected: &[Class]) -> Option<String> {
        let line = entry.line;
        let is_lacking = |class: &&Class| !self.held.contains(class) && !self.is_in_outbox;
        if let Some(class) = expected.iter().find(is_lacking) {
            return Some(format!("line {line}: the entry's {class:?} is missing"));
        }
        let is_foreign = |class: &&Class| !expected.contains(class);
        if let Some(class) = self.held.iter().find(is_foreign) {
            return Some(format!("line {line}: the entry has no {class:?}"));
        }
        let is_twice = self.held.len() > expected.len();
        is_twice.then(|| format!("line {line}: the entry is there twice"))
    }
}
