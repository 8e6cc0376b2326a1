//! How does what this machine shares come into a store, so that nothing is sent twice, and that a
//! push which was killed is made up for by the next one?
//!
//! What the store has of this host is asked first. A file whose size, time and redaction are those
//! of its manifest is not read; of one that is read, only blocks are sent that are not there.
//! Blocks come before the manifests that name them, and what no manifest names any more is removed
//! last.

use std::collections::{BTreeMap, BTreeSet};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;
use sessionary::redact::redacted;

use crate::block::{self, BlockId, Key, Part};
use crate::error::{Error, Problem};
use crate::manifest::{self, LARGEST, Manifest, Place, RAW, Source, TOO_LARGE};
use crate::names::{check_agent, check_path};
use crate::rows::{Bundle, BundleKey, Bundles, RowMaker, beside, seal};
use crate::sessions::{Sessions, SharedFile, SharedFiles};
use crate::settings::{DataFolder, Settings};
use crate::store::{Batch, Store, name_is_taken};

/// Bytes that are put at once, compressed.
const BATCH_BYTES: usize = 8 << 20;
/// Blocks, or manifests, that are put at once: a folder has each of them open.
const BATCH_PIECES: usize = 128;
/// What changed less than so long ago may change again without another size or time.
const SETTLED_MS: i64 = 2_000;
/// So long after its last change a file whose end was not given is asked for it no more.
const AT_REST_MS: i64 = 2 * 60_000;

