//! Do the stores equal the files? Every file is read again and compared with both stores.
//!
//! Agents write meanwhile, and so may a sync. What a file holds beyond its catalogued end, and what
//! nobody has catalogued yet, is *behind*: the next sync reads it. Only what the stores say of
//! bytes that are still there can *differ*.

mod roots;
mod words;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::Stores;
use crate::catalogue::Catalogue;
use crate::catalogue::read::StoredSource;
use crate::causes::with_causes;
use crate::error::Error;
use crate::format::Format;
use crate::ingest::{Finding, compare_source};
use crate::model::Event;
use crate::model::{
    Difference, FileVerdict, SCHEMA_VERSION, StoreName, UnreadablePath, Verdict, Verification,
};
use crate::source::content::Location;

use self::words::Passages;

/// What [`Index::verify`](crate::Index::verify) does, but for reading again what has changed.
pub(crate) fn verify(
    stores: &Stores,
    progress: &mut dyn FnMut(Event),
) -> Result<Verification, Error> {
    if !stores.is_made {
        return Ok(Verification {
            schema_version: SCHEMA_VERSION,
            differences: vec![difference(
                StoreName::Catalogue,
                None,
                "there is no catalogue".into(),
            )],
            ..Verification::default()
        });
    }
    let mut inspection = Inspection {
        stores,
        catalogue: &stores.catalogue,
        found: Verification {
            schema_version: SCHEMA_VERSION,
            ..Verification::default()
        },
        files: BTreeMap::new(),
    };
    match inspection.run(progress) {
        Err(error) if error.is_damage() => {
            let what = format!(
                "{}; nothing more of it can be compared",
                with_causes(&error)
            );
            inspection.differs(StoreName::Catalogue, None, what);
        }
        run => run?,
    }
    progress(Event::Done);
    Ok(inspection.end())
}

fn difference(store: StoreName, source: Option<PathBuf>, what: String) -> Difference {
    Difference {
        store,
        source,
        what,
    }
}

/// A source to be compared.
struct Source<'i> {
    root: i64,
    path: Location,
    known: StoredSource,
    format: &'i dyn Format,
}

/// What the inspection has found so far.
struct Inspection<'i> {
    stores: &'i Stores,
    catalogue: &'i Catalogue,
    found: Verification,
    files: BTreeMap<PathBuf, (Verdict, Vec<String>)>,
}

impl<'i> Inspection<'i> {
    fn run(&mut self, progress: &mut dyn FnMut(Event)) -> Result<(), Error> {
        self.whole_catalogue()?;
        let passages = Passages::open(self)?;
        let mut sources = Vec::new();
        let config = &self.stores.config;
        for spec in &config.roots {
            if let Some(format) = config.format(&spec.format) {
                sources.extend(self.root(spec, format)?);
            }
        }
        let passages = self.compare_all(&sources, passages, progress)?;
        if let Some(passages) = passages {
            passages.settle(self)?;
        }
        Ok(())
    }

    /// What can be asked of the catalogue without any file. Each question is asked of one moment.
    fn whole_catalogue(&mut self) -> Result<(), Error> {
        let catalogue = self.catalogue;
        if let Some(said) = catalogue.integrity()? {
            catalogue.condemn(&format!("{}: {said}", catalogue.path().display()));
            self.differs(StoreName::Catalogue, None, said);
        }
        if catalogue.is_wipe_requested()? {
            let what =
                "what was removed has not been wiped from the disk yet: the next sync does it";
            self.behind(StoreName::Catalogue, None, what.into());
        }
        if catalogue.excluded_by()? != self.stores.config.left_out_by() {
            let what = "the exclusion rules have changed since the last sync";
            // A running writer does this before anything else.
            match self.stores.config.has_writer() {
                true => self.behind(StoreName::Catalogue, None, what.into()),
                false => self.differs(StoreName::Catalogue, None, what.into()),
            }
        }
        for what in catalogue.orphans()? {
            self.differs(StoreName::Catalogue, None, what);
        }
        let unready = catalogue.ready_rows_that_differ()?;
        if unready > 0 {
            let what =
                format!("{unready} sessions have a list row that differs from their columns");
            self.differs(StoreName::Catalogue, None, what);
        }
        for (wrong, what) in [
            (
                catalogue.wrong_parents()?,
                "sessions have a different parent from the one that they name",
            ),
            (
                catalogue.wrongly_counted()?,
                "answers are counted where they should not be, or not counted",
            ),
            (
                catalogue.wrongly_answered()?,
                "calls have a different answer from the one that follows them",
            ),
            (
                catalogue.wrong_sums(&self.stores.config.zone)?,
                "sums of answers or calls are not what they should be",
            ),
        ] {
            if wrong > 0 {
                self.differs(StoreName::Catalogue, None, format!("{wrong} {what}"));
            }
        }
        Ok(())
    }

