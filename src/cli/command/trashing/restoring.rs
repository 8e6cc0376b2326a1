//! How does what was moved to the trash come back, where a program may look into it?

use std::cmp::Reverse;
use std::path::{Path, PathBuf};

use trash::os_limited::{list, restore_all};

use crate::failure::Failure;

/// Whether this system lets a program look into the trash: then a session comes back from there.
pub const CAN_RESTORE: bool = true;

/// Brings back from the trash what was moved there last from these places; nothing of it where
/// something stands in one of them.
pub fn restore(places: &[PathBuf]) -> Result<(), Failure> {
    let there = |path: &Path| format!("{} is there again, and stays", path.display());
    if let Some(place) = places.iter().find(|place| place.symlink_metadata().is_ok()) {
        let nothing = format!("{}; nothing was moved back", there(place));
        return Err(anyhow::anyhow!(nothing).into());
    }
    let mut items = list().map_err(anyhow::Error::new)?;
    items.sort_by_key(|item| Reverse(item.time_deleted));
    for place in places {
        let item = items.iter().find(|item| item.original_path() == *place);
        let gone = || anyhow::anyhow!("{} is no longer in the trash", place.display());
        let item = item.ok_or_else(gone)?.clone();
        restore_all([item]).map_err(|error| match error {
            trash::Error::RestoreCollision { path, .. } => anyhow::anyhow!(there(&path)),
            error => reason(error),
        })?;
    }
    Ok(())
}

/// Where those files and folders were that lie in the trash, were below one of these folders, and
/// have this in their names.
pub fn trashed(named: &str, below: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let items = list().map_err(anyhow::Error::new)?.into_iter();
    let is_named = |place: &PathBuf| {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        name.contains(named) && below.iter().any(|root| place.starts_with(root))
    };
    let mut places: Vec<PathBuf> = items
        .map(|item| item.original_path())
        .filter(is_named)
        .collect();
    places.sort_unstable();
    places.dedup();
    Ok(places)
}

/// What is wrong with the trash, as the system says it.
pub fn reason(error: trash::Error) -> anyhow::Error {
    #[cfg(unix)]
    if let trash::Error::FileSystem { path, source } = error {
        return anyhow::Error::new(source).context(path.display().to_string());
    }
    anyhow::Error::new(error)
}
