//! Which session changed a file in another work tree of its repository? What was written there and
//! merged is nobody's here.

use std::path::{Path, PathBuf};

use sessionary::Index;
use sessionary::index::BlameScope;
use sessionary::model::FileLog;
use sessionary::repository::Repository;

use crate::failure::Failure;
use crate::known_trees;
use crate::output::text::plain_line;
use crate::output::{Screen, quote};
use crate::places;

/// Sessions whose folders are looked at, at most.
const MOST_SESSIONS: usize = 8;

/// Says where a file was changed that no session is known to have changed here.
pub fn say(file: &Path, index: &Index, screen: &Screen) -> Result<(), Failure> {
    let Some((repository, within)) = place(file) else {
        return Ok(());
    };
    let known = known_trees::file(&places::surroundings());
    let trees = known_trees::all_trees(&repository, known.as_deref());
    let log = |file: &Path, trees: &[PathBuf]| -> Result<FileLog, Failure> {
        let scope = BlameScope {
            file: file.to_path_buf(),
            trees: trees.to_vec(),
            ..BlameScope::default()
        };
        Ok(index.ask(|snapshot| snapshot.file_log(&scope))?)
    };
    let anywhere = log(&within, &trees)?.sessions.into_iter();
    let changed = anywhere.filter(|of| of.modifications > 0 && of.session.host.is_none());
    for of in changed.take(MOST_SESSIONS) {
        // It ran in the work tree, or in a folder of it.
        let above = Path::new(&of.session.cwd).ancestors();
        let may_be_it = |top: &&Path| {
            *top != repository.top && (trees.iter().any(|t| t == top) || !top.exists())
        };
        for top in above.filter(may_be_it) {
            let there = top.join(&within);
            if log(&there, &[])?
                .sessions
                .iter()
                .all(|of| of.modifications == 0)
            {
                continue;
            }
            let id = index.ask(|snapshot| snapshot.short_ids())?;
            let id = plain_line(id.short(&of.session.id));
            screen.say(&format!(
                "In another work tree, {}, {id} changed it: `sessionary log {}`.",
                screen.path(top),
                quote::posix(&plain_line(&there.to_string_lossy()))
            ));
            return Ok(());
        }
    }
    Ok(())
}

/// The repository around a file, and the file's path in it.
fn place(file: &Path) -> Option<(Repository, PathBuf)> {
    let folder = file.parent()?.canonicalize().ok()?;
    let repository = Repository::around(&folder)?;
    let within = folder.strip_prefix(&repository.top).ok()?;
    let within = within.join(file.file_name()?);
    Some((repository, within))
}
