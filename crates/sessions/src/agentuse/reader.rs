//! What does a session's folder hold?

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::document::{MessageDocument, Part, SessionDocument};
use crate::error::Error;
use crate::value::Json;
use sessionary_formats::json;

/// Sessions below each other that are read. agentuse starts subagents of subagents, and not many
/// levels of them: a deeper chain is none of its own.
const DEEPEST: usize = 64;

/// A session: its folder, read as a whole.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Session {
    /// The folder.
    pub folder: PathBuf,
    /// `session.json`.
    pub document: SessionDocument,
    /// Its messages, by the time they were made and their ids.
    pub messages: Vec<Message>,
    /// `context.json`: the conversation as it was compacted or suspended.
    pub context: Option<Json>,
    /// `tools.json`: the tools the model was offered.
    pub tools: Option<Json>,
    /// Sessions that this one started, by the time they were made, their agents' and their own ids.
    pub subagents: Vec<Session>,
    /// What could not be read. Strictly read there is nothing.
    pub problems: Vec<BadDocument>,
}

/// A message and its parts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Message {
    /// `message.json`.
    pub document: MessageDocument,
    /// Its parts by their times (those without one last) and their ids.
    pub parts: Vec<Part>,
    /// Files with what tools gave back where it was too long for their parts, by name.
    pub artifacts: Vec<PathBuf>,
}

/// A document that cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct BadDocument {
    /// Its file.
    pub path: PathBuf,
    /// Why.
    pub reason: String,
}

