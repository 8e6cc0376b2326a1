//! What is done with sessions? By a thread of its own, in the order in which it was asked for, with
//! the code of the commands that do the same.

use std::fs::File;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{self, JoinHandle};

use sessionary::format::resume;
use sessionary::model::SessionRow;
use sessionary::{Config, Freshness, Index};

use super::copy::{self, CopyFormat};
use super::message::{Key, Message};
use super::pins;
use crate::command::export::{self, ExportFormat};
use crate::command::trashing::{self, DeletionTarget, TrashResult};
use crate::command::writing::{DryRun, WriteResult, catalogued, directory, format_of, kept_copy};
use crate::command::{fork, label, name, title};
use crate::demo;
use crate::failure::Failure;
use crate::output::Screen;
use crate::output::text::fit;
use crate::output::time::count;
use crate::places;

/// Columns of a title within a sentence, at most.
const TITLE: usize = 40;

/// A session, and what of it is meant.
#[derive(Debug, Clone)]
pub struct Target {
    pub session: SessionRow,
    /// The entry that was found or is shown; `None`: the one where the session stands.
    pub entry: Option<String>,
    /// An entry through which the branch goes that is shown; `None`: the active one is.
    pub through: Option<String>,
}

/// What is to be done.
#[derive(Debug)]
pub enum Job {
    /// Pin these, or unpin them.
    Pin(Vec<Key>),
    Name {
        session: Box<SessionRow>,
        name: String,
    },
    /// One label for an entry of each.
    Label {
        targets: Vec<Target>,
        label: String,
    },
    /// Copy them for the current directory.
    Fork(Vec<Target>),
    Export(Vec<Target>, ExportFormat),
    Copy(Vec<Target>, CopyFormat),
    Trash(Vec<SessionRow>),
    /// Bring back what went to the trash last, and is still there.
    Restore,
    /// A new session that ends at an entry, to be chosen.
    Branch(Box<Target>),
}

/// What came of it.
#[derive(Debug)]
pub enum JobResult {
    /// The list shows nothing of it, or nothing was done.
    Said(String),
    /// The list may show it.
    Changed(String),
    /// These copies are there.
    Forked { new: Vec<Key>, said: String },
    /// This is to be copied by the terminal.
    Copied { text: String, said: String },
    /// These sessions are gone, and some of them, where any were moved, in the trash.
    Trashed {
        gone: Vec<Key>,
        is_any_moved: bool,
        said: String,
    },
    /// What was in the trash is back; more may be there that went before.
    Restored { is_any_left: bool, said: String },
    /// The new session.
    Branched(Box<SessionRow>),
    /// There is none, for this reason.
    NotBranched(String),
}

impl JobResult {
    /// What is said of it; of a new session, which is chosen, nothing.
    pub fn said(&self) -> Option<&str> {
        match self {
            Self::Said(said) | Self::Changed(said) | Self::Restored { said, .. } => Some(said),
            Self::Copied { said, .. } | Self::Trashed { said, .. } => Some(said),
            Self::Forked { said, .. } => Some(said),
            Self::NotBranched(why) => Some(why),
            Self::Branched(_) => None,
        }
    }

    /// What follows, and what is said, where the picker was left before it was done.
    pub fn at_the_end(self, tty: &File, screen: &Screen) {
        let said = match &self {
            Self::Copied { text, said } => match copy::to_terminal(text, tty) {
                Ok(()) => said.clone(),
                Err(error) => format!("{said} The terminal did not take it: {error}"),
            },
            Self::Branched(session) => {
                let path = screen.path(&session.path);
                format!("The new session was made already: {path}")
            }
            other => other.said().unwrap_or_default().to_owned(),
        };
        screen.say(&said);
    }
}

/// The thread that does it.
pub struct Jobs {
    jobs: Sender<Job>,
    thread: Option<JoinHandle<()>>,
}

impl Jobs {
    pub fn start(config: &Config, screen: &Screen, tell: &Sender<Message>) -> Self {
        let (jobs, asked) = channel();
        let worker = Worker {
            config: config.clone(),
            screen: screen.clone(),
            pins: pins::file(&places::surroundings()),
            in_trash: Vec::new(),
            tell: tell.clone(),
        };
        let work = move || worker.work(&asked);
        let thread = thread::Builder::new().name("picker-acts".to_owned());
        Self {
            jobs,
            thread: thread.spawn(work).ok(),
        }
    }

    pub fn put(&self, job: Job) {
        // Without the thread nothing is done, and nothing is said to be.
        let _ = self.jobs.send(job);
    }

    /// Waits until all that was asked for is done.
    pub fn finish(self) {
        drop(self.jobs);
        let _ = self.thread.map(JoinHandle::join);
    }
}

