//! Of which repositories are the sessions of a host? Beside their files this is said by the
//! directory in which they ran, as the index of a reader looks it up.

use std::collections::{BTreeMap, BTreeSet};

use crate::manifest::Manifest;

/// The file that says it, in the folder of the host.
pub const FILE: &str = "repositories.json";

/// Each directory with its repository. A directory that was a checkout of several, one after the
/// other, is left out: there each file of a session, `AGENT/PATH`, stands for itself.
pub fn of<'a>(manifests: impl Iterator<Item = &'a Manifest> + Clone) -> BTreeMap<String, &'a str> {
    let mut by_directory: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let named = manifests.filter_map(|of| Some((of, of.cwd.as_deref()?)));
    for (of, cwd) in named.clone() {
        by_directory.entry(cwd).or_default().insert(&of.repository);
    }
    let said = named.map(|(of, cwd)| {
        let name = match by_directory.get(cwd).map_or(0, BTreeSet::len) {
            1 => cwd.to_owned(),
            _ => of.place.to_string(),
        };
        (name, &*of.repository)
    });
    said.collect()
}
