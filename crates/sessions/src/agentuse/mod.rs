//! agentuse's sessions: a folder of documents each, read as a whole and written document by
//! document.
//!
//! ```
//! use std::sync::Arc;
//! use sessionary_sessions::agentuse::{
//!     Agent, MessageDocument, Part, Session, SessionDocument, SessionWriter, Status,
//! };
//! use sessionary_sessions::{RandomIds, SystemClock};
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let data = tempfile::tempdir()?;
//! # let project = sessionary_sessions::agentuse::project_folder(data.path(), "/home/ada/code");
//! let document = SessionDocument {
//!     agent: Agent {
//!         id: Some("agents/triage".into()),
//!         name: "triage".into(),
//!         ..Default::default()
//!     },
//!     model: "anthropic:claude-sonnet-4-6".into(),
//!     ..Default::default()
//! };
//! let (clock, ids) = (Arc::new(SystemClock), Arc::new(RandomIds));
//! let writer = SessionWriter::create(&project, document, clock, ids, false)?;
//! let message = writer.write_message(MessageDocument::task("Sort the inbox"))?;
//! writer.write_part(&message, Part::text("Done."))?;
//! writer.set_status(Status::Completed, None)?;
//!
//! let session = Session::read(writer.folder())?;
//! assert_eq!(session.document.status, Some(Status::Completed));
//! assert_eq!(session.messages[0].parts[0].text.as_deref(), Some("Done."));
//! # Ok(())
//! # }
//! ```

mod document;
mod place;
mod reader;
mod writer;

pub use document::{
    Agent, Answer, MessageDocument, MessageTime, Part, PartTime, Project, Prompt, SessionDocument,
    SessionTime, Status, ToolState, User,
};
pub use place::{folder_name, folder_of, project_folder};
pub use reader::{BadDocument, Message, Session};
pub use writer::SessionWriter;