struct Worker {
    config: Config,
    screen: Screen,
    /// The file of the pins.
    pins: Option<PathBuf>,
    /// From where the trash got what it got: each time, of each session.
    in_trash: Vec<Vec<Vec<PathBuf>>>,
    tell: Sender<Message>,
}

impl Worker {
    fn work(mut self, asked: &Receiver<Job>) {
        for job in asked {
            self.screen.now_ms = self.screen.clock.now_ms();
            let done = self.done(job);
            let done = done.unwrap_or_else(|failure| JobResult::Said(failure.line()));
            // What was asked for is done also where nobody listens any more.
            let _ = self.tell.send(Message::Done(Box::new(done)));
        }
    }

    fn done(&mut self, job: Job) -> Result<JobResult, Failure> {
        match job {
            Job::Pin(sessions) => self.pin(&sessions),
            Job::Name { session, name } => self.name(&session, &name),
            Job::Label { targets, label } => self.label(&targets, &label),
            Job::Fork(targets) => self.fork(&targets),
            Job::Export(targets, form) => self.export(&targets, form),
            Job::Copy(targets, what) => self.copy(&targets, what),
            Job::Trash(sessions) => self.trash(sessions),
            Job::Restore => self.restore(),
            Job::Branch(target) => Ok(match self.branch(*target) {
                Ok(session) => JobResult::Branched(Box::new(session)),
                Err(failure) => JobResult::NotBranched(failure.line()),
            }),
        }
    }

    fn pin(&self, sessions: &[Key]) -> Result<JobResult, Failure> {
        let file = self.pins.as_deref();
        let file = file.ok_or_else(|| Failure::usage("there is no data folder to keep pins in"))?;
        let failed = |error| Failure::from(anyhow::anyhow!("{}: {error}", file.display()));
        let change = pins::toggle(sessions, file).map_err(failed)?;
        let what = match (sessions.len(), change.pinned) {
            (1, true) => "Pinned: it stands first while nothing is typed.".to_owned(),
            (_, true) => "Pinned: they stand first while nothing is typed.".to_owned(),
            (1, false) => "It is no longer pinned.".to_owned(),
            (_, false) => "They are no longer pinned.".to_owned(),
        };
        Ok(JobResult::Changed(match change.kept_beside {
            Some(damaged) => format!(
                "{what} What was pinned before could not be read, and is kept as {}.",
                self.screen.path(&damaged)
            ),
            None => what,
        }))
    }

    fn name(&self, session: &SessionRow, name: &str) -> Result<JobResult, Failure> {
        let result = name::name(session, name, &self.config, &self.screen);
        let result = result.map_err(|failure| or_gone(session, failure, "renamed"))?;
        let what = match name {
            "" => format!("{} has no name any more.", called(session)),
            name => format!("Its name is “{}” now.", fit(name, TITLE)),
        };
        Ok(self.written(what, &result))
    }

    fn label(&self, targets: &[Target], label: &str) -> Result<JobResult, Failure> {
        let label = Some(label).filter(|label| !label.is_empty());
        let (results, failed) = each(targets, "labelled", |Target { session, entry, .. }| {
            label::label(session, entry.clone(), label, &self.config, &self.screen)
        })?;
        let (entries, many) = (count(results.len() as u64, "entry"), targets.len() > 1);
        let mut remarks = Vec::new();
        for result in results {
            remarks.extend(kept_copy(&result, &self.screen));
            remarks.extend(result.remarks);
        }
        remarks.extend(failed);
        let what = match (label.map(|label| fit(label, TITLE)), many) {
            (Some(label), false) => format!("The entry is labelled “{label}”."),
            (Some(label), true) => format!("Labelled “{label}”: {entries}."),
            (None, false) => "The entry has no label any more.".to_owned(),
            (None, true) => format!("Without a label now: {entries}."),
        };
        Ok(JobResult::Changed(with(what, &remarks)))
    }

    /// What was written, and what is to be said of it.
    fn written(&self, what: String, result: &WriteResult) -> JobResult {
        let mut remarks = result.remarks.clone();
        remarks.extend(kept_copy(result, &self.screen));
        JobResult::Changed(with(what, &remarks))
    }

    fn fork(&self, targets: &[Target]) -> Result<JobResult, Failure> {
        let here = directory(None)?;
        let (results, failed) = each(targets, "forked", |Target { session, .. }| {
            let for_real = DryRun::default();
            fork::fork(session, &here, for_real, &self.config, &self.screen)
        })?;
        let what = match targets {
            [one] => format!("Forked: {}", called(&one.session)),
            _ => format!("Forked: {}", count(results.len() as u64, "session")),
        };
        let what = format!("{what}, for {}.", self.screen.path(&here));
        let new = results.iter();
        let new = new.map(|result| (result.path.clone(), result.session.clone()));
        let new = new.collect();
        let remarks = results.into_iter().flat_map(|result| result.remarks);
        let remarks: Vec<String> = remarks.chain(failed).collect();
        let said = with(what, &remarks);
        Ok(JobResult::Forked { new, said })
    }