/// Why a file is not sent whose manifest could not leave out a secret.
const IS_NAMED_SO: &str = "its path or the id of its session holds a key or a token";

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
    sessions: &mut dyn Sessions,
    store: &mut dyn Store,
    (data, settings): (&DataFolder, &Settings),
    options: Options,
) -> Result<Pushed, Error> {
    if options.raw && !settings.allow_raw {
        return Err(Error::refused(
            "secrets are not sent: raw bytes are not allowed here",
            "`sessionary team init STORE --allow-raw` allows them",
        ));
    }
    match options.dry_run {
        false => store.claim(&settings.this_host())?,
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
    let mut push = Push::begin(store, (data, settings), options, sessions.rules())?;
    push.pushed.problems.extend(found.unshared);
    // Whatever a source of sessions gives: what was not named is not sent.
    let files = found.files.into_iter().filter(|file| {
        let is_shared = settings.repositories.contains(&file.repository);
        is_shared && !settings.withholds(&file.session, &file.path)
    });
    let files: Vec<SharedFile> = files.map(|file| push.masked(file)).collect();
    push.pushed.files = files.len() as u64;
    for (key, files) in by_bundle(&files) {
        for file in files {
            push.file(file, sessions)?;
        }
        push.close(&key)?;
    }
    push.send()?;
    push.take_back(&files)?;
    push.mend_rows()?;
    push.sweep()?;
    Ok(push.pushed)
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
    store: &'a mut dyn Store,
    settings: &'a Settings,
    host: &'a str,
    key: Key,
    options: Options,
    /// What is done with secrets.
    form: String,
    /// What the store has of this host, as of now.
    there: BTreeMap<Place, Manifest>,
    blocks: BTreeSet<BlockId>,
    bundles: Bundles,
    /// For a store that keeps rows: which of them it has, and the new ones.
    rows: Option<(BTreeMap<BundleKey, String>, RowMaker)>,
    batch: Batch,
    batch_bytes: usize,
    by_session: BTreeMap<(String, String), usize>,
    pushed: Pushed,
}

impl<'a> Push<'a> {
    fn begin(
        store: &'a mut dyn Store,
        (data, settings): (&DataFolder, &'a Settings),
        options: Options,
        rules: String,
    ) -> Result<Push<'a>, Error> {
        let host = settings.host.as_str();
        let there = store.manifests(host)?.unwrap_or_default();
        let blocks = store.blocks(host)?;
        let seals = match options.dry_run {
            true => None,
            false => store.seals(host)?,
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
            rows,
            batch: Batch::default(),
            batch_bytes: 0,
            by_session: BTreeMap::new(),
            pushed: Pushed {
                problems: there.problems,
                ..Pushed::default()
            },
        })
    }

    /// A file whose manifest says no more than the file itself does.
    fn masked(&self, file: SharedFile) -> SharedFile {
        let cwd = file.cwd.map(|cwd| match self.options.raw {
            true => cwd,
            false => redacted(&cwd).unwrap_or(cwd),
        });
        SharedFile { cwd, ..file }
    }

    /// Whether a manifest may say this path and this id.
    fn may_say(&self, path: &str, session: &str) -> bool {
        self.options.raw || redacted(path).is_none() && redacted(session).is_none()
    }

    /// Whether a file may be sent.
    fn check(&self, file: &SharedFile) -> Result<(), &'static str> {
        check_agent(&file.agent)?;
        check_path(&file.path)?;
        if !self.may_say(&file.path, &file.session) {
            return Err(IS_NAMED_SO);
        }
        match file.bytes > LARGEST {
            true => Err(TOO_LARGE),
            false => Ok(()),
        }
    }

    fn problem(&mut self, file: &SharedFile, why: impl ToString) {
        let mut what = format!("{}/{}", file.agent, file.path);
        if let Some(session) = redacted(&file.session) {
            // Within a path a secret is not always known for one.
            what = what.replace(&file.session, &session);
        }
        let what = redacted(&what).unwrap_or(what);
        self.pushed.problems.push(Problem::new(what, why));
    }

    /// Send what is new of a file.
    fn file(&mut self, file: &SharedFile, sessions: &mut dyn Sessions) -> Result<(), Error> {
        let place = Place {
            agent: file.agent.clone(),
            path: file.path.clone(),
        };
        if let Err(why) = self.check(file) {
            self.problem(file, why);
            return Ok(());
        }
        let before = self.there.get(&place);
        if before.is_some_and(|before| is_current(before, file, &self.form) && self.has_all(before))
        {
            return Ok(());
        }
        let shared = match sessions.bytes(file, self.options.raw) {
            Ok(Some(shared)) => shared,
            // It has gone since it was listed.
            Ok(None) => return Ok(()),
            Err(why) => {
                self.problem(file, why);
                return Ok(());
            }
        };
        if shared.bytes.len() as u64 > LARGEST {
            self.problem(file, TOO_LARGE);
            return Ok(());
        }
        let known = before.map_or(&[][..], |before| &before.parts);
        let parts = block::parts(&shared.bytes, known, &self.key);
        for (part, bytes) in &parts {
            self.block(part, bytes)?;
        }
        let rest = if shared.is_whole {
            SETTLED_MS
        } else {
            AT_REST_MS
        };
        let source = Source {
            bytes: file.bytes,
            form: self.form.clone(),
            settled: file.modified_ms.saturating_add(rest) < now_ms(),
        };
        let manifest = Manifest {
            version: manifest::VERSION,
            host: self.host.to_owned(),
            place,
            session: file.session.clone(),
            repository: file.repository.clone(),
            cwd: file.cwd.clone(),
            modified_ms: file.modified_ms,
            parts: parts.iter().map(|(part, _)| part.clone()).collect(),
            source,
        };
        if let Some((_, maker)) = &mut self.rows {
            maker.write(&manifest, parts.iter().map(|(_, bytes)| *bytes))?;
        }
        self.manifest(manifest, shared.redactions)
    }

    fn has_all(&self, manifest: &Manifest) -> bool {
        let mut parts = manifest.parts.iter();
        parts.all(|part| self.blocks.contains(&part.id))
    }

    fn block(&mut self, part: &Part, bytes: &[u8]) -> Result<(), Error> {
        if !self.blocks.insert(part.id.clone()) {
            return Ok(());
        }
        let packed = block::pack(bytes).map_err(|error| Error::Io {
            path: "zstd".into(),
            error,
        })?;
        self.pushed.sent_blocks += 1;
        self.pushed.sent_bytes += packed.len() as u64;
        self.batch_bytes += packed.len();
        self.batch.blocks.push((part.id.clone(), packed));
        self.send_if_full()
    }

    fn manifest(&mut self, manifest: Manifest, redactions: u64) -> Result<(), Error> {
        let before = self.there.insert(manifest.place.clone(), manifest.clone());
        if before.as_ref() == Some(&manifest) {
            return Ok(());
        }
        before.iter().for_each(|before| self.bundles.remove(before));
        self.bundles.add(&manifest);
        // It may differ from the one before by what was read for it alone.
        let is_news = before.is_none_or(|before| before.parts != manifest.parts);
        if is_news {
            self.count(&manifest, redactions);
        }
        self.batch.manifests.push(manifest);
        self.send_if_full()
    }

    fn count(&mut self, manifest: &Manifest, redactions: u64) {
        let sessions = &mut self.pushed.sessions;
        let id = (manifest.place.agent.clone(), manifest.session.clone());
        let at = *self.by_session.entry(id).or_insert(sessions.len());
        if at == sessions.len() {
            sessions.push(PushedSession {
                agent: manifest.place.agent.clone(),
                session: manifest.session.clone(),
                repository: manifest.repository.clone(),
                files: 0,
                bytes: 0,
                redactions: 0,
            });
        }
        sessions[at].files += 1;
        sessions[at].bytes += manifest.bytes();
        sessions[at].redactions += redactions;
    }

    fn send_if_full(&mut self) -> Result<(), Error> {
        let has_rows = self.rows.is_some();
        let manifests = self.batch.manifests.len();
        let is_full = self.batch.blocks.len() >= BATCH_PIECES
            || self.batch_bytes >= BATCH_BYTES
            || manifests >= BATCH_PIECES && !has_rows;
        match (is_full, has_rows) {
            (false, _) => Ok(()),
            (true, false) => self.send(),
            // Manifests go with their rows, once all files of the bundle are read.
            (true, true) => self.send_blocks(),
        }
    }

    fn send_blocks(&mut self) -> Result<(), Error> {
        let blocks = std::mem::take(&mut self.batch.blocks);
        self.batch_bytes = 0;
        self.put(&Batch {
            blocks,
            ..Batch::default()
        })
    }

    fn send(&mut self) -> Result<(), Error> {
        if let Some((_, maker)) = &mut self.rows {
            self.batch.rows = maker.take()?;
        }
        let batch = std::mem::take(&mut self.batch);
        self.batch_bytes = 0;
        self.put(&batch)
    }

    fn put(&mut self, batch: &Batch) -> Result<(), Error> {
        match batch.is_empty() || self.options.dry_run {
            true => Ok(()),
            false => self.store.put(self.host, batch),
        }
    }

    /// All files of a bundle are read: its manifests may be sent, with their rows.
    fn close(&mut self, key: &BundleKey) -> Result<(), Error> {
        self.make_rows(key)?;
        let is_full = |(_, maker): &(_, RowMaker)| maker.is_full();
        let is_full = self.rows.as_ref().is_some_and(is_full);
        match is_full || self.batch.manifests.len() >= BATCH_PIECES {
            true => self.send(),
            false => Ok(()),
        }
    }

    /// Make the rows of a bundle, where those that are there are of something else.
    fn make_rows(&mut self, key: &BundleKey) -> Result<(), Error> {
        let Some((mut seals, mut maker)) = self.rows.take() else {
            return Ok(());
        };
        let made = self.make_rows_by(key, &mut seals, &mut maker);
        self.rows = Some((seals, maker));
        made
    }

    fn make_rows_by(
        &mut self,
        key: &BundleKey,
        seals: &mut BTreeMap<BundleKey, String>,
        maker: &mut RowMaker,
    ) -> Result<(), Error> {
        let places = self.bundles.places(key);
        let beside: BTreeSet<Place> = places.iter().filter_map(beside).collect();
        let all = places
            .iter()
            .chain(beside.iter().filter(|of| !places.contains(of)));
        let all: Vec<Manifest> = all.filter_map(|of| self.there.get(of).cloned()).collect();
        let seal = seal(all.iter());
        if all.is_empty() || seals.get(key) == Some(&seal) {
            return Ok(());
        }
        for manifest in &all {
            if maker.has(manifest) {
                continue;
            }
            self.send_blocks()?;
            // What nobody can read has no rows.
            let Some(said) = self.said(manifest)? else {
                return Ok(());
            };
            maker.write(manifest, said.iter().map(Vec::as_slice))?;
        }
        seals.insert(key.clone(), seal.clone());
        maker.complete(Bundle {
            key: key.clone(),
            seal,
            places,
        });
        Ok(())
    }

    /// What the blocks of a file in the store say; `None`: they are not all there.
    fn said(&mut self, manifest: &Manifest) -> Result<Option<Vec<Vec<u8>>>, Error> {
        let mut said = Vec::new();
        for part in &manifest.parts {
            let packed = self.store.block(self.host, &part.id)?;
            match packed.map(|packed| part.unpack(&packed)) {
                Some(Ok(bytes)) => said.push(bytes),
                _ => return Ok(None),
            }
        }
        Ok(Some(said))
    }

    /// Make the rows that an older version did not, or that were taken back with another file of
    /// their bundle; and have none of what is not in the store.
    fn mend_rows(&mut self) -> Result<(), Error> {
        let Some((seals, _)) = &mut self.rows else {
            return Ok(());
        };
        *seals = self.store.seals(self.host)?.unwrap_or_default();
        let gone = seals.keys().filter(|key| !self.bundles.has(key));
        self.batch.rowless = gone.cloned().collect();
        let keys: Vec<BundleKey> = self.bundles.keys().cloned().collect();
        keys.iter().try_for_each(|key| self.close(key))?;
        self.send()
    }

    /// Whether a manifest has nothing more to do in the store, whatever there is of its file:
    /// somebody took it back, and was cut off; or it says secrets that are not to be sent any more.
    fn is_over(&self, manifest: &Manifest) -> bool {
        let (path, session) = (&*manifest.place.path, &*manifest.session);
        !self.settings.repositories.contains(&manifest.repository)
            || self.settings.withholds(session, path)
            || !self.may_say(path, session)
            || manifest.source.form == RAW && !self.options.raw
    }

    /// Take back what is not shared any more. A session that was moved leaves its old place; one
    /// that is gone stays, until it is asked for.
    fn take_back(&mut self, files: &[SharedFile]) -> Result<(), Error> {
        let places: BTreeSet<(&str, &str)> = files
            .iter()
            .map(|file| (&*file.agent, &*file.path))
            .collect();
        let sessions: BTreeSet<(&str, &str)> = files
            .iter()
            .map(|file| (&*file.agent, &*file.session))
            .collect();
        let mut back = Vec::new();
        for (place, manifest) in &self.there {
            if self.is_over(manifest) {
                back.push(place.clone());
                continue;
            }
            if places.contains(&(&*place.agent, &*place.path)) {
                continue;
            }
            let is_moved = sessions.contains(&(&*place.agent, &*manifest.session));
            match is_moved || self.options.prune {
                true => back.push(place.clone()),
                false => self.pushed.gone += 1,
            }
        }
        self.pushed.taken_back = back.len() as u64;
        for place in &back {
            if let Some(manifest) = self.there.remove(place) {
                self.bundles.remove(&manifest);
            }
        }
        match self.options.dry_run {
            true => Ok(()),
            false => self.store.take_back(self.host, &back),
        }
    }

    fn sweep(&mut self) -> Result<(), Error> {
        if self.options.dry_run {
            return Ok(());
        }
        sweep(self.store, self.host, &self.there, &self.blocks)
    }
}

