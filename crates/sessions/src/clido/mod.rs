//! clido's sessions: its lines read one by one, written as it writes them, checked before they are
//! resumed, forked.
//!
//! ```
//! use sessionary_sessions::SystemClock;
//! use sessionary_sessions::clido::{SessionLine, SessionReader, SessionWriter};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let folder = tempfile::tempdir()?;
//! # let path = folder.path().join("id.jsonl");
//! let mut writer = SessionWriter::create(&path, "id", "/home/ada/code", &SystemClock)?;
//! writer.write_line(&SessionLine::user("hello, my key is sk-ant-1234"))?;
//! let lines = SessionReader::open(&path)?.collect::<Result<Vec<_>, _>>()?;
//! assert_eq!(lines[1], SessionLine::user("hello, my key is sk-ant-[REDACTED]"));
//! # Ok(())
//! # }
//! ```

mod line;
mod reader;
mod resume;
mod writer;

pub use line::{SCHEMA_VERSION, SessionLine};
pub use reader::{BadLine, SessionReader};
pub use resume::{ChangedFile, RefusedBlock, ResumedMessage, resume, stale_files};
pub use writer::{SessionWriter, folder, fork, redact};
