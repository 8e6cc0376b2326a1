//! How is a question answered while the files are looked at?
//!
//! By what was committed last. Mostly nothing has changed since, and then that is the answer: whoever looks holds the lock,
//! so nobody has written in between, and has then changed no session itself. Else it is thrown away, and the question asked
//! again.

use std::thread::Builder;

use super::{Config, Error, Event, Index, Indexer};
use crate::catalogue::changes::Kept as Changes;
use crate::ingest::{self, AllSeen, Kept, Sighted};
use crate::model::{Expr, Report, SearchAnswer};
use crate::query::{ListPage, ListScope, SearchScope, looked_for};
use crate::source::ahead::Ahead;
use crate::source::identity::FileId;

impl Index {
    /// Open the index brought up to the files, with its [`Index::page`], which is made while they are looked at.
    pub fn open_and_page(
        config: &Config,
        scope: &ListScope,
        progress: &mut dyn FnMut(Event),
    ) -> Result<(Index, ListPage), Error> {
        let page = |index: &Index| index.page(scope);
        let (index, early) = Index::ask(config, None, progress, Kept::default, page, |_, _| true)?;
        let page = early.map_or_else(|| index.page(scope), Ok)?;
        Ok((index, page))
    }

    /// Open the index brought up to the files, with what [`Index::search_with`] finds in it: searched while they are looked
    /// at, unless text must be read through for it.
    ///
    /// # Errors
    /// As [`Index::search`].
    pub fn open_and_search(
        config: &Config,
        query: &str,
        scope: &SearchScope,
        progress: &mut dyn FnMut(Event),
    ) -> Result<(Index, SearchAnswer), Error> {
        let expr = looked_for(query, scope)?;
        let directory = config.words_dir();
        let search = |index: &Index| index.search(query, scope);
        let (index, early) = std::thread::scope(|threads| {
            let opening = Builder::new().spawn_scoped(threads, || Kept::ahead(&directory));
            // Without a thread for it they are opened when they are asked for.
            let words = || match opening {
                Ok(opening) => opening.join().unwrap_or_default(),
                Err(_) => Kept::default(),
            };
            // What a search could not read may be among these files.
            let lacks = |answer: &mut SearchAnswer, files| {
                answer.pending_files = files;
                std::mem::replace(&mut answer.complete, false)
            };
            Index::ask(config, expr.as_ref(), progress, words, search, lacks)
        })?;
        let answer = early.map_or_else(|| index.search_with(query, scope, progress), Ok)?;
        Ok((index, answer))
    }

    /// Open the index brought up to the files, and the answer that was found meanwhile, if it stands. Where nothing is indexed
    /// yet it is noted instead where the files may hold what `expr` looks for. An answer which `lacks` some files, as they
    /// cannot be read, is told so; `false`: it must be asked for again.
    fn ask<T>(
        config: &Config,
        expr: Option<&Expr>,
        progress: &mut dyn FnMut(Event),
        words: impl FnOnce() -> Kept,
        question: impl FnOnce(&Index) -> Result<T, Error>,
        lacks: impl Fn(&mut T, u64) -> bool,
    ) -> Result<(Index, Option<T>), Error> {
        let (mut words, mut question) = (Some(words), Some(question));
        let (mut opened, mut early) = (None, None);
        let mut index = Index::open_by(config, &mut |indexer| {
            // What is excluded is wiped first, and nobody may read meanwhile.
            // A catalogue that is damaged is made anew by looking.
            let has_sessions = indexer.catalogue.has_sessions().unwrap_or_default();
            let may_read = config.exclude.is_empty() && has_sessions;
            let Some(question) = question.take_if(|_| may_read) else {
                return looked(indexer, expr, progress);
            };
            let (mut indexer, told) = indexer.look_beside(|index| {
                index
                    .words
                    .replace(words.take().map(|words| words()).unwrap_or_default());
                let answer = question(index);
                opened = Some(index.words.take());
                answer
            });
            let Ok((seen, answer)) = told else {
                // What is wrong is mended, or told, by looking.
                return looked(indexer, None, progress);
            };
            let before = mark(&indexer);
            let report = indexer.sync_seen(seen, progress)?;
            // Notes of files that cannot be read, or were read again in vain, are no other answer.
            let stands = report.bytes_read == 0 && before.is_some() && mark(&indexer) == before;
            let unread = report.files_unreadable;
            let mut answer = answer.ok().filter(|_| stands);
            if unread > 0 {
                answer = answer.and_then(|mut told| lacks(&mut told, unread).then_some(told));
            }
            early = answer;
            Ok(Looked {
                indexer,
                report,
                sighted: None,
            })
        })?;
        index.words = opened
            .or_else(|| words.map(|words| words()))
            .unwrap_or_default()
            .into();
        Ok((index, early))
    }
}

