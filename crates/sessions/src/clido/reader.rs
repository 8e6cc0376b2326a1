//! The lines of a clido session, one after the other: as strict as clido, or past whatever it
//! refuses.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use super::line::{SCHEMA_VERSION, SessionLine};
use crate::error::Error;
use crate::value::{Json, Value};
use sessionary_formats::json;

/// A line that cannot be read, and why.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {reason}")]
pub struct BadLine {
    /// Which one, from 1 on.
    pub line: u64,
    /// Why.
    pub reason: String,
}

/// The lines of a session file.
#[derive(Debug)]
pub struct SessionReader {
    file: BufReader<File>,
    line: u64,
    strict: bool,
    ended: bool,
}

impl SessionReader {
    /// Reads as clido does: what it refuses is the last item. Empty lines are passed over.
    ///
    /// # Errors
    /// [`Error::Io`] where the file cannot be opened.
    pub fn open(path: &Path) -> Result<Self, Error> {
        Self::new(path, true)
    }

    /// Reads on past what clido refuses: every bad line is an item, and lines of unknown types and
    /// of newer versions are lines like others.
    ///
    /// # Errors
    /// As [`SessionReader::open`].
    pub fn open_lenient(path: &Path) -> Result<Self, Error> {
        Self::new(path, false)
    }

    /// The number of the line that was read last, from 1 on; 0 before the first.
    pub fn line(&self) -> u64 {
        self.line
    }

    fn new(path: &Path, strict: bool) -> Result<Self, Error> {
        Ok(Self {
            file: BufReader::new(File::open(path).map_err(Error::io(path))?),
            line: 0,
            strict,
            ended: false,
        })
    }

    fn parse(&self, bytes: &[u8]) -> Result<SessionLine, String> {
        let text = std::str::from_utf8(bytes).map_err(|_| "invalid UTF-8".to_owned())?;
        match serde_json::from_str(text) {
            Ok(SessionLine::Meta { schema_version, .. })
                if self.strict && schema_version > SCHEMA_VERSION =>
            {
                Err(format!(
                    "schema version {schema_version} is newer than {SCHEMA_VERSION}"
                ))
            }
            Ok(line) => Ok(line),
            Err(error) => {
                let unknown = json::member(text.trim(), "type").and_then(String::read);
                match Json::parse(text) {
                    Some(json) if !self.strict && unknown.is_some_and(|kind| !is_known(&kind)) => {
                        Ok(SessionLine::Other(json))
                    }
                    _ => Err(json::complaint(&error)),
                }
            }
        }
    }
}

fn is_known(kind: &str) -> bool {
    matches!(
        kind,
        "meta"
            | "user_message"
            | "assistant_message"
            | "tool_call"
            | "tool_result"
            | "system"
            | "result"
            | "title"
    )
}

impl Iterator for SessionReader {
    type Item = Result<SessionLine, BadLine>;

    fn next(&mut self) -> Option<Self::Item> {
        let mut bytes = Vec::new();
        while !self.ended {
            bytes.clear();
            self.line += 1;
            let parsed = match self.file.read_until(b'\n', &mut bytes) {
                Ok(0) => return None,
                Ok(_) if bytes.trim_ascii().is_empty() => continue,
                Ok(_) => self.parse(&bytes),
                Err(error) => {
                    self.ended = true;
                    Err(error.to_string())
                }
            };
            self.ended |= self.strict && parsed.is_err();
            let line = self.line;
            return Some(parsed.map_err(|reason| BadLine { line, reason }));
        }
        None
    }
}