    fn export(&self, targets: &[Target], form: ExportFormat) -> Result<JobResult, Failure> {
        let (here, index) = (directory(None)?, self.index()?);
        let (written, failed) = each(targets, "exported", |target| {
            let (session, through) = (&target.session, target.through.as_deref());
            let spool = export::branch_through(form, through, session, &index, &self.screen)?;
            let title = self.title_of_file(session);
            export::to_free_name(&here, &title, form, spool, &self.config, &self.screen)
        })?;
        let written: Vec<String> = written.iter().map(|file| self.screen.path(file)).collect();
        let what = match &written[..] {
            [first, second] => format!("Written to {first} and {second}."),
            [first, _, ..] => format!("Written to {first} and {} more files.", written.len() - 1),
            all => format!("Written to {}.", all.concat()),
        };
        Ok(JobResult::Said(with(what, failed.as_slice())))
    }

    /// What a session is called in the name of a file, without keys.
    fn title_of_file(&self, session: &SessionRow) -> String {
        let (_, title) = title(session);
        let masked = self.screen.mask_of_files().and_then(|mask| mask.of(&title));
        masked.unwrap_or(title)
    }

    fn copy(&self, targets: &[Target], what: CopyFormat) -> Result<JobResult, Failure> {
        let (texts, failed) = each(targets, "copied", |target| {
            // Most of it needs no index.
            copy::text(what, target, || self.index(), &self.screen)
        })?;
        let text = texts.join("\n");
        let by_program = copy::to_program(&text);
        if !by_program && copy::sequence(&text, false).is_none() {
            let long = "That is more than terminals take, and there is no clipboard program: \
                        Alt-A exports it to a file.";
            return Ok(JobResult::Said(long.to_owned()));
        }
        let said = format!("Copied: {}.", copy::what_of(what, texts.len()));
        let said = with(said, failed.as_slice());
        Ok(JobResult::Copied { text, said })
    }

    fn trash(&mut self, mut sessions: Vec<SessionRow>) -> Result<JobResult, Failure> {
        trashing::refuse_in_demo()?;
        // Others may have deleted one since it was marked.
        let gone_before = sessions.extract_if(.., |session| trashing::is_gone(session));
        let gone_before: Vec<Key> = gone_before.map(|one| (one.path, one.id)).collect();
        let remark = match gone_before.len() {
            0 => None,
            some => Some(format!("Gone already: {}.", count(some as u64, "session"))),
        };
        if sessions.is_empty() {
            return Ok(JobResult::Trashed {
                gone: gone_before,
                is_any_moved: false,
                said: remark.unwrap_or_default(),
            });
        }
        let index = self.index()?;
        let doomed = DeletionTarget::all(sessions, &index)?;
        drop(index);
        self.refuse_in_use(&doomed)?;
        trashing::refuse_leaned_on(&doomed)?;
        let moved = trashing::move_to_trash(&doomed, &self.config);
        let gone = &doomed[..moved.count];
        if !moved.places.is_empty() {
            self.in_trash.push(moved.places.clone());
        }
        let subagents: usize = gone.iter().map(|one| one.subagents.len()).sum();
        let what = match subagents {
            0 => count(gone.len() as u64, "session"),
            _ => format!(
                "{} with {}",
                count(gone.len() as u64, "session"),
                count(subagents as u64, "subagent")
            ),
        };
        let back = match trashing::CAN_RESTORE {
            true => "Alt-A u brings back what is there".to_owned(),
            false => {
                let trash = gone.first().map(|one| trashing::trash_of(&one.path));
                format!("it lies in {}", trash.unwrap_or_default())
            }
        };
        let in_trash = format!("In the trash: {what}; {back}.");
        let said = match not_moved(&moved, &doomed) {
            Some(why) => format!("{why}. {in_trash}"),
            None => in_trash,
        };
        let gone = gone.iter().flat_map(|one| {
            let all = one.subagents.iter().chain([&one.row]);
            all.map(|row| (row.path.clone(), row.id.clone()))
        });
        let remarks: Vec<String> = remark.into_iter().chain(moved.remarks).collect();
        Ok(JobResult::Trashed {
            gone: gone.chain(gone_before).collect(),
            is_any_moved: !moved.places.is_empty(),
            said: with(said, &remarks),
        })
    }

