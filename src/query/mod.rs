//! Questions: what the user types, and what answers it.

mod agent_list;
mod branch;
mod branch_part;
mod dump;
mod filter;
mod here;
mod highlight;
mod list;
mod list_json;
mod masked;
mod name;
mod order;
mod outline;
mod page;
mod preview;
mod search;
mod session_lengths;
mod short;
mod show;
mod snapshot;
mod tree;
mod unreadable;
mod verify;

pub use branch_part::Branch;
pub use highlight::Highlighter;
pub use list::ListScope;
pub use list_json::WrittenList;
pub use name::{NameScope, TitleMatch, steps_from_last};
pub use page::ListPage;
pub(crate) use preview::preview;
pub use search::SearchScope;
pub use show::{ShowScope, ShownPart};
pub use snapshot::Snapshot;
pub(crate) use snapshot::Stores;
pub use tree::{TreeFilter, TreePart, TreeScope};
pub(crate) use verify::verify;
