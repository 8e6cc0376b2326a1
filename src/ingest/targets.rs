//! What does a sync write, and of which roots?

use super::keep::Keeper;
use crate::catalogue::Catalogue;
use crate::format::Format;
use crate::source::root::RootSpec;

/// What a sync writes before the words.
#[derive(Clone, Copy)]
pub struct SyncTargets<'a> {
    /// What is known of the sources.
    pub catalogue: &'a Catalogue,
    /// What is kept of them.
    pub keeper: &'a Keeper,
}

/// A root that is synced.
#[derive(Clone, Copy)]
pub struct SyncedRoot<'a> {
    /// Its number in the catalogue.
    pub number: i64,
    /// What it is.
    pub spec: &'a RootSpec,
    /// The format that reads it.
    pub format: &'a dyn Format,
}
