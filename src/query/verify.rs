//! Do the stores equal the files? Every file is read again and compared with both stores.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::catalogue::Catalogue;
use crate::catalogue::entries::StoredEntry;
use crate::catalogue::read::Known;
use crate::catalogue::write::{ARRIVAL_BITS, flag};
use crate::format::Format;
use crate::index::{Error, Event, Index, RootSpec, Snapshot};
use crate::ingest::{Comparison, compare_source, leave_out};
use crate::model::{Class, Difference, SCHEMA_VERSION, Unread, Verification};
use crate::source::discover::{Stray, discover};
use crate::words::{Words, condemn};

impl Index {
    /// Read every file again and compare: bytes tiled by entries and problems, rows, session values, passages.
    ///
    /// Nothing is changed, but for a mark on a store that is damaged: searches pass such words over from then on, and the
    /// next sync builds it anew.
    pub fn verify(&self, progress: &mut dyn FnMut(Event)) -> Result<Verification, Error> {
        let _ = progress;
        let mut found = Verification {
            schema_version: SCHEMA_VERSION,
            ..Verification::default()
        };
        if !self.is_made() {
            found.differences.push(difference(
                "catalogue",
                None,
                "there is no catalogue".into(),
            ));
            return Ok(found);
        }
        let snapshot = self.snapshot()?;
        match self.compare(&snapshot, &mut found) {
            Err(error) if error.is_damage() => {
                let what = format!("{error}; nothing more of it can be compared");
                found.differences.push(difference("catalogue", None, what));
            }
            compared => compared?,
        }
        Ok(found)
    }

    fn compare(&self, snapshot: &Snapshot<'_>, found: &mut Verification) -> Result<(), Error> {
        let catalogue = snapshot.catalogue;
        if let Some(said) = catalogue.integrity()? {
            catalogue.condemn(&format!("{}: {said}", catalogue.path().display()));
            found.differences.push(difference("catalogue", None, said));
        }
        if catalogue.excluded_by()? != self.config.left_out_by() {
            let what = "what is to be left out has changed since the last sync".to_owned();
            found.differences.push(difference("catalogue", None, what));
        }
        if catalogue.owes_wipe()? {
            let what = "what was excluded is not wiped from the disk yet".to_owned();
            found.differences.push(difference("catalogue", None, what));
        }
        let words = snapshot.words()?;
        let mut expected: BTreeSet<(u64, Class)> = BTreeSet::new();
        // Entries of files that cannot be read now: the words may hold them.
        let mut untold: BTreeSet<u64> = BTreeSet::new();
        for spec in &self.config.roots {
            let Some(root) = catalogue.root_of(&spec.agent, &spec.path)? else {
                continue;
            };
            let Some(format) = self.config.format(&spec.format) else {
                continue;
            };
            let known_sources = catalogue.known_sources(root)?;
            let is_there =
                self.verify_root(catalogue, root, spec, format, &known_sources, found)?;
            for known in known_sources {
                let path = spec.path.join(&known.relative);
                let outcome = match is_there {
                    true => settled(catalogue, root, &path, &known, format)?,
                    false => Comparison::default(),
                };
                if !is_there || outcome.unread.is_some() {
                    let entries = catalogue.entries_of_source(known.source)?;
                    untold.extend(entries.iter().map(|entry| entry.key as u64));
                    // Of a folder that cannot be read one line is enough.
                    if let Some(reason) = outcome.unread
                        && !found.unread.iter().any(|u| path.starts_with(&u.path))
                    {
                        found.unread.push(Unread { path, reason });
                    }
                    continue;
                }
                found.sources += 1;
                found.bytes_read += outcome.bytes_read;
                found.entries += outcome.entries;
                expected.extend(outcome.passages);
                found.differences.extend(
                    outcome
                        .differences
                        .into_iter()
                        .map(|what| difference("catalogue", Some(path.clone()), what)),
                );
            }
        }
        found.passages = expected.len() as u64;
        for what in catalogue.orphans()? {
            found.differences.push(difference("catalogue", None, what));
        }
        let unready = catalogue.ready_rows_that_differ()?;
        if unready > 0 {
            let what =
                format!("{unready} sessions have another row in the list than in their columns");
            found.differences.push(difference("catalogue", None, what));
        }
        let chains = catalogue.chains_that_differ()?;
        if chains > 0 {
            let what = format!("{chains} runs of entries are not as the entries say");
            found.differences.push(difference("catalogue", None, what));
        }
        if let Some(why) = &words.damage {
            found
                .differences
                .push(difference("words", None, why.clone()));
        } else {
            self.verify_words(
                catalogue,
                words.words.as_deref(),
                words.done,
                expected,
                &untold,
                found,
            )?;
        }
        Ok(())
    }