/// Remove the blocks that no manifest names.
fn sweep(
    store: &mut dyn Store,
    host: &str,
    manifests: &BTreeMap<Place, Manifest>,
    blocks: &BTreeSet<BlockId>,
) -> Result<(), Error> {
    let parts = manifests.values().flat_map(|manifest| &manifest.parts);
    let named: BTreeSet<&BlockId> = parts.map(|part| &part.id).collect();
    let unnamed = blocks.iter().filter(|id| !named.contains(id));
    store.sweep(host, &unnamed.cloned().collect())
}

/// What was taken back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TakenBack {
    /// The manifests.
    pub manifests: Vec<Manifest>,
    /// Manifests that could not be read, and so are in the store still.
    pub problems: Vec<Problem>,
}

/// Take files of this host back from the store, with the blocks that no other of its files needs:
/// those for which `which` is true.
///
/// # Errors
/// When the store does not answer.
pub fn take_back(
    store: &mut dyn Store,
    settings: &Settings,
    dry_run: bool,
    which: impl Fn(&Manifest) -> bool,
) -> Result<TakenBack, Error> {
    let host = settings.host.as_str();
    let Some(there) = store.manifests(host)? else {
        return Ok(TakenBack::default());
    };
    let (back, stays): (Vec<_>, Vec<_>) = there.files.into_iter().partition(|(_, of)| which(of));
    if !dry_run {
        store.claim(&settings.this_host())?;
        let places: Vec<Place> = back.iter().map(|(place, _)| place.clone()).collect();
        store.take_back(host, &places)?;
        let blocks = store.blocks(host)?;
        sweep(store, host, &stays.into_iter().collect(), &blocks)?;
    }
    Ok(TakenBack {
        manifests: back.into_iter().map(|(_, manifest)| manifest).collect(),
        problems: there.problems,
    })
}

/// Whether a file is still what its manifest was made from.
fn is_current(before: &Manifest, file: &SharedFile, form: &str) -> bool {
    before.source.settled
        && before.source.bytes == file.bytes
        && before.source.form == form
        && before.modified_ms == file.modified_ms
        && before.session == file.session
        && before.repository == file.repository
        && before.cwd == file.cwd
}

fn now_ms() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
    })
}
