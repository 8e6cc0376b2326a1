//! Writing agentuse's documents: each whole into a file beside its place, and from there into it.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sha2::{Digest, Sha256};

use super::document::{MessageDocument, Part, SessionDocument, Status};
use super::place::folder_name;
use crate::chance::{Clock, Ids};
use crate::disk::{make_folder_of, sync_folders};
use crate::error::Error;
use crate::splice;
use crate::value::{Json, Value};
use sessionary_formats::json;

/// Letters of a ULID, in their order.
const CROCKFORD: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Writes one session. Documents are replaced by rename, so a reader sees the old one or the new
/// one; of two writers of one document the last one is right, as in agentuse.
#[derive(Debug, Clone)]
pub struct SessionWriter {
    folder: PathBuf,
    id: String,
    clock: Arc<dyn Clock>,
    ids: Arc<dyn Ids>,
    /// Whether every document waits until it and its name are on the disk. agentuse does not.
    pub sync: bool,
}

impl SessionWriter {
    /// Begins a session below a [project's folder](super::project_folder). It is running; its id
    /// and times are made here. `sync`: see [there](Self::sync).
    ///
    /// # Errors
    /// [`Error::Io`] where its folder or document cannot be written.
    pub fn create(
        project: &Path,
        document: SessionDocument,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        sync: bool,
    ) -> Result<Self, Error> {
        Self::begin(&project.join("session"), document, clock, ids, sync)
    }

    /// Goes on with a session that is there.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::NotASession`] where its document is none, or has no id.
    pub fn open(folder: &Path, clock: Arc<dyn Clock>, ids: Arc<dyn Ids>) -> Result<Self, Error> {
        let mut writer = Self {
            folder: folder.to_path_buf(),
            id: String::new(),
            clock,
            ids,
            sync: false,
        };
        let text = writer.document()?;
        let id = json::member(&text, "id").and_then(String::read);
        writer.id = id.ok_or_else(|| Error::NotASession {
            path: folder.join("session.json"),
        })?;
        Ok(writer)
    }

    fn begin(
        above: &Path,
        mut document: SessionDocument,
        clock: Arc<dyn Clock>,
        ids: Arc<dyn Ids>,
        sync: bool,
    ) -> Result<Self, Error> {
        let now = clock.now_ms();
        document.id = ulid(now, &*ids);
        document.status = Some(Status::Running);
        (document.time.created, document.time.updated) = (now, now);
        let agent = document.agent.id.as_deref().unwrap_or(&document.agent.name);
        let writer = Self {
            folder: above.join(folder_name(&document.id, agent)),
            id: document.id.clone(),
            clock,
            ids,
            sync,
        };
        writer.put(&writer.folder.join("session.json"), &text_of(&document))?;
        Ok(writer)
    }

    /// Begins a session that this one starts, in its folder.
    ///
    /// # Errors
    /// As [`SessionWriter::create`].
    pub fn create_subagent(&self, mut document: SessionDocument) -> Result<Self, Error> {
        document.parent_session_id = Some(self.id.clone());
        document.agent.is_sub_agent = true;
        let (clock, ids) = (self.clock.clone(), self.ids.clone());
        let above = self.folder.join("subagent");
        Self::begin(&above, document, clock, ids, self.sync)
    }

    /// The session's folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// The session's id.
    pub fn id(&self) -> &str {
        &self.id
    }

    /// Says how the session stands, and what failed. The rest of `session.json` stays.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::NotASession`] where its document is none.
    pub fn set_status(&self, status: Status, error: Option<&Json>) -> Result<(), Error> {
        let mut text = self.document()?;
        let mut value = String::new();
        status.write(&mut value);
        text = splice::set(&text, "status", &value);
        let time = json::member(&text, "time").filter(|time| time.starts_with('{'));
        let now = self.clock.now_ms().to_string();
        let time = splice::set(time.unwrap_or("{}"), "updated", &now);
        text = splice::set(&text, "time", &time);
        if let Some(error) = error {
            text = splice::set(&text, "error", error.as_str());
        }
        self.put(&self.folder.join("session.json"), &text)
    }

