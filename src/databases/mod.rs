//! Agents' databases, read beside the agents that write them, so that no agent notices and no file
//! appears in its folder.
//!
//! A session in a database is read as lines: one for each of its rows, made from the row alone, so
//! that equal rows are equal bytes. Rows that were put away are read as if they were still there.
//! Documents that an agent had before it had a database are read as the rows that they became.
//!
//! Nothing else in this process may open such a file: when any descriptor of a file is closed, the
//! system drops all locks that the process holds on it, those of SQLite too.

mod budget;
mod documents;
mod events;
mod lines;
mod list;
mod names;
mod one;
mod open;
mod own;
#[cfg(test)]
mod plans;
mod rows;
mod schema;
mod shelf;
#[cfg(test)]
mod tests;
mod turns;
mod versions;
mod write;

pub use documents::{Store, store};
pub use lines::RowNames;
pub use list::{KnownIdentities, identity, list};
pub use names::{Said, identity_of_line, line_of, named, names_files};
pub use one::rows;
pub use open::{DatabaseState, companion, is_alone};
pub use own::own_lines;
pub use rows::{Session, session, session_from};
pub use turns::Turn;
pub use versions::{newest_rows, next_rows, row_states};
