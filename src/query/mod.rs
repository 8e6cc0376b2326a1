//! Questions: what the user types, and what answers it.

mod branch;
mod dump;
mod filter;
mod list;
mod list_json;
mod listed;
mod masked;
mod name;
mod order;
mod outline;
mod page;
mod preview;
mod search;
mod show;
pub mod syntax;
mod tree;
mod unreadable;
mod verify;

pub use list::ListScope;
pub use list_json::WrittenList;
pub use listed::Listed;
pub use page::ListPage;
pub(crate) use preview::preview;
pub use search::SearchScope;
pub(crate) use search::looked_for;
pub use show::{ShowScope, ShownPart};
pub use tree::{TreeFilter, TreePart, TreeScope};
