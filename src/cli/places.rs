//! Where is the index, and which roots are read? The library says, told what this process finds
//! around it.

use std::env;

use sessionary::Config;
use sessionary::settings::{Flags, Settings, Surroundings};

use crate::args::Global;
use crate::demo;
use crate::failure::Failure;

/// What this process finds around it, or what its demo does.
pub fn surroundings() -> Surroundings {
    demo::surroundings().unwrap_or_else(|| Surroundings {
        variables: env::vars_os().collect(),
        home: dirs::home_dir(),
        cwd: env::current_dir().unwrap_or_default(),
    })
}

/// What flags, variables and the configuration file say.
pub fn settings(global: &Global) -> Result<Settings, Failure> {
    Ok(Settings::read(&surroundings(), &flags(global))?)
}

/// The configuration that they ask for. What the configuration file leaves out is left out from now
/// on, whoever opens the index.
///
/// Root makes no index in the home folder of another user, who could not open it any more.
pub fn config(global: &Global, settings: &Settings) -> Result<Config, Failure> {
    let mut config = settings.config(&surroundings(), &flags(global))?;
    let is_named = settings.index.source != "default";
    if !is_named && !config.index_dir.exists() && is_in_home_of_another() {
        let what = "this is root, and the home folder is another user's, who could not open an index that root makes there";
        return Err(Failure::refused(what)
            .hint("run it as that user (`sudo -u USER sessionary …`)")
            .hint("or set HOME to root's own folder, or name a directory with --index"));
    }
    config.rules = config.rules.to_be_set();
    Ok(config)
}

/// What is wrong with roots and globs: it is found out only where they are put to use.
pub fn check(global: &Global, settings: &Settings) -> Result<(), Failure> {
    settings.config(&surroundings(), &flags(global))?;
    Ok(())
}

/// Whether this is root with the home folder of another user, as by `sudo` or `su`.
#[cfg(unix)]
pub fn is_in_home_of_another() -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |home| std::fs::metadata(home).map_or(0, |home| home.uid());
    let home = surroundings().home;
    rustix::process::geteuid().is_root() && home.is_some_and(|home| owner(home) != 0)
}

/// Whether this is root with the home folder of another user.
#[cfg(not(unix))]
pub fn is_in_home_of_another() -> bool {
    false
}

fn flags(global: &Global) -> Flags {
    Flags {
        index: global.index.clone(),
        roots: global.roots.clone(),
        no_default_roots: global.no_default_roots,
        follow_links: global.follow_links,
        reveal: global.reveal,
        utc: global.utc,
        no_pager: global.no_pager,
    }
}
