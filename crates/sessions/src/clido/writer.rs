//! Writing clido's lines: whole ones at the file's end, without the secrets that clido leaves out.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read};
use std::mem::take;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::de::IgnoredAny;

use super::line::{SCHEMA_VERSION, SessionLine};
use crate::chance::Clock;
use crate::disk::{append_lines, make_folder_of, sync_folders};
use crate::error::Error;
use sessionary_formats::model::iso;

/// Appends lines to one session file, each in one write under a lock.
#[derive(Debug)]
pub struct SessionWriter {
    path: PathBuf,
    file: File,
    /// Whether secrets are left out as clido leaves them out; see [`redact`]. On at first.
    pub redacts: bool,
    /// Whether every line waits until it is on the disk, the first one with the file's name.
    pub sync: bool,
    /// The folders in which a name is new that may not outlast a crash yet.
    to_sync: Vec<PathBuf>,
}

impl SessionWriter {
    /// Begins a session: the file, and the folders above it, appear with their first line. An
    /// existing file is an error.
    ///
    /// # Errors
    /// [`Error::Io`] where the file is there, or cannot be made; [`Error::NoLock`].
    pub fn create(
        path: &Path,
        session_id: &str,
        project_path: &str,
        clock: &dyn Clock,
    ) -> Result<Self, Error> {
        let meta = SessionLine::Meta {
            session_id: session_id.to_owned(),
            schema_version: SCHEMA_VERSION,
            start_time: start_time(clock.now_ms()),
            project_path: project_path.to_owned(),
        };
        let to_sync = make_folder_of(path)?;
        let file = OpenOptions::new()
            .read(true)
            .append(true)
            .create_new(true)
            .open(path)
            .map_err(Error::io(path))?;
        let mut writer = Self::of(path, file);
        writer.to_sync = to_sync;
        // clido writes its own line as it is.
        if let Err(error) = writer.append(&line_of(&meta)?) {
            let _ = fs::remove_file(path);
            return Err(error);
        }
        Ok(writer)
    }

    /// Goes on with a session that is there.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be opened, as one that is not there.
    pub fn append_to(path: &Path) -> Result<Self, Error> {
        let file = OpenOptions::new().read(true).append(true).open(path);
        Ok(Self::of(path, file.map_err(Error::io(path))?))
    }

    fn of(path: &Path, file: File) -> Self {
        Self {
            path: path.to_path_buf(),
            file,
            redacts: true,
            sync: false,
            to_sync: Vec::new(),
        }
    }

    /// Appends a line. A line before it that has no end is ended first. When it fails the file ends
    /// where it did, unless a program without a lock went on behind it in that moment: then the
    /// line stays, as much of it as was written. Gives where it stands, with the end that the line
    /// before it lacked.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::NoLock`].
    pub fn write_line(&mut self, line: &SessionLine) -> Result<Range<u64>, Error> {
        let line = line_of(line)?;
        match self.redacts {
            true => self.append(&redact(&line)),
            false => self.append(&line),
        }
    }

    fn append(&mut self, lines: &str) -> Result<Range<u64>, Error> {
        let file = &mut self.file;
        file.lock().map_err(Error::no_lock(&self.path))?;
        let written = append_lines(file, lines.as_bytes(), self.sync);
        let written = file.unlock().and(written);
        if self.sync && written.is_ok() {
            sync_folders(&take(&mut self.to_sync));
        }
        written.map_err(Error::io(&self.path))
    }
}

fn line_of(line: &SessionLine) -> Result<String, Error> {
    let json = line
        .json()
        .map_err(|error| Error::Invalid(error.to_string()))?;
    Ok(json + "\n")
}

/// The folder of a project's sessions below clido's `sessions`: its path with every separator an
/// underscore.
pub fn folder(project_path: &str) -> String {
    project_path.replace(std::path::MAIN_SEPARATOR, "_")
}

/// As chrono writes a time with its zone.
fn start_time(ms: i64) -> String {
    let utc = iso(ms).unwrap_or_default();
    let time = utc.trim_end_matches('Z');
    let time = time.strip_suffix(".000").unwrap_or(time);
    format!("{time}+00:00")
}

/// Copies a session as clido forks: a new first line, then every line of the old file, its first
/// one too. Nothing is copied while a line is written.
///
/// # Errors
/// [`Error::Invalid`] when the last line is not whole: with an end it would be a line that clido
/// refuses.
pub fn fork(
    source: &Path,
    target: &Path,
    session_id: &str,
    project_path: &str,
    clock: &dyn Clock,
) -> Result<SessionWriter, Error> {
    let lines = read_whole(source).map_err(Error::io(source))?;
    let last = lines
        .rsplit(|byte| *byte == b'\n')
        .next()
        .unwrap_or_default();
    if !last.is_empty() && serde_json::from_slice::<IgnoredAny>(last).is_err() {
        let path = source.display();
        return Err(Error::Invalid(format!(
            "{path}: its last line is torn, or is being written"
        )));
    }
    let mut writer = SessionWriter::create(target, session_id, project_path, clock)?;
    // Nothing is left out of what was written already; bytes that are no text were no line.
    let mut text = String::from_utf8_lossy(&lines).into_owned();
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    if let Err(error) = writer.append(&text) {
        let _ = fs::remove_file(target);
        return Err(error);
    }
    Ok(writer)
}

/// A whole file, read under a lock, so that no writer is in the middle of a line.
fn read_whole(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = File::open(path)?;
    file.lock_shared()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// What clido takes for secrets in a line: behind `sk-ant-`, `sk-or-`, `sk-proj-`, `sk-` and
/// `AKIA`, wherever they stand, all letters, digits, `-`, `_`, `.`, `+` and `/` become
/// `[REDACTED]`. Ordinary words with `sk-` in them suffer too.
pub fn redact(line: &str) -> String {
    const SPECIAL: [&str; 3] = ["ant-", "or-", "proj-"];
    let mut text = line.to_owned();
    // One mark after the other, as clido goes: what one pass wrote the next one sees.
    for mark in ["sk-ant-", "sk-or-", "sk-proj-", "sk-", "AKIA"] {
        let mut out = String::with_capacity(text.len());
        let mut rest = &*text;
        while let Some(at) = rest.find(mark) {
            let (before, after) = rest.split_at(at + mark.len());
            out.push_str(before);
            rest = after;
            if mark == "sk-" && SPECIAL.iter().any(|special| after.starts_with(special)) {
                continue;
            }
            let secret = |c: char| c.is_ascii_alphanumeric() || "-_.+/".contains(c);
            let left = after.trim_start_matches(secret);
            if left.len() < after.len() {
                out.push_str("[REDACTED]");
            }
            rest = left;
        }
        out.push_str(rest);
        text = out;
    }
    text
}
