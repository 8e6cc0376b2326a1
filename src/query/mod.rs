//! Questions: what the user types, and what answers it.

mod collation;
mod dump;
mod list;
mod name;
mod order;
mod search;
mod show;
pub mod syntax;
mod tree;
mod verify;

pub use list::ListScope;
pub use search::SearchScope;
pub use show::ShowScope;
pub use tree::TreeFilter;