    /// Writes a message, or puts it in place of the one with its id. Gives the id.
    ///
    /// # Errors
    /// [`Error::Invalid`] for an id that is no name of a folder; [`Error::Io`].
    pub fn write_message(&self, mut message: MessageDocument) -> Result<String, Error> {
        let now = self.clock.now_ms();
        if message.id.is_empty() {
            message.id = ulid(now, &*self.ids);
        }
        if message.time.created == 0 {
            message.time.created = now;
        }
        message.session_id.clone_from(&self.id);
        let folder = self.folder.join(name(&message.id)?);
        self.put(&folder.join("message.json"), &text_of(&message))?;
        Ok(message.id)
    }

    /// Writes a part of a message, or puts it in place of the one with its id. Gives the id. A part
    /// without a time stands behind those that have one.
    ///
    /// # Errors
    /// As [`SessionWriter::write_message`].
    pub fn write_part(&self, message_id: &str, mut part: Part) -> Result<String, Error> {
        if part.id.is_empty() {
            part.id = ulid(self.clock.now_ms(), &*self.ids);
        }
        part.session_id.clone_from(&self.id);
        message_id.clone_into(&mut part.message_id);
        let folder = self.folder.join(name(message_id)?).join("part");
        let file = folder.join(format!("{}.json", name(&part.id)?));
        self.put(&file, &text_of(&part))?;
        Ok(part.id)
    }

    /// `session.json` as it is now.
    fn document(&self) -> Result<String, Error> {
        let path = self.folder.join("session.json");
        let text = fs::read_to_string(&path).map_err(Error::io(&path))?;
        match json::whole(text.as_bytes()) {
            Some(value) if text[value.clone()].starts_with('{') => Ok(text[value].to_owned()),
            _ => Err(Error::NotASession { path }),
        }
    }

    fn put(&self, path: &Path, document: &str) -> Result<(), Error> {
        let invalid = || Error::Invalid("what was given is not JSON".to_owned());
        let text = json::stringify(document.as_bytes()).ok_or_else(invalid)?;
        let to_sync = make_folder_of(path)?;
        let mut beside = path.as_os_str().to_owned();
        beside.push(format!(".{}.{}.tmp", std::process::id(), self.ids.random()));
        let beside = PathBuf::from(beside);
        let mut file = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&beside)
            .map_err(Error::io(&beside))?;
        let written = file
            .write_all(json::indented(&text).as_bytes())
            .and_then(|()| if self.sync { file.sync_all() } else { Ok(()) })
            .and_then(|()| fs::rename(&beside, path));
        if written.is_err() {
            let _ = fs::remove_file(&beside);
        } else if self.sync {
            sync_folders(&to_sync);
        }
        written.map_err(Error::io(path))
    }
}

fn text_of(document: &impl Value) -> String {
    let mut out = String::new();
    document.write(&mut out);
    out
}

/// An id that may be a file's name.
fn name(id: &str) -> Result<&str, Error> {
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    match !id.is_empty() && id.chars().all(is_name) {
        true => Ok(id),
        false => Err(Error::Invalid(format!("{id:?} is not an agentuse id"))),
    }
}

/// A ULID of that time.
fn ulid(ms: i64, ids: &dyn Ids) -> String {
    let chance = Sha256::digest(ids.random().as_bytes());
    let mut bits = u128::from(ms.max(0).cast_unsigned() & ((1 << 48) - 1));
    for byte in &chance[..10] {
        bits = bits << 8 | u128::from(*byte);
    }
    let letter = |at: u32| CROCKFORD[(bits >> (5 * at) & 31) as usize] as char;
    (0..26).rev().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chance::RandomIds;

    #[test]
    fn ulids_tell_their_time() {
        let one = ulid(1_767_603_600_000, &RandomIds);
        assert_eq!((one.len(), &one[..10]), (26, "01KE6P4YM0"));
        assert_ne!(one, ulid(1_767_603_600_000, &RandomIds));
    }
}
