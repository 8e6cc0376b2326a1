//! What does this process find around it? Home, variables and directory, and what is set there.

use std::env;
use std::fs::File;
use std::path::Path;

use sessionary::format::remote_of;
use sessionary::repository::Repository;
use sessionary::settings::{self, Flags, Surroundings};
use sessionary::{Config, Freshness, Index, Indexer, with_causes};
use sessionary_team::sessions::Sessions;
use sessionary_team::settings::DataFolder;
use sessionary_team::{Error, Settings, Store, store};

use crate::output::say;

/// What every verb needs.
pub struct Context {
    /// Where the settings are.
    pub data: DataFolder,
    /// What this process finds around it.
    pub surroundings: Surroundings,
    /// Whether answers are JSON.
    pub json: bool,
    /// Whether days and times are those of UTC.
    utc: bool,
}

impl Context {
    /// That of this process.
    pub fn of_this_process(json: bool, utc: bool) -> Result<Context, Error> {
        let surroundings = Surroundings {
            variables: env::vars_os().collect(),
            home: dirs::home_dir(),
            cwd: env::current_dir().unwrap_or_default(),
        };
        let data = surroundings.data_dir().ok_or_else(|| {
            Error::refused(
                "there is no home folder, so no place for the settings",
                "set HOME to an absolute path",
            )
        })?;
        Ok(Context {
            data: DataFolder::of(&data),
            surroundings,
            json,
            utc,
        })
    }

    /// What is set.
    pub fn settings(&self) -> Result<Settings, Error> {
        self.data.read()?.ok_or_else(|| {
            Error::refused(
                "there is no store yet",
                "`sessionary team init dir:PATH` names one, a folder that something else synchronises; see `init --help`",
            )
        })
    }

    /// Be the one process that pushes, pulls or sets. Another one may wait for its store for long,
    /// so it is said who is waited for.
    pub fn lock(&self) -> Result<File, Error> {
        let waits = || say("another sessionary-team is running; this one waits until it has ended");
        self.data.lock(&waits)
    }

    /// The store at this address.
    pub fn store(&self, address: &str) -> Result<Box<dyn Store + Send>, Error> {
        store::open(address, &self.surroundings, &say)
    }

    /// The sessions of this machine. What the configuration file excludes is taken out of the index
    /// first; where that cannot be done, there are none.
    pub fn sessions(&self) -> Result<Sessions, Error> {
        let index = Index::open(&self.config()?, Freshness::Check)?;
        if let Some(obstacle) = index.obstacle() {
            let why = with_causes(obstacle);
            return Err(Error::refused(
                format!("the index could not be brought up to date: {why}"),
                "nothing is shared from an index that may hold what is excluded; try again",
            ));
        }
        Ok(Sessions::of(index))
    }

    /// The sessions of this machine that the index knows, by their ids; of a subagent's the id of
    /// the session that started it too.
    pub fn known_sessions(&self) -> Result<Vec<(String, Option<String>)>, Error> {
        let config = self.config()?;
        let index = Index::open(&config, Freshness::Check)?;
        let all = "SELECT id, CASE WHEN is_subagent THEN parent_session END FROM sessions
            WHERE coalesce(host, '') = ''";
        let text = |of: Option<&serde_json::Value>| Some(of?.as_str()?.to_owned());
        let rows = index.sql(all, &[])?.rows;
        let sessions = rows
            .iter()
            .filter_map(|row| Some((text(row.first())?, text(row.get(1)))));
        Ok(sessions.collect())
    }

    /// Forget in the index what was copied from other machines, and wipe it from its files.
    pub fn forget_other_machines(&self) -> Result<(), Error> {
        let config = self.config()?;
        if !config.catalogue_path().exists() {
            return Ok(());
        }
        let report = Indexer::open(&config)?.forget_other_machines()?;
        report.notes.iter().for_each(|note| say(note));
        Ok(())
    }

    /// The time zone of days and times, by its name.
    pub fn zone(&self) -> Result<String, Error> {
        match self.utc {
            true => Ok("UTC".to_owned()),
            false => Ok(self.config()?.zone.name().to_owned()),
        }
    }

    /// What is configured for the index.
    fn config(&self) -> Result<Config, Error> {
        let flags = Flags::default();
        let unset = sessionary::Error::from;
        let settings = settings::Settings::read(&self.surroundings, &flags).map_err(unset)?;
        let mut config = settings.config(&self.surroundings, &flags).map_err(unset)?;
        config.rules = config.rules.to_be_set();
        Ok(config)
    }

    /// The repository that somebody means: an address, the name that `list` shows, or a folder in
    /// it.
    pub fn repository(&self, named: &str) -> Result<String, Error> {
        let folder = self.surroundings.cwd.join(Path::new(named));
        if !folder.is_dir() {
            // The name that `list` shows is an address without its scheme.
            return remote_of(named)
                .or_else(|| remote_of(&format!("https://{named}")).filter(|_| is_name(named)))
                .ok_or_else(|| {
                    Error::refused(
                        format!("{named}: this is neither a folder nor the address of a repository"),
                        "for example github.com/ada/boat, or . for the repository around this directory",
                    )
                });
        }
        let found = Repository::around(&folder).and_then(|found| found.remote());
        found.ok_or_else(|| {
            Error::refused(
                format!("{named}: no git repository with a remote is there"),
                "sessions are shared by the remote of their repository: `git remote add origin ADDRESS`",
            )
        })
    }
}

/// Whether it looks like the host and the path of a remote.
fn is_name(named: &str) -> bool {
    let plain = |of: char| !of.is_whitespace() && !of.is_control() && of != '@' && of != ':';
    named.contains('/') && named.chars().all(plain)
}
