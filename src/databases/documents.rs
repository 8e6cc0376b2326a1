//! Sessions in JSON documents, read as the lines of the rows that the documents would be: a folder
//! of many of them, or one that holds a whole session.
//!
//! The identity of a session in a folder is made of those of its files. A look compares the
//! session's own document, which messages there are, and the newest of them with what belongs to
//! it: an answer that comes is the newest. A full one compares all files.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};

use super::lines::Lines;
use super::list::KnownIdentities;
use super::rows::Session;
use super::write::said;
use crate::format::database::{Database, Document, Documents, Whole};
use crate::format::identity::Identity;
use crate::format::{json, stable_hash};
use crate::regular;

/// Bytes of the longest document that is read: several times as many are held at once.
const LONGEST: u64 = 64 << 20;

/// Documents at a path.
pub enum Store<'p> {
    /// A folder of them.
    Folder(Folder<'p>),
    /// One file that holds a session.
    File(&'static Documents, &'p Path),
}

/// A folder of documents.
pub struct Folder<'p> {
    documents: &'static Documents,
    path: &'p Path,
}

/// The documents at `path`; `None`: what is there is a database, or would be one.
pub fn store<'p>(path: &'p Path, database: &'static Database) -> Option<Store<'p>> {
    let documents = database.documents?;
    if path.extension().is_some_and(|end| end == Documents::END) {
        return Some(Store::File(documents, path));
    }
    let is_folder = path
        .file_name()
        .is_some_and(|name| name == documents.folder);
    (is_folder && path.is_dir()).then_some(Store::Folder(Folder { documents, path }))
}

impl Store<'_> {
    /// Every session with its identity. Those that look as they are `known` keep their identity,
    /// and nothing more of them is looked at.
    ///
    /// # Errors
    /// Those of the file system; that a file is no JSON.
    pub fn list(&self, known: KnownIdentities<'_>) -> io::Result<BTreeMap<String, Identity>> {
        match self {
            Store::Folder(folder) => folder.list(known),
            Store::File(documents, path) => {
                let identity = Identity::of(&fs::metadata(path)?);
                let text = read(path)?;
                let found = whole(documents, &text)?;
                let found = found.map(|whole| (whole.id, identity));
                Ok(found.into_iter().collect())
            }
        }
    }

    /// The identity of the session of that key.
    ///
    /// # Errors
    /// [`ErrorKind::NotFound`] when there is none; those of the file system.
    pub fn identity(&self, key: &str) -> io::Result<Identity> {
        match self {
            Store::Folder(folder) => Ok(folder.files(key, &folder.documents_of(key)?).identity()),
            Store::File(_, path) => Ok(Identity::of(&fs::metadata(path)?)),
        }
    }

    /// The session of that key. A document that cannot be read is a line that says so.
    ///
    /// # Errors
    /// As of [`Store::identity`].
    pub fn session(&self, key: &str) -> io::Result<Session> {
        let mut lines = Lines::default();
        // Before they are read: what changes meanwhile gives them another one.
        let identity = self.identity(key)?;
        match self {
            Store::Folder(folder) => folder.add(key, &mut lines)?,
            Store::File(documents, path) => {
                let text = read(path)?;
                let found = whole(documents, &text)?.filter(|whole| whole.id == key);
                let found = found.ok_or(ErrorKind::NotFound)?;
                add_whole(documents, &found, &mut lines);
            }
        }
        let (lines, names, _) = lines.into_parts();
        Ok(Session {
            identity,
            lines,
            names,
            turns: Vec::new(),
        })
    }
}

/// The documents of a session, and the folders of what belongs to its messages.
struct Files {
    session: Option<PathBuf>,
    /// Each by its name, in order.
    outer: Vec<(String, PathBuf, PathBuf)>,
}

