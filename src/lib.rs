//! sessionary
pub mod model;
pub mod query;
pub mod words;
