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
pub fn config(global: &Global, settings: &Settings) -> Result<Config, Failure> {
    let mut config = settings.config(&surroundings(), &flags(global))?;
    config.rules = config.rules.to_be_set();
    Ok(config)
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