impl Folder<'_> {
    /// The keys of all sessions.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn keys(&self) -> io::Result<BTreeSet<String>> {
        let mut with_messages = names(&self.path.join(self.documents.outer), Kind::Folder)?;
        let sessions = self.sessions()?;
        with_messages.retain(|key| sessions.contains_key(key) || self.has_messages(key));
        Ok(sessions.into_keys().chain(with_messages).collect())
    }

    /// Whether there is a message of that session: of one that was deleted the folder stays. One
    /// that cannot be listed is told when it is read.
    fn has_messages(&self, key: &str) -> bool {
        let folder = self.path.join(self.documents.outer).join(key);
        folder.is_dir()
            && names(&folder, Kind::Document).map_or(true, |messages| !messages.is_empty())
    }

    fn list(&self, known: KnownIdentities<'_>) -> io::Result<BTreeMap<String, Identity>> {
        let mut all = BTreeMap::new();
        let sessions = self.sessions()?;
        for key in self.keys()? {
            let files = self.files(&key, sessions.get(&key).map_or(&[][..], |all| all));
            let looks = files.look();
            let stands = known.standing(&key);
            let stands = stands.filter(|known| known.ctime_ns == looks);
            let identity = stands.unwrap_or_else(|| files.identity());
            all.insert(key, identity);
        }
        Ok(all)
    }

    /// The documents of sessions. Of a session that moved to another project there may be two.
    fn sessions(&self) -> io::Result<BTreeMap<String, Vec<PathBuf>>> {
        let mut all: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        let folder = self.path.join(self.documents.sessions);
        for project in names(&folder, Kind::Folder)? {
            let folder = folder.join(project);
            for name in names(&folder, Kind::Document)? {
                let path = folder.join(format!("{name}.{}", Documents::END));
                all.entry(name).or_default().push(path);
            }
        }
        Ok(all)
    }

    fn documents_of(&self, key: &str) -> io::Result<Vec<PathBuf>> {
        let folder = self.path.join(self.documents.sessions);
        let projects = names(&folder, Kind::Folder)?.into_iter();
        let document = |project| {
            folder
                .join(project)
                .join(format!("{key}.{}", Documents::END))
        };
        let all: Vec<_> = projects
            .map(document)
            .filter(|path| path.is_file())
            .collect();
        match all.is_empty() && !self.has_messages(key) {
            true => Err(ErrorKind::NotFound.into()),
            false => Ok(all),
        }
    }

    /// The files of the session of that key, of which these are the documents.
    fn files(&self, key: &str, documents: &[PathBuf]) -> Files {
        let changed = |path: &&PathBuf| fs::metadata(path).and_then(|own| own.modified()).ok();
        let folder = self.path.join(self.documents.outer).join(key);
        // One that cannot be listed is a problem of the session's, which is told when it is read.
        let outer = names(&folder, Kind::Document)
            .unwrap_or_default()
            .into_iter();
        Files {
            session: documents.iter().max_by_key(changed).cloned(),
            outer: outer
                .map(|name| {
                    let file = folder.join(format!("{name}.{}", Documents::END));
                    let inner = self.path.join(self.documents.inner).join(&name);
                    (name, file, inner)
                })
                .collect(),
        }
    }

    fn add(&self, key: &str, lines: &mut Lines) -> io::Result<()> {
        let files = self.files(key, &self.documents_of(key)?);
        if let Some(path) = &files.session {
            let of = self.documents.sessions;
            self.add_document((of, key), key, path, None, lines);
        }
        let folder = self.path.join(self.documents.outer).join(key);
        if let Err(error) = names(&folder, Kind::Document) {
            lines.add_problem(&unread(&folder, &error));
        }
        let mut outer = Vec::with_capacity(files.outer.len());
        for (name, path, inner) in &files.outer {
            let text = read(path);
            let created = text.as_deref().ok().and_then(created_ms);
            outer.push((created, name, path, inner, text));
        }
        outer.sort_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)));
        for (_, name, path, inner, text) in outer {
            let of = self.documents.outer;
            let outer = self.add_read((of, name), key, (path, text), None, lines);
            // Once for all that belongs to it: both may be long.
            let repeated = (self.documents.repeats)(outer.as_deref().unwrap_or_default());
            let outer = (name.as_str(), repeated.as_str());
            match names(inner, Kind::Document) {
                Ok(names) => {
                    for name in names {
                        let path = inner.join(format!("{name}.{}", Documents::END));
                        let of = (self.documents.inner, &*name);
                        self.add_document(of, key, &path, Some(outer), lines);
                    }
                }
                Err(error) => lines.add_problem(&unread(inner, &error)),
            }
        }
        Ok(())
    }

    fn add_document(
        &self,
        of: (&'static str, &str),
        session: &str,
        path: &Path,
        outer: Option<(&str, &str)>,
        lines: &mut Lines,
    ) {
        self.add_read(of, session, (path, read(path)), outer, lines);
    }

    /// Add the line of a document that was read; its text is given back.
    fn add_read(
        &self,
        (of, name): (&'static str, &str),
        session: &str,
        (path, text): (&Path, io::Result<String>),
        outer: Option<(&str, &str)>,
        lines: &mut Lines,
    ) -> Option<String> {
        let text = match text {
            Ok(text) => text,
            Err(error) => {
                lines.add_problem(&unread(path, &error));
                return None;
            }
        };
        let document = Document {
            of,
            name,
            session,
            text: &text,
            outer,
        };
        match (self.documents.line)(&document) {
            Some(line) => lines.add_row(&line),
            None => lines.add_problem(&format!(
                "{} is no JSON object; restore it from a backup",
                path.display()
            )),
        }
        Some(text)
    }
}

impl Files {
    /// What a look compares.
    fn look(&self) -> i64 {
        let mut sums = Sums::default();
        self.session.iter().for_each(|path| sums.add(path));
        for (name, ..) in &self.outer {
            sums.add_bytes([name.as_bytes()]);
        }
        let newest = self.outer.last();
        newest.iter().for_each(|outer| sums.add_outer(outer));
        sums.hash.cast_signed()
    }

    fn identity(&self) -> Identity {
        // Before the files: what changes meanwhile looks different from then on.
        let looks = self.look();
        let mut sums = Sums::default();
        self.session.iter().for_each(|path| sums.add(path));
        self.outer.iter().for_each(|outer| sums.add_outer(outer));
        Identity {
            device: 0,
            inode: sums.hash.cast_signed(),
            size: sums.files,
            mtime_ns: sums.newest_ns,
            ctime_ns: looks,
        }
    }
}

/// What files are like, added up.
#[derive(Default)]
struct Sums {
    hash: u64,
    files: u64,
    newest_ns: i64,
}

impl Sums {
    fn add(&mut self, path: &Path) {
        if let Ok(own) = fs::metadata(path) {
            let own = Identity::of(&own);
            self.add_bytes([path.to_string_lossy().as_bytes(), &own.to_bytes()]);
            self.newest_ns = self.newest_ns.max(own.mtime_ns);
            self.files += 1;
        }
    }

    fn add_bytes<const N: usize>(&mut self, parts: [&[u8]; N]) {
        let before = self.hash.to_le_bytes();
        self.hash = stable_hash::of(std::iter::once(&before[..]).chain(parts));
    }

    /// A message, and what belongs to it.
    fn add_outer(&mut self, (_, file, inner): &(String, PathBuf, PathBuf)) {
        self.add(file);
        for name in names(inner, Kind::Document).unwrap_or_default() {
            self.add(&inner.join(format!("{name}.{}", Documents::END)));
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Folder,
    /// A file whose name ends as documents do; it is given without that.
    Document,
}

/// The names of that kind in a folder, in order; none where there is no folder. No link is
/// followed.
fn names(folder: &Path, kind: Kind) -> io::Result<Vec<String>> {
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(error) if is_absence(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let mut found = Vec::new();
    for entry in listed {
        let entry = entry?;
        let of = entry.file_type()?;
        let Ok(name) = entry.file_name().into_string() else {
            continue;
        };
        match kind {
            Kind::Folder if of.is_dir() => found.push(name),
            Kind::Document if of.is_file() => {
                let end = format!(".{}", Documents::END);
                found.extend(name.strip_suffix(&end).map(str::to_owned));
            }
            _ => {}
        }
    }
    found.sort_unstable();
    Ok(found)
}

fn is_absence(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory)
}

fn read(path: &Path) -> io::Result<String> {
    let file = regular::open(path)?;
    let length = file.metadata()?.len();
    if length > LONGEST {
        return Err(io::Error::other(format!(
            "it is {length} bytes long, and no document of more than 64 MiB is read"
        )));
    }
    let mut bytes = Vec::new();
    file.take(LONGEST).read_to_end(&mut bytes)?;
    Ok(match String::from_utf8(bytes) {
        Ok(text) => text,
        Err(error) => said(error.as_bytes()).into_owned(),
    })
}

fn created_ms(text: &str) -> Option<i64> {
    json::whole(text.as_bytes())?;
    json::member(json::member(text, "time")?, "created")?
        .parse()
        .ok()
}

fn unread(path: &Path, error: &io::Error) -> String {
    format!("{} cannot be read: {error}", path.display())
}

/// The session in one document; `None`: it is a document of something else.
fn whole<'d>(documents: &Documents, text: &'d str) -> io::Result<Option<Whole<'d>>> {
    match json::whole(text.as_bytes()) {
        Some(_) => Ok((documents.within)(text)),
        None => Err(io::Error::other("it is no JSON: export the session again")),
    }
}

fn add_whole(documents: &'static Documents, whole: &Whole<'_>, lines: &mut Lines) {
    let mut put = |of, text: &str, outer: Option<(&str, &str)>| {
        let document = Document {
            of,
            name: "",
            session: &whole.id,
            text,
            outer,
        };
        match (documents.line)(&document) {
            Some(line) => lines.add_row(&line),
            None => lines.add_problem("it is no JSON object: export the session again"),
        }
    };
    put(documents.sessions, whole.session, None);
    for (outer, inner) in &whole.outer {
        put(documents.outer, outer, None);
        let repeated = (documents.repeats)(outer);
        for inner in inner {
            put(documents.inner, inner, Some(("", repeated.as_str())));
        }
    }
}
