//! Do the words hold the passages that the files have, and no others?
//!
//! All that they hold is read once, in one state. Each source claims what is its own. What is
//! lacking then, and what nobody has claimed, may have come or gone since: these entries alone are
//! looked at again, in a state of both stores whose batches agree.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs::File;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;

use super::Inspection;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::outbox::{OutboxItem, StaleKeys};
use crate::catalogue::write::flag;
use crate::error::Error;
use crate::ingest::{Comparison, WordsState, entry_bytes, passages};
use crate::model::Class;
use crate::words::{Words, condemn};

/// How often the words are asked for that do not go with the catalogue, or are damaged: while
/// nobody writes, and while somebody does, who may be making them anew.
const TRIES: (usize, usize) = (3, 50);
/// Between two of them, for whoever writes.
const PAUSE: Duration = Duration::from_millis(20);
/// Entries that are looked at again in one state.
const AT_ONCE: usize = 1 << 16;

/// What the words of one state hold, and what they are owed then.
#[derive(Default)]
pub(super) struct Passages {
    /// Ascending.
    held: Vec<(u64, Class)>,
    /// Of each, whether it is known whose it is.
    claimed: Vec<bool>,
    /// By source.
    owed: HashMap<i64, Vec<OutboxItem>>,
    dead: Vec<StaleKeys>,
    /// Entries to be looked at again.
    doubtful: BTreeSet<u64>,
}

impl Passages {
    /// All that the words hold; `None` when they cannot be read, and that is told.
    pub(super) fn open(inspection: &mut Inspection<'_>) -> Result<Option<Passages>, Error> {
        let catalogue = inspection.catalogue;
        let mut tries = RetryBudget::default();
        let (found, owed, dead, damaged) = loop {
            let (found, owed, dead) = inspection.with_words(&mut |found| {
                let (owed, dead) = (catalogue.owed(found.done)?, catalogue.dead(found.done)?);
                Ok((found, owed, dead))
            })?;
            let damaged = found.words.as_deref().map_or_else(Vec::new, damage_of);
            // Files are not there either while the words are thrown away.
            if damaged.is_empty() || !tries.once_more(inspection) {
                break (found, owed, dead, damaged);
            }
        };
        if let Some(why) = &found.damage {
            inspection.differs("words", None, why.clone());
            return Ok(None);
        }
        let mut passages = Passages {
            dead,
            ..Passages::default()
        };
        for item in owed {
            passages.owed.entry(item.source).or_default().push(item);
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
                inspection.differs("words", None, error.to_string());
                return Ok(None);
            }
        };
        passages.claimed = vec![false; passages.held.len()];
        Ok(Some(passages))
    }

    /// What was compared has these passages.
    pub(super) fn claim(&mut self, compared: &Comparison) {
        for expected in &compared.passages {
            let place = self.held.binary_search(&(expected.key, expected.class));
            match place {
                Ok(at) => self.claimed[at] = true,
                Err(_) => {
                    let owed = compared.source.and_then(|source| self.owed.get(&source));
                    let mut owed = owed.into_iter().flatten();
                    if !owed.any(|item| is_owed(item, expected.key, expected.answers)) {
                        self.doubtful.insert(expected.key);
                    }
                }
            }
        }
        for key in &compared.untold {
            self.pass_over(*key);
        }
    }

    /// Nobody can say what this entry has.
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