impl Session {
    /// Reads a session's folder, its subagents too. Files that are still being written (`*.tmp`)
    /// are passed over.
    ///
    /// # Errors
    /// [`Error::BadDocument`] where a document is no JSON object; [`Error::Io`], also where there
    /// is no `session.json`.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let session = Self::read_lenient(folder)?;
        match session.first_problem() {
            None => Ok(session),
            Some(problem) => Err(Error::BadDocument(problem.clone())),
        }
    }

    /// Reads a session's folder and skips documents that are no JSON objects: [`Session::problems`]
    /// names them. Such a `session.json` counts as empty. No link to a subagent is followed:
    /// agentuse makes none, and it may lead to a folder above.
    ///
    /// # Errors
    /// [`Error::Io`] where there is no `session.json`, where something else stands in the place of
    /// a file, or the disk fails.
    pub fn read_lenient(folder: &Path) -> Result<Self, Error> {
        Self::read_at(folder, 0)
    }

    /// The session of a folder that is so deep below the one that was asked for.
    fn read_at(folder: &Path, depth: usize) -> Result<Self, Error> {
        let mut session = Self {
            folder: folder.to_path_buf(),
            ..Self::default()
        };
        let path = folder.join("session.json");
        let text = read_file(&path).map_err(Error::io(&path))?;
        session.document = session.object(&path, &text, SessionDocument::read_object);
        for name in ["context.json", "tools.json"] {
            let path = folder.join(name);
            let Some(text) = found(read_file(&path), &path)? else {
                continue;
            };
            let document = Json::parse(&String::from_utf8_lossy(&text));
            match (document, name) {
                (None, _) => session.note(&path, "no JSON"),
                (context, "context.json") => session.context = context,
                (tools, _) => session.tools = tools,
            }
        }
        session.read_messages()?;
        session.read_subagents(depth)?;
        Ok(session)
    }

    fn read_subagents(&mut self, depth: usize) -> Result<(), Error> {
        for below in entries(&self.folder.join("subagent"))? {
            let is_folder = below.symlink_metadata().is_ok_and(|below| below.is_dir());
            if !is_folder || !below.join("session.json").is_file() {
                continue;
            }
            if depth == DEEPEST {
                self.note(&below, "below more subagents than are read");
                continue;
            }
            self.subagents.push(Self::read_at(&below, depth + 1)?);
        }
        self.subagents.sort_by(|a, b| {
            let key = |session: &Self| session.document.time.created;
            let agent = |session: &Self| session.document.agent.id.clone();
            key(a)
                .cmp(&key(b))
                .then_with(|| agent(a).cmp(&agent(b)))
                .then_with(|| a.document.id.cmp(&b.document.id))
        });
        Ok(())
    }

    /// Of this session or of one below it.
    fn first_problem(&self) -> Option<&BadDocument> {
        let below = self.subagents.iter().find_map(Self::first_problem);
        self.problems.first().or(below)
    }

    fn note(&mut self, path: &Path, reason: &str) {
        self.problems.push(BadDocument {
            path: path.to_path_buf(),
            reason: reason.to_owned(),
        });
    }

    /// A document; an empty one where the text is no JSON object.
    fn object<T: Default>(
        &mut self,
        path: &Path,
        text: &[u8],
        read: impl Fn(&str) -> Option<T>,
    ) -> T {
        let text = String::from_utf8_lossy(text);
        let Some(value) = json::whole(text.as_bytes()) else {
            self.note(path, "no JSON");
            return T::default();
        };
        read(&text[value]).unwrap_or_else(|| {
            self.note(path, "no JSON object");
            T::default()
        })
    }

    fn read_messages(&mut self) -> Result<(), Error> {
        let folder = self.folder.clone();
        for below in entries(&folder)? {
            let path = below.join("message.json");
            if let Some(text) = found(read_file(&path), &path)? {
                self.read_message(&path, &text, &below.join("part"), &below)?;
            }
        }
        // The first layout, of October 2025.
        for path in entries(&folder.join("message"))? {
            if path.extension().is_some_and(|end| end == "json")
                && let Some(text) = found(read_file(&path), &path)?
            {
                let id = path.file_stem().unwrap_or_default();
                self.read_message(&path, &text, &folder.join("part").join(id), &folder)?;
            }
        }
        self.messages.sort_by(|a, b| {
            let (a, b) = (&a.document, &b.document);
            (a.time.created, &a.id).cmp(&(b.time.created, &b.id))
        });
        Ok(())
    }

    fn read_message(
        &mut self,
        path: &Path,
        text: &[u8],
        parts: &Path,
        beside: &Path,
    ) -> Result<(), Error> {
        let mut message = Message {
            document: self.object(path, text, MessageDocument::read_object),
            ..Message::default()
        };
        for path in entries(parts)? {
            if path.extension().is_some_and(|end| end == "json")
                && let Some(text) = found(read_file(&path), &path)?
            {
                let before = self.problems.len();
                let part = self.object(&path, &text, Part::read_object);
                if self.problems.len() == before {
                    message.parts.push(part);
                }
            }
        }
        message.parts.sort_by(|a, b| {
            let key = |part: &Part| (part.order_ms().is_none(), part.order_ms());
            (key(a), &a.id).cmp(&(key(b), &b.id))
        });
        message.artifacts = entries(&beside.join("artifact"))?;
        message.artifacts.retain(|path| is_artifact(path));
        self.messages.push(message);
        Ok(())
    }
}

fn is_artifact(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    name.starts_with("tool-output-") && (name.ends_with(".json") || name.ends_with(".txt"))
}

/// The bytes of a file. Whoever opened a fifo in its place would wait for a writer.
fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    match fs::metadata(path)?.is_file() {
        true => fs::read(path),
        false => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "it is no regular file; remove it",
        )),
    }
}

/// The paths in a folder, sorted by name; empty where there is no such folder.
fn entries(folder: &Path) -> Result<Vec<PathBuf>, Error> {
    let Some(entries) = found(fs::read_dir(folder), folder)? else {
        return Ok(Vec::new());
    };
    let mut paths = Vec::new();
    for entry in entries {
        paths.push(entry.map_err(Error::io(folder))?.path());
    }
    paths.sort();
    Ok(paths)
}

/// `None` for what is not there.
fn found<T>(read: io::Result<T>, path: &Path) -> Result<Option<T>, Error> {
    use io::ErrorKind::{NotADirectory, NotFound};
    match read {
        Ok(read) => Ok(Some(read)),
        Err(error) if matches!(error.kind(), NotFound | NotADirectory) => Ok(None),
        Err(error) => Err(Error::io(path)(error)),
    }
}
