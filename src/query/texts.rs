//! What did user and model say? The places of a session's records are in the catalogue; the records
//! are read from its sources, those of many sessions by all threads.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;

use super::Snapshot;
use crate::catalogue::entries::RecordPlace;
use crate::error::Error;
use crate::format::Format;
use crate::ingest::OpenSource;
use crate::session::Progress;
use crate::threads;

/// What was said in a session, still to be read.
struct SaidPlaces {
    format: &'static dyn Format,
    /// Each source with its records, in file order.
    sources: Vec<(i64, OpenSource, Vec<RecordPlace>)>,
}

/// What was said in a session.
#[derive(Default)]
struct SaidText {
    text: String,
    /// Sources that hold other bytes than those catalogued.
    changed: Vec<(i64, PathBuf)>,
}

/// Brings what is done in any order back into its own.
#[derive(Default)]
struct InOrder<T> {
    /// The number of the next one that is due.
    due: usize,
    early: BTreeMap<usize, T>,
}

impl<T> InOrder<T> {
    /// Hands on what is due with this one.
    fn put(&mut self, number: usize, one: T, take: &mut impl FnMut(T)) {
        self.early.insert(number, one);
        while let Some(one) = self.early.remove(&self.due) {
            self.due += 1;
            take(one);
        }
    }
}

impl Snapshot<'_> {
    /// User and assistant text of all branches in file order, joined as the agent joins it.
    pub(crate) fn text_of(&self, session: i64, format: &str) -> Result<String, Error> {
        let said = self.said(session, format)?;
        Ok(self.noted(said.map(SaidPlaces::read).unwrap_or_default()))
    }

    /// [`Snapshot::text_of`] each of these sessions, handed to `take` in their order, each as soon
    /// as it and those before it are read; `None` where a source holds other bytes than those
    /// catalogued. While this thread asks the catalogue for the places of the next ones, others
    /// read.
    ///
    /// # Errors
    /// [`Error::Cancelled`] where `progress` broke: nothing more is handed out from then on.
    pub(crate) fn each_text(
        &self,
        sessions: &[i64],
        format: &str,
        progress: Progress<'_>,
        take: &mut dyn FnMut(Option<String>),
    ) -> Result<(), Error> {
        let (done, given_up) = (AtomicUsize::new(0), AtomicBool::new(false));
        let read = |said: Option<SaidPlaces>| {
            let is_wanted = !given_up.load(Ordering::Relaxed);
            let text = said.filter(|_| is_wanted).map(SaidPlaces::read);
            let done = done.fetch_add(1, Ordering::Relaxed) + 1;
            if progress(done, sessions.len()).is_break() {
                given_up.store(true, Ordering::Relaxed);
            }
            text.unwrap_or_default()
        };
        let mut put = |said: SaidText| {
            let is_changed = !said.changed.is_empty();
            let text = self.noted(said);
            if !given_up.load(Ordering::Relaxed) {
                take((!is_changed).then_some(text));
            }
        };
        match threads::pool() {
            None => {
                for session in sessions {
                    put(read(self.said(*session, format)?));
                }
            }
            Some(pool) => {
                let (sender, receiver) = mpsc::channel();
                let mut order = InOrder::default();
                pool.in_place_scope(|scope| {
                    for (at, session) in sessions.iter().enumerate() {
                        let said = self.said(*session, format)?;
                        let (sender, read) = (sender.clone(), &read);
                        scope.spawn(move |_| drop(sender.send((at, read(said)))));
                        receiver
                            .try_iter()
                            .for_each(|(at, read)| order.put(at, read, &mut put));
                    }
                    drop(sender);
                    let rest = receiver.iter();
                    rest.for_each(|(at, read)| order.put(at, read, &mut put));
                    Ok::<(), Error>(())
                })?;
            }
        }
        match given_up.load(Ordering::Relaxed) {
            true => Err(Error::Cancelled),
            false => Ok(()),
        }
    }

    /// Where it stands what was said in a session; `None`: no format reads it.
    fn said(&self, session: i64, format: &str) -> Result<Option<SaidPlaces>, Error> {
        let Some(format) = self.config().format(format) else {
            return Ok(None);
        };
        let mut sources: Vec<(i64, OpenSource, Vec<RecordPlace>)> = Vec::new();
        let mut gone = None;
        for place in self.catalogue.said(session)? {
            match sources.last_mut() {
                Some((source, _, places)) if *source == place.source => places.push(place),
                _ if gone == Some(place.source) => {}
                _ => {
                    let (catalogue, formats) = (self.catalogue, &self.config().formats);
                    match OpenSource::find(place.source, catalogue, formats)? {
                        Some(open) => sources.push((place.source, open, vec![place])),
                        None => gone = Some(place.source),
                    }
                }
            }
        }
        Ok(Some(SaidPlaces { format, sources }))
    }

    fn noted(&self, said: SaidText) -> String {
        for (source, path) in &said.changed {
            self.note_changed(*source, path);
        }
        said.text
    }
}

impl SaidPlaces {
    fn read(self) -> SaidText {
        let mut said = SaidText::default();
        let mut is_first = true;
        for (source, mut open, places) in self.sources {
            let mut is_changed = false;
            open.each_record(&places, &mut |record| {
                // A file that cannot be read counts as changed, too.
                is_changed |= record.is_none();
                if let Some(text) = record.and_then(|record| self.format.listed_text(record)) {
                    if !std::mem::take(&mut is_first) {
                        said.text.push(' ');
                    }
                    said.text.push_str(&text);
                }
            });
            if is_changed {
                said.changed.push((source, open.path.to_path_buf()));
            }
        }
        said
    }
}