    /// Every file below a root is a source, or a stray with its reason. `false`: the root cannot be read.
    fn verify_root(
        &self,
        catalogue: &Catalogue,
        root: i64,
        spec: &RootSpec,
        format: &dyn Format,
        known: &[Known],
        found: &mut Verification,
    ) -> Result<bool, Error> {
        if catalogue.root_is(root)? != (spec.format.clone(), spec.label.clone(), spec.flat) {
            let what = "its format, label or shape differs from what is asked for".to_string();
            found
                .differences
                .push(difference("catalogue", Some(spec.path.clone()), what));
        }
        let links = self.config.links(&spec.agent);
        let mut discovery = discover(&spec.path, spec.flat, format, &links);
        let exclude = &self.config.exclude;
        let left = leave_out(catalogue, Some(root), spec, format, exclude, &mut discovery)?;
        if let Some(reason) = discovery.error {
            let path = spec.path.clone();
            found.unread.push(Unread { path, reason });
            return Ok(false);
        }
        let unread = discovery.unreadable.iter().map(|unread| Unread {
            path: spec.path.join(&unread.relative),
            reason: unread.reason.clone(),
        });
        found.unread.extend(unread);
        let mut stored: BTreeMap<String, Stray> = catalogue
            .strays(root)?
            .into_iter()
            .map(|stray| (stray.relative.clone(), stray))
            .collect();
        let sources: BTreeSet<&str> = known.iter().map(|k| k.relative.as_str()).collect();
        let mut differences = Vec::new();
        let mut tell = |relative: &str, what: &str| {
            differences.push(difference(
                "catalogue",
                Some(spec.path.join(relative)),
                what.to_string(),
            ));
        };
        if left.files != catalogue.excluded_files(root)? {
            tell("", "has another number of excluded files");
        }
        for file in &discovery.found {
            if sources.contains(file.relative.as_str()) {
                continue;
            }
            // A new file that could not be read is told as a stray.
            match stored.remove(&file.relative) {
                Some(stray) => found.unread.push(Unread {
                    path: spec.path.join(&file.relative),
                    reason: stray.reason,
                }),
                None => tell(&file.relative, "is not in the catalogue"),
            }
        }
        // Of two reasons for one path the first is kept.
        let expected: BTreeMap<&String, &Stray> = discovery
            .unreadable
            .iter()
            .chain(&discovery.strays)
            .map(|stray| (&stray.relative, stray))
            .collect();
        for (relative, stray) in expected {
            if stored.remove(relative).as_ref() != Some(stray) {
                tell(
                    relative,
                    "is not told as a file that is no source, or for another reason",
                );
            }
        }
        for relative in stored.keys() {
            tell(relative, "is told as no source, and is not there");
        }
        // None of them is known before the first scan of a newer version.
        let mut folders = catalogue.folder_files(root)?;
        let known_folders = !folders.is_empty();
        for folder in &discovery.folders {
            if folders.remove(&folder.relative) != Some(folder.files) && known_folders {
                tell(&folder.relative, "is not known as the directory it is");
            }
        }
        for relative in folders.keys() {
            tell(relative, "is known as a directory, and is not there");
        }
        found.differences.append(&mut differences);
        Ok(true)
    }