    /// What changed a moment ago stays. It is named by its title: behind a path there would be no
    /// room for the reason.
    fn refuse_in_use(&self, doomed: &[DeletionTarget]) -> Result<(), Failure> {
        let Some(used) = trashing::in_use(doomed, &self.screen) else {
            return Ok(());
        };
        Err(Failure::usage(format!(
            "{} changed in the last minute, so its agent may still be using it; nothing was moved",
            called(&used.row)
        )))
    }

    fn restore(&mut self) -> Result<JobResult, Failure> {
        let Some(mut sessions) = self.in_trash.pop() else {
            return Ok(JobResult::Restored {
                is_any_left: false,
                said: "Nothing more is in the trash.".to_owned(),
            });
        };
        let places = sessions.concat();
        let back = trashing::restore(&places);
        // Also after a failure: some may be back.
        let files: Vec<PathBuf> = places.iter().flat_map(trashing::files_below).collect();
        let unindexed = catalogued(&files, &self.config);
        if let Err(failure) = back {
            // What is no longer there would keep what went before it from coming back.
            let in_trash = trashing::trashed("", &places).unwrap_or(places);
            for places in &mut sessions {
                places.retain(|place| !place.exists() && in_trash.contains(place));
            }
            sessions.retain(|places| !places.is_empty());
            self.in_trash
                .extend(Some(sessions).filter(|left| !left.is_empty()));
            return Err(failure);
        }
        let what = format!("Back: {}.", count(sessions.len() as u64, "session"));
        Ok(JobResult::Restored {
            is_any_left: !self.in_trash.is_empty(),
            said: with(what, unindexed.as_slice()),
        })
    }

    fn branch(&self, target: Target) -> Result<SessionRow, Failure> {
        demo::refuse(
            "no agent knows a made-up session",
            "Enter would not continue it either",
        )?;
        let for_real = DryRun::default();
        let Target { session, entry, .. } = target;
        let new = fork::branch(&session, entry, for_real, &self.config, &self.screen)?;
        // The index need not have it yet: it is read by itself, and its agent knows it as its own.
        let own = Index::of_file(&self.config, &new.path)?;
        let mut row = own.ask(|snapshot| snapshot.only())?;
        let path = new.path.to_string_lossy();
        let format = format_of(&session, &self.config);
        row.resume = resume(&session.agent, format, &path, (&row.id, None), &row.cwd);
        (row.listed_by_agent, row.reason) = (true, None);
        (row.agent, row.label) = (session.agent, session.label);
        Ok(row)
    }

    fn index(&self) -> Result<Index, Failure> {
        Ok(Index::open(&self.config, Freshness::AsCommitted)?)
    }
}

/// Does this with each: one that fails, because others have deleted it for instance, keeps none
/// from the others. What it gave, and what is to be said of those that failed; where all did, why
/// the first.
fn each<T>(
    targets: &[Target],
    undone: &str,
    work: impl Fn(&Target) -> Result<T, Failure>,
) -> Result<(Vec<T>, Option<String>), Failure> {
    let (mut results, mut first, mut failed) = (Vec::new(), None, 0);
    for target in targets {
        match work(target) {
            Ok(result) => results.push(result),
            Err(failure) => {
                failed += 1;
                first.get_or_insert((target, failure));
            }
        }
    }
    let Some((target, failure)) = first else {
        return Ok((results, None));
    };
    if results.is_empty() {
        return Err(or_gone(&target.session, failure, undone));
    }
    let others = match failed - 1 {
        0 => String::new(),
        others => format!(" and {others} more"),
    };
    let session = called(&target.session);
    let said = format!("Not done for {session}{others}: {}", failure.line());
    Ok((results, Some(said)))
}

/// Which of them is not in the trash, and why.
fn not_moved(moved: &TrashResult, doomed: &[DeletionTarget]) -> Option<String> {
    let error = moved.failed.as_ref()?;
    Some(match doomed.get(moved.count) {
        // Nothing of it was moved.
        Some(one) if moved.places.len() == moved.count => {
            let session = called(&one.row);
            format!("{session} was not moved: {}", error.root_cause())
        }
        _ => format!("{error:#}"),
    })
}

/// Why something was not done with a session; where its file is gone, that, by its title.
fn or_gone(session: &SessionRow, failure: Failure, undone: &str) -> Failure {
    match trashing::is_gone(session) {
        true => {
            let session = called(session);
            Failure::not_found(format!("{session} is gone; nothing was {undone}."))
        }
        false => failure,
    }
}

/// What is said, and what else is to be said of it.
fn with(said: String, remarks: &[String]) -> String {
    std::iter::once(&said)
        .chain(remarks)
        .cloned()
        .collect::<Vec<_>>()
        .join(" ")
}

/// A session within a sentence.
pub fn called(session: &SessionRow) -> String {
    format!("“{}”", fit(&title(session).1, TITLE))
}