    /// Compare each source with its rows, and its passages with the words.
    fn compare_all(
        &mut self,
        sources: &[Source<'_>],
        mut passages: Option<Passages>,
        progress: &mut dyn FnMut(Event),
    ) -> Result<Option<Passages>, Error> {
        let size = |source: &Source<'_>| source.known.stored.length;
        let (mut files, mut bytes) = (0, 0);
        progress(Event::Discovered {
            files: sources.len() as u64,
            bytes: sources.iter().map(size).sum(),
        });
        for source in sources {
            let (mut read, mut most) = (0, 0);
            let mut report = |more: u64| {
                read += more;
                // A source that is read twice still counts once.
                most = size(source).min(read).max(most);
                progress(Event::Compared {
                    files,
                    bytes: bytes + most,
                });
            };
            passages = self.compare(source, passages, &mut report)?;
            (files, bytes) = (files + 1, bytes + size(source));
            progress(Event::Compared { files, bytes });
        }
        Ok(passages)
    }

    fn compare(
        &mut self,
        source: &Source<'_>,
        mut passages: Option<Passages>,
        read: &mut dyn FnMut(u64),
    ) -> Result<Option<Passages>, Error> {
        let Source {
            root,
            path,
            known,
            format,
        } = source;
        let compared = compare_source(self.catalogue, *root, path, &known.relative, *format, read)?;
        self.found.bytes_read += compared.bytes_read;
        self.found.entries += compared.entries;
        self.found.passages += compared.passages.len() as u64;
        if let Some(passages) = &mut passages {
            passages.claim(&compared);
        }
        match compared.finding {
            Finding::Equal => self.note(path, Verdict::Equal, None),
            Finding::Behind(what) => self.behind(StoreName::Catalogue, Some(path), what),
            Finding::OtherBytes => {
                self.found.condemned.extend(compared.source);
                let what =
                    "its bytes are not those that were catalogued: the next sync reads it again";
                self.behind(StoreName::Catalogue, Some(path), what.into());
            }
            Finding::Differs(what) => self.differs(StoreName::Catalogue, Some(path), what),
            Finding::Unread(reason) => {
                self.unread(path, reason);
                return Ok(passages);
            }
        }
        self.found.sources += 1;
        Ok(passages)
    }

    fn differs(&mut self, store: StoreName, path: Option<&Path>, what: String) {
        if let Some(path) = path {
            self.note(path, Verdict::Differs, Some(format!("{store}: {what}")));
        }
        let path = path.map(Path::to_path_buf);
        self.found.differences.push(difference(store, path, what));
    }

    fn behind(&mut self, store: StoreName, path: Option<&Path>, what: String) {
        if let Some(path) = path {
            self.note(path, Verdict::Behind, Some(what.clone()));
        }
        let path = path.map(Path::to_path_buf);
        self.found.behind.push(difference(store, path, what));
    }

    fn unread(&mut self, path: &Path, reason: String) {
        self.note(path, Verdict::Unread, Some(reason.clone()));
        // One line is enough for a folder that cannot be read.
        if !self.found.unread.iter().any(|u| path.starts_with(&u.path)) {
            let path = path.to_path_buf();
            self.found.unread.push(UnreadablePath { path, reason });
        }
    }

    /// Note a verdict on a file. Of several, the worst one stays.
    fn note(&mut self, path: &Path, verdict: Verdict, what: Option<String>) {
        let entry = self.files.entry(path.to_path_buf());
        let (noted, all) = entry.or_insert((verdict, Vec::new()));
        *noted = verdict.max(*noted);
        all.extend(what);
    }

    fn end(self) -> Verification {
        let file = |(path, (verdict, what)): (PathBuf, (Verdict, Vec<String>))| FileVerdict {
            path,
            verdict,
            what: (!what.is_empty()).then(|| what.join("; ")),
        };
        Verification {
            files: self.files.into_iter().map(file).collect(),
            ..self.found
        }
    }
}
