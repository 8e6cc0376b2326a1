//! How does what this machine shares come into a store, so that nothing is sent twice, and that a
//! push which was killed is made up for by the next one?
//!
//! What the store has of this host is asked first. A file whose size, time and redaction are those
//! of its manifest is not read; of one that is read, only blocks are sent that are not there.
//! Blocks come before the manifests that name them, and what no manifest names any more is removed
//! last. A courier brings them while the next ones are made.

mod batches;
mod courier;
mod files;
mod rows;
mod taking_back;

pub use taking_back::{TakenBack, take_back};

use std::collections::{BTreeMap, BTreeSet, HashMap};

use serde::Serialize;
use sessionary::index::{SharedFile, SharedFiles};
use sessionary::redact::REVISION;

use self::courier::{Courier, with_courier};
use crate::block::{BlockId, Key};
use crate::error::{Error, Problem};
use crate::manifest::{Manifest, Place, RAW};
use crate::rows::{BundleKey, Bundles, RowMaker, beside};
use crate::sessions::Sessions;
use crate::settings::{DataFolder, Settings};
use crate::store::{self, Batch, Store, name_is_taken};

/// How to push.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Options {
    /// Say what would be done, and do nothing.
    pub dry_run: bool,
    /// Secrets and all.
    pub raw: bool,
    /// Take back sessions that this machine has no more, or excludes.
    pub prune: bool,
}

/// What a push did, or would do.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Pushed {
    /// The sessions of which anything was sent, in order.
    pub sessions: Vec<PushedSession>,
    /// Files that are shared, with those that were sent before.
    pub files: u64,
    /// Blocks that were sent.
    pub sent_blocks: u64,
    /// Their bytes, compressed.
    pub sent_bytes: u64,
    /// Files that were taken back.
    pub taken_back: u64,
    /// Files in the store of sessions that this machine has no more; [`Options::prune`] takes them
    /// back.
    pub gone: u64,
    /// What was left out, and why.
    pub problems: Vec<Problem>,
}

/// What was sent of one session.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PushedSession {
    /// Its agent.
    pub agent: String,
    /// Its id.
    pub session: String,
    /// Its repository.
    pub repository: String,
    /// Its files of which anything was sent.
    pub files: u64,
    /// Bytes of these files without their secrets.
    pub bytes: u64,
    /// Secrets that were left out.
    pub redactions: u64,
}

/// Put what is shared into the store.
///
/// # Errors
/// When index or store do not answer, or raw bytes are not allowed. A single file that cannot be
/// read is a [`Problem`].
pub fn push(
    sessions: &Sessions,
    store: &mut (dyn Store + Send),
    (data, settings): (&DataFolder, &Settings),
    options: Options,
) -> Result<Pushed, Error> {
    if options.raw && !settings.allow_raw {
        return Err(Error::refused(
            "secrets are not sent: raw bytes are not allowed here",
            "`sessionary team init STORE --allow-raw` allows them",
        ));
    }
    if settings.has_pushed && !store.has(&settings.host)? {
        return Err(store::is_not_known());
    }
    match options.dry_run {
        false => {
            data.remove_rows()?;
            store.claim(&settings.this_host())?;
            note_claim(data, settings)?;
        }
        true if store.is_taken(&settings.this_host())? => {
            return Err(name_is_taken(&settings.host));
        }
        true => {}
    }
    let repositories: Vec<String> = settings.repositories.iter().cloned().collect();
    let found = match repositories.is_empty() {
        true => SharedFiles::default(),
        false => sessions.files(&repositories)?,
    };
    with_courier(store, |store| {
        Push::begin(store, (data, settings), options, rules())?.all(found, sessions)
    })
}

/// The rules by which secrets are left out; others make other bytes of the same file.
fn rules() -> String {
    format!("redacted by rules {REVISION}")
}

/// Keep in mind that this machine has its place in the store, before anything is put there: where
/// it is missing later, the store is.
fn note_claim(data: &DataFolder, settings: &Settings) -> Result<(), Error> {
    if settings.has_pushed {
        return Ok(());
    }
    let mut settings = settings.clone();
    settings.has_pushed = true;
    data.write(&settings)
}

/// The files that are not withheld. One that says which directory several sessions ran in is given
/// as a file of the first of them: where that one was purged, it goes to one that was not.
fn not_withheld(files: Vec<SharedFile>, settings: &Settings) -> Vec<SharedFile> {
    let is_kept = |file: &SharedFile| !settings.withholds(&file.session, &file.path);
    let (mut kept, withheld): (Vec<_>, Vec<_>) = files.into_iter().partition(is_kept);
    let mut withheld: BTreeMap<Place, SharedFile> = withheld
        .into_iter()
        .map(|file| (Place::of(&file.agent, &file.path), file))
        .collect();
    if withheld.is_empty() {
        return kept;
    }
    let of_another = |file: &SharedFile| {
        let beside = beside(&Place::of(&file.agent, &file.path))?;
        let mut moved = withheld.remove(&beside)?;
        moved.session.clone_from(&file.session);
        moved.repository.clone_from(&file.repository);
        moved.cwd.clone_from(&file.cwd);
        Some(moved)
    };
    let of_others: Vec<SharedFile> = kept.iter().filter_map(of_another).collect();
    kept.extend(of_others.into_iter().filter(is_kept));
    kept
}