    fn verify_words(
        &self,
        catalogue: &Catalogue,
        words: Option<&Words>,
        done: i64,
        expected: BTreeSet<(u64, Class)>,
        untold: &BTreeSet<u64>,
        found: &mut Verification,
    ) -> Result<(), Error> {
        let owed = catalogue.owed(done)?;
        let dead = catalogue.dead(done)?;
        // Provisional entries are never given to the words.
        let is_owed = |entry: &StoredEntry| {
            entry.flags & flag::PROVISIONAL != 0
                || owed.iter().any(|item| {
                    (item.first..=item.last).contains(&entry.key)
                        && item.answers == (entry.flags & flag::ANSWER != 0)
                })
        };
        let mut have = BTreeSet::new();
        if let Some(words) = words {
            // A file that cannot even be asked for its checksum is as damaged.
            let damaged: Vec<String> = match words.damaged_files() {
                Ok(names) => names
                    .iter()
                    .map(|name| format!("{name} is damaged"))
                    .collect(),
                Err(error) => vec![error.to_string()],
            };
            for what in &damaged {
                found
                    .differences
                    .push(difference("words", None, what.clone()));
            }
            // Reading on in files that lie about their own shape makes tantivy panic, and the next search would find
            // what they say now.
            if !damaged.is_empty() {
                let why = format!("the words cannot be read: {}", damaged.join(", "));
                condemn(&self.config.words_dir(), &why);
                return Ok(());
            }
            let keys = match words.keys() {
                Ok(keys) => keys,
                Err(error) => {
                    let what = error.to_string();
                    found.differences.push(difference("words", None, what));
                    return Ok(());
                }
            };
            for (key, class) in keys {
                if dead
                    .iter()
                    .any(|d| (d.first as u64..=d.last as u64).contains(&key))
                {
                    continue;
                }
                if !have.insert((key, class)) {
                    found.differences.push(difference(
                        "words",
                        None,
                        format!("entry {key} is there twice"),
                    ));
                }
            }
        }
        for (key, class) in &expected {
            if have.contains(&(*key, *class)) {
                continue;
            }
            if !catalogue.entry(*key as i64)?.is_some_and(|e| is_owed(&e)) {
                found.differences.push(difference(
                    "words",
                    None,
                    format!("entry {key} ({class:?}) is missing"),
                ));
            }
        }
        for (key, class) in &have {
            if !expected.contains(&(*key, *class)) && !untold.contains(key) {
                let session = key >> ARRIVAL_BITS;
                found.differences.push(difference(
                    "words",
                    None,
                    format!("entry {key} ({class:?}, session {session}) is in no file"),
                ));
            }
        }
        Ok(())
    }
}

/// How often a source is compared that is written meanwhile.
const TRIES: usize = 3;

/// A comparison during which nobody has written what is stored of the source, unless that happens again and again.
fn settled(
    catalogue: &Catalogue,
    root: i64,
    path: &Path,
    known: &Known,
    format: &dyn Format,
) -> Result<Comparison, Error> {
    let mut known = Cow::Borrowed(known);
    let paths = BTreeSet::from([known.relative.clone()]);
    for _ in 1..TRIES {
        let compared = compare_source(catalogue, root, path, &known, format)?;
        if compared.differences.is_empty() {
            return Ok(compared);
        }
        let mut now = catalogue.known_at(root, &paths)?.into_iter();
        match now.find(|now| now.source == known.source) {
            Some(now) if now.stored != known.stored => known = Cow::Owned(now),
            _ => return Ok(compared),
        }
    }
    Ok(compare_source(catalogue, root, path, &known, format)?)
}

fn difference(store: &str, source: Option<std::path::PathBuf>, what: String) -> Difference {
    Difference {
        store: store.to_string(),
        source,
        what,
    }
}
