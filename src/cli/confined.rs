//! What may a process do that other programs talk to all day? What answering takes, and no more:
//! where the kernel can hold it to that (Linux, by Landlock), it gives up everything else for good.
//!
//! It goes on reading whatever its user may read. It writes below the index and the archive, and
//! where SQLite keeps its temporary files. It starts no program (Linux 5.13 and later), opens no
//! TCP connection and accepts none (6.7), and reaches no other process by a signal or an abstract
//! socket (6.12). An older kernel holds it to what that kernel knows.

#[cfg(target_os = "linux")]
mod landlock;

use std::path::PathBuf;

use same_file::Handle;
use sessionary::Config;
use sessionary::index::Indexer;

use crate::demo;
use crate::failure::Failure;

/// The folders in which alone this process may write, as they were when it began.
pub struct Confinement {
    /// Of the index, and of the archive; `None`: it was not there.
    folders: Vec<(PathBuf, Option<Handle>)>,
}

impl Confinement {
    /// Gives up what answering does not take, for this thread and for all that it starts from now
    /// on. What is wrong with the index is told by whoever opens it.
    pub fn begin(config: &Config) -> Self {
        let written = [Some(&config.index_dir), config.archive_dir.as_ref()];
        let written: Vec<PathBuf> = written.into_iter().flatten().cloned().collect();
        // A demo writes elsewhere, and removes its folder in the end.
        if !demo::runs() && Indexer::make_folders(config).is_ok() {
            #[cfg(target_os = "linux")]
            let _ = landlock::give_up(&written, &landlock::temporary());
        }
        let known = |folder: PathBuf| (Handle::from_path(&folder).ok(), folder);
        let folders = written.into_iter().map(known);
        Self {
            folders: folders.map(|(there, folder)| (folder, there)).collect(),
        }
    }

    /// # Errors
    /// A folder is another one than when this process began, and it may not write in that.
    pub fn check(&self) -> Result<(), Failure> {
        let is_it =
            |(folder, there): &&(PathBuf, Option<Handle>)| Handle::from_path(folder).ok() == *there;
        match self.folders.iter().find(|folder| !is_it(folder)) {
            None => Ok(()),
            Some((folder, _)) => Err(Failure::refused(format!(
                "{}: this folder was made or removed while this program ran, and it writes only \
                 where it could when it began; start it again",
                folder.display()
            ))),
        }
    }
}