/// The files of each bundle, in the order in which these begin.
fn by_bundle(files: &[SharedFile]) -> Vec<(BundleKey, Vec<&SharedFile>)> {
    let mut bundles: Vec<(BundleKey, Vec<&SharedFile>)> = Vec::new();
    let mut known = BTreeMap::new();
    for file in files {
        let key = BundleKey {
            agent: file.agent.clone(),
            session: file.session.clone(),
        };
        let at = *known.entry(key.clone()).or_insert(bundles.len());
        if at == bundles.len() {
            bundles.push((key, Vec::new()));
        }
        bundles[at].1.push(file);
    }
    bundles
}

/// A push that is under way.
struct Push<'a> {
    store: Courier<'a>,
    settings: &'a Settings,
    host: &'a str,
    key: Key,
    options: Options,
    /// What is done with secrets.
    form: String,
    /// What the store has of this host, as of now.
    there: BTreeMap<Place, Manifest>,
    blocks: BTreeSet<BlockId>,
    /// Whether all manifests of this host could be read. Where one could not, it is not known which
    /// blocks it needs.
    knows_all: bool,
    /// The files whose manifests could not be read, with their bundles, for a store that keeps
    /// rows.
    unread: BTreeMap<Place, BundleKey>,
    /// Blocks that go even so, where no other manifest names them: those of what was taken back,
    /// and of what was sent with its secrets and is replaced.
    may_go: BTreeSet<BlockId>,
    bundles: Bundles,
    /// For a store that keeps rows: which of them it has, and the new ones.
    rows: Option<(BTreeMap<BundleKey, String>, RowMaker)>,
    batch: Batch,
    batch_bytes: usize,
    /// Whether anything is new in the store.
    has_put: bool,
    by_session: BTreeMap<(String, String), usize>,
    pushed: Pushed,
}

impl<'a> Push<'a> {
    fn begin(
        store: Courier<'a>,
        (data, settings): (&DataFolder, &'a Settings),
        options: Options,
        rules: String,
    ) -> Result<Push<'a>, Error> {
        let host = settings.host.as_str();
        let there = store.ask(move |store| store.manifests(host))?;
        let there = there.unwrap_or_default();
        let blocks = store.ask(move |store| store.blocks(host))?;
        let seals = match options.dry_run {
            true => None,
            false => store.ask(move |store| store.seals(host))?,
        };
        let folder = data.rows();
        let maker = |seals| Ok((seals, RowMaker::begin(&folder, host)?));
        let rows = seals.map(maker).transpose().map_err(Error::at(&folder))?;
        Ok(Push {
            store,
            settings,
            host,
            key: settings.key(),
            options,
            form: if options.raw { RAW.to_owned() } else { rules },
            bundles: Bundles::of(there.files.values()),
            there: there.files,
            blocks,
            knows_all: there.problems.is_empty(),
            unread: there.unread,
            may_go: BTreeSet::new(),
            rows,
            batch: Batch::default(),
            batch_bytes: 0,
            has_put: false,
            by_session: BTreeMap::new(),
            pushed: Pushed {
                problems: there.problems,
                ..Pushed::default()
            },
        })
    }

    /// Send what is new of all these files, and take back what is not shared any more.
    fn all(mut self, found: SharedFiles, sessions: &Sessions) -> Result<Pushed, Error> {
        let mut guesses = BTreeSet::new();
        for of in found.unshared {
            let place = Place::of(&of.agent, &of.path);
            let problem = Problem::new(place.to_string(), of.why);
            self.pushed.problems.push(problem);
            if of.is_a_guess {
                guesses.insert(place);
            }
        }
        // Whatever a source of sessions gives: what was not named is not sent.
        let files = found.files.into_iter();
        let files = files.filter(|file| self.settings.repositories.contains(&file.repository));
        let files = not_withheld(files.collect(), self.settings).into_iter();
        let mut said = HashMap::new();
        let files: Vec<SharedFile> = files.map(|file| self.masked(file, &mut said)).collect();
        self.pushed.files = files.len() as u64;
        let mut closed = BTreeSet::new();
        for (key, files) in by_bundle(&files) {
            for file in files {
                self.file(file, sessions)?;
            }
            self.close(&key)?;
            closed.insert(key);
        }
        self.send()?;
        self.take_back(&files, &guesses)?;
        self.mend_rows(&closed)?;
        self.end()?;
        Ok(self.pushed)
    }
}