impl Indexer {
    /// Look at all files, which were listed while the catalogue was opened.
    pub(super) fn look_at_all(mut self, progress: &mut dyn FnMut(Event)) -> Result<Looked, Error> {
        let ahead = std::mem::take(&mut self.ahead);
        let prepared = self.prepare_to_look();
        let seen = prepared.and_then(|()| {
            let seen = ingest::look_at_all(&self.catalogue, &self.config, ahead);
            seen.map_err(Error::from)
        });
        // What is wrong is mended, or told, by looking again.
        let report = self.sync_seen(seen.unwrap_or_default(), progress)?;
        Ok(Looked {
            indexer: self,
            report,
            sighted: None,
        })
    }

    fn prepare_to_look(&mut self) -> Result<(), Error> {
        let mut report = Report::default();
        let prepared = self.prepare(&mut report);
        self.notes.append(&mut report.notes);
        prepared
    }

    /// Look at all files while `ask` has the index as it is.
    fn look_beside<T>(
        mut self,
        ask: impl FnOnce(&Index) -> T,
    ) -> (Indexer, Result<(AllSeen, T), Error>) {
        if let Err(error) = self.prepare_to_look() {
            return (self, Err(error));
        }
        let Indexer {
            config,
            catalogue,
            ahead,
            ..
        } = self;
        let lent = |catalogue| {
            let index = Index {
                is_early: true,
                ..Index::of(config.clone(), catalogue)
            };
            let told = ask(&index);
            match index.catalogue {
                Some(catalogue) => (catalogue, told),
                None => unreachable!("it was only shown"),
            }
        };
        let (catalogue, told) = ingest::look_beside(catalogue, &config, ahead, lent);
        let indexer = Indexer {
            config,
            catalogue,
            ahead: Ahead::default(),
            ..self
        };
        (indexer, told.map_err(Error::from))
    }
}

/// What a look at all files leaves.
pub(super) struct Looked {
    pub indexer: Indexer,
    pub report: Report,
    pub sighted: Option<Sighted>,
}

/// Look at all files, and note where those that are new may hold what `expr` looks for.
fn looked(
    mut indexer: Indexer,
    expr: Option<&Expr>,
    progress: &mut dyn FnMut(Event),
) -> Result<Looked, Error> {
    // What is there is listed by who looks.
    indexer.ahead = Ahead::default();
    let (report, sighted) = indexer.sync_looking_for(expr, progress)?;
    Ok(Looked {
        indexer,
        report,
        sighted,
    })
}

/// What is another one after a session has changed.
fn mark(indexer: &Indexer) -> Option<(FileId, Changes)> {
    let changes = indexer.catalogue.changes_kept().ok()?;
    Some((indexer.catalogue.file()?, changes))
}

// Where names may be any bytes.
#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::ffi::OsStr;
    use std::fs;
    use std::os::unix::ffi::OsStrExt;

    use super::*;
    use crate::index::RootSpec;

    #[test]
    fn an_answer_stands_though_files_cannot_be_read() {
        let place = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(place.path()).unwrap().join("sessions");
        fs::create_dir(&root).unwrap();
        let spec = RootSpec {
            agent: "pi".into(),
            format: "pi".into(),
            path: root.clone(),
            label: None,
            flat: false,
            why: "the test".into(),
        };
        let config = Config::new(place.path().join("index"), vec![spec]);
        let told = |file: &str, line: &str| {
            let text = format!("{{\"type\":\"session\",\"id\":\"{file}\"}}\n{line}\n");
            fs::write(root.join(file), text).unwrap();
        };
        let ask = |files: u64| {
            let question = |index: &Index| Ok(index.status()?.sessions);
            let lacks = |_: &mut u64, unread| unread == files;
            Index::ask(&config, None, &mut |_| {}, Kept::default, question, lacks)
                .unwrap()
                .1
        };
        let message =
            |id: &str| format!(r#"{{"type":"message","id":"{id}","message":{{"role":"user"}}}}"#);
        told("one.jsonl", &message("a"));
        assert_eq!(ask(0), None, "nothing is indexed yet");
        assert_eq!(ask(0), Some(1));
        // Read again to prove that it is as it was, and found so.
        let one = fs::File::options()
            .append(true)
            .open(root.join("one.jsonl"));
        one.unwrap()
            .set_modified(std::time::SystemTime::now())
            .unwrap();
        assert_eq!(ask(0), None, "it was read");
        assert_eq!(ask(0), Some(1));
        // Its name is no text.
        fs::write(root.join(OsStr::from_bytes(b"caf\xE9.jsonl")), "").unwrap();
        assert_eq!(ask(1), Some(1), "no session has changed");
        assert_eq!(ask(1), Some(1));
        assert_eq!(ask(2), None, "who asks may want to ask again");
        told("two.jsonl", &message("b"));
        assert_eq!(ask(1), None, "there is another session");
        assert_eq!(ask(1), Some(2));
    }
}