fn is_owed(item: &OutboxItem, key: u64, answers: bool) -> bool {
    (item.first as u64..=item.last as u64).contains(&key) && item.answers == answers
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
        // Files that cannot even be listed are as damaged.
        Err(error) => vec![error.to_string()],
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

/// An entry in doubt, in one state of both stores.
struct SuspectEntry {
    entry: Option<StoredEntry>,
    /// What the words have of it.
    held: Vec<Class>,
    is_owed: bool,
    is_dead: bool,
}

impl Inspection<'_> {
    /// Ask of both stores, on one snapshot. Words that are just made anew are waited for, and in
    /// the end it is asked without them.
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

    /// Files of the words are damaged: that is told, and marked.
    fn condemn_words(&mut self, damaged: Vec<String>) {
        // Reading on in files that lie about their own shape makes tantivy panic, and the next
        // search would find what they say now.
        let why = format!("the words cannot be read: {}", damaged.join(", "));
        condemn(&self.stores.config.words_dir(), &why);
        for what in damaged {
            self.differs("words", None, what);
        }
    }

    /// Look at these entries again, ascending, in a newer state of both stores.
    fn look_again(&mut self, keys: &[u64]) -> Result<(), Error> {
        let catalogue = self.catalogue;
        let mut places: HashMap<i64, (PathBuf, String)> = HashMap::new();
        let (doubts, has_words) = self.with_words(&mut |found| {
            let (owed, dead) = (catalogue.owed(found.done)?, catalogue.dead(found.done)?);
            let mut held: HashMap<u64, Vec<Class>> = HashMap::new();
            let all = found.words.as_ref().map(|words| words.keys()).transpose()?;
            for (key, class) in all.unwrap_or_default() {
                if keys.binary_search(&key).is_ok() {
                    held.entry(key).or_default().push(class);
                }
            }
            let mut doubts = Vec::with_capacity(keys.len());
            for key in keys {
                let entry = catalogue.entry(*key as i64)?;
                let is_owed = entry.as_ref().is_some_and(|entry| {
                    let answers = entry.flags & flag::ANSWER != 0;
                    let mut owed = owed.iter().filter(|item| item.source == entry.source);
                    owed.any(|item| is_owed(item, *key, answers))
                });
                if let Some(entry) = &entry
                    && !places.contains_key(&entry.source)
                    && let Some(place) = catalogue.source_place(entry.source)?
                {
                    places.insert(entry.source, place);
                }
                doubts.push(SuspectEntry {
                    entry,
                    held: held.remove(key).unwrap_or_default(),
                    is_owed,
                    is_dead: is_dead(&dead, *key),
                });
            }
            Ok((doubts, found.words.is_some()))
        })?;
        // The transaction has ended: now the files may be read.
        let mut told: BTreeMap<i64, (String, u64)> = BTreeMap::new();
        let (mut nowhere, mut open): (u64, Option<(i64, Option<File>)>) = (0, None);
        for mut doubt in doubts {
            if doubt.is_dead {
                doubt.held.clear();
            }
            let Some(entry) = &doubt.entry else {
                nowhere += u64::from(!doubt.held.is_empty());
                continue;
            };
            let Some((path, format)) = places.get(&entry.source) else {
                continue;
            };
            if open
                .as_ref()
                .is_none_or(|(source, _)| *source != entry.source)
            {
                open = Some((entry.source, None));
            }
            let file = &mut open.get_or_insert((entry.source, None)).1;
            let Some(expected) = self.expected(entry, path, format, file) else {
                continue;
            };
            if let Some(what) = doubt.differs(entry, &expected) {
                let (_, more) = told.entry(entry.source).or_insert((what, 0));
                *more += 1;
            }
        }
        if nowhere > 0 {
            let what = format!("{nowhere} entries are in no file");
            self.differs("words", None, what);
        }
        // Whoever makes them anew has thrown away what was there, and does not owe it yet.
        if !has_words && !told.is_empty() && self.stores.config.has_writer() {
            self.behind("words", None, "are being rebuilt".into());
            return Ok(());
        }
        for (source, (what, entries)) in told {
            let what = match entries {
                1 => what,
                _ => format!("{what}; and {} more entries", entries - 1),
            };
            if let Some((path, _)) = places.get(&source) {
                self.differs("words", Some(path), what);
            }
        }
        Ok(())
    }

    /// The classes of the passages of an entry; `None` when its bytes are no longer there.
    fn expected(
        &self,
        entry: &StoredEntry,
        path: &std::path::Path,
        format: &str,
        file: &mut Option<File>,
    ) -> Option<Vec<Class>> {
        // Provisional entries are never given to the words.
        if entry.flags & flag::PROVISIONAL != 0 {
            return Some(Vec::new());
        }
        let format = self.stores.config.format(format)?;
        let record = entry_bytes(path, file, entry.start, entry.length, entry.hash);
        let record = record.ok().flatten()?;
        let told = (entry.flags, entry.stop_reason.is_some());
        let passages = passages(format, path, &record, told);
        Some(passages.iter().map(|passage| passage.class).collect())
    }
}

impl SuspectEntry {
    /// What differs, if anything does.
    fn differs(&self, entry: &StoredEntry, expected: &[Class]) -> Option<String> {
        let line = entry.line;
        let is_lacking = |class: &&Class| !self.held.contains(class) && !self.is_owed;
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
