//! What does the index leave out, and who decided that?
//!
//! The rules are stored in the index directory, beside all generations, and hold for every program
//! that opens it. They outlive the catalogue, which only notes by which rules it was made.

use std::fs;
use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::private;
use crate::source::checkpoint::hash;
use crate::source::exclude::Exclude;

/// The file in the index directory that stores the rules.
const FILE: &str = "rules.json";
/// The file is written under this name first, and then renamed.
const NEW_FILE: &str = "rules.new";

/// Whether a file of this name in the index directory is one of theirs.
pub(crate) fn is_file_of_rules(name: &str) -> bool {
    [FILE, NEW_FILE].contains(&name)
}

/// Where symbolic links below a root may lead.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum FollowLinks {
    /// Only to what lies below a root of the same agent. Others are listed as files that are no
    /// source.
    #[default]
    WithinRoots,
    /// Wherever they lead.
    Everywhere,
}

impl FollowLinks {
    /// By whether links are followed out of the roots.
    pub(crate) fn of(follow_links: bool) -> FollowLinks {
        match follow_links {
            true => FollowLinks::Everywhere,
            false => FollowLinks::WithinRoots,
        }
    }
}

/// What is left out of the index, and whether that is to be changed.
///
/// A program normally uses [`Rules::stored`], as [`Config::new`](super::Config::new) does: then the
/// rules hold that are stored in the index. Only a program that acts on the user's word, as the
/// command does, should change them with [`Rules::set`].
///
/// ```
/// use sessionary::{Config, Exclude, FollowLinks, Rules};
/// let mut config = Config::new("/home/ada/.cache/sessionary", Vec::new());
/// assert!(!config.rules.are_set());
/// config.rules = Rules::set(Exclude::new(&["/home/ada/secret"])?, FollowLinks::WithinRoots);
/// assert!(config.rules.are_set());
/// # Ok::<(), sessionary::BadGlob>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rules {
    exclude: Exclude,
    links: FollowLinks,
    /// Whether links are followed whatever is stored, and without storing it.
    follows_this_time: bool,
    said: RuleSource,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum RuleSource {
    /// Nothing: what is stored holds.
    #[default]
    Nothing,
    /// What holds where nothing is stored yet.
    AtFirst,
    /// What is stored from now on.
    Set,
}

/// What stands in the file. A rule of a newer version that is unknown here cannot be obeyed, so it
/// is an error and not ignored.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RulesFile {
    exclude: Vec<String>,
    follow_links: bool,
}

impl Rules {
    /// The rules that are stored in the index. If none are stored, nothing is excluded, and links
    /// that lead out of the roots are not followed.
    pub fn stored() -> Rules {
        Rules::default()
    }

    /// The rules that are stored in the index. If none are stored, these are stored, unless the
    /// catalogue was made by other rules.
    pub fn at_first(exclude: Exclude, links: FollowLinks) -> Rules {
        Rules {
            exclude,
            links,
            follows_this_time: false,
            said: RuleSource::AtFirst,
        }
    }

    /// The next sync stores these rules in the index, and from then on they hold for every program.
    /// Nothing is stored of what `exclude` matches.
    pub fn set(exclude: Exclude, links: FollowLinks) -> Rules {
        Rules::at_first(exclude, links).to_be_set()
    }

    /// These rules as if they were made by [`Rules::set`].
    pub fn to_be_set(self) -> Rules {
        Rules {
            said: RuleSource::Set,
            ..self
        }
    }

    /// These rules, with links followed out of the roots this time, as by a flag that was typed.
    /// That is not stored: the next full scan without it removes what the links led to.
    pub fn following_links(self) -> Rules {
        Rules {
            follows_this_time: true,
            ..self
        }
    }

    /// These rules after they were set: those that are stored hold, which another program may have
    /// changed since, and these where none are stored any more. So a program that opens the index
    /// again and again sets its own once:
    ///
    /// ```no_run
    /// use sessionary::{Config, Error, Freshness, Index};
    /// # fn open(config: &mut Config) -> Result<Index, Error> {
    /// let index = Index::open(config, Freshness::Check)?;
    /// if !index.config().rules.are_set() {
    ///     config.rules = config.rules.clone().as_stored();
    /// }
    /// # Ok(index)
    /// # }
    /// ```
    pub fn as_stored(self) -> Rules {
        Rules {
            said: RuleSource::AtFirst,
            ..self
        }
    }

    /// Whether they change what is stored, as rules do that are set and are not stored yet.
    pub fn are_set(&self) -> bool {
        self.said == RuleSource::Set
    }

    /// What is left out. In [`Index::config`](crate::Index::config) these are the rules that hold;
    /// in other configurations they are what the program asked for.
    pub fn exclude(&self) -> &Exclude {
        &self.exclude
    }

    /// Whether links are followed out of the roots.
    pub fn follow_links(&self) -> bool {
        self.links == FollowLinks::Everywhere || self.follows_this_time
    }

    /// The rules that hold in this index directory: those that are set, or stored there, or said
    /// for the first time.
    ///
    /// # Errors
    /// [`Error::Rules`] when what is stored cannot be read.
    pub(crate) fn held(&self, index_dir: &Path) -> Result<Rules, Error> {
        if self.are_set() {
            let are_stored = read(index_dir).is_ok_and(|stored| stored == Some(self.file()));
            let said = if are_stored {
                RuleSource::AtFirst
            } else {
                RuleSource::Set
            };
            return Ok(Rules {
                said,
                ..self.clone()
            });
        }
        let Some(stored) = read(index_dir)? else {
            return Ok(self.clone());
        };
        let exclude = Exclude::new(&stored.exclude);
        Ok(Rules {
            exclude: exclude.map_err(|bad| unknown(index_dir, bad.to_string()))?,
            links: FollowLinks::of(stored.follow_links),
            ..*self
        })
    }

    /// Store the rules if that was asked for, once: if other rules are set later, those hold.
    /// `was_made_by`: what the catalogue was made by.
    ///
    /// # Errors
    /// [`Error::Unwritable`]; [`Error::Rules`] when none are stored, yet the catalogue was made by
    /// others than these.
    pub(crate) fn keep(&mut self, index_dir: &Path, was_made_by: Option<i64>) -> Result<(), Error> {
        // Setting other rules replaces a file that cannot be read.
        let stored = match read(index_dir) {
            Err(_) if self.are_set() => None,
            stored => stored?,
        };
        let ours = self.file();
        let is_of_others = was_made_by.is_some() && was_made_by != self.fingerprint();
        match (self.said, stored) {
            (RuleSource::Nothing | RuleSource::AtFirst, None) if is_of_others => {
                return Err(unknown(index_dir, "is missing".to_owned()));
            }
            // An index that was made by other rules than the default ones, but has none stored, has
            // lost them.
            (RuleSource::Nothing, None) if !self.follows_this_time => {}
            (RuleSource::Nothing | RuleSource::AtFirst, Some(_)) => {}
            (_, Some(stored)) if stored == ours => {}
            _ => write(index_dir, &ours)?,
        }
        if self.are_set() {
            self.said = RuleSource::AtFirst;
        }
        Ok(())
    }

    /// As they are stored.
    fn file(&self) -> RulesFile {
        RulesFile {
            exclude: self.exclude.globs().to_vec(),
            follow_links: self.links == FollowLinks::Everywhere,
        }
    }

    /// A fingerprint of the rules; `None` when nothing is left out but links out of the roots.
    pub(crate) fn fingerprint(&self) -> Option<i64> {
        let globs = self.exclude.fingerprint();
        match self.links {
            FollowLinks::Everywhere => {
                Some(hash(format!("follow links, {globs:?}").as_bytes()).cast_signed())
            }
            FollowLinks::WithinRoots => globs,
        }
    }
}

fn read(index_dir: &Path) -> Result<Option<RulesFile>, Error> {
    match fs::read(index_dir.join(FILE)) {
        Ok(bytes) => match serde_json::from_slice(&bytes) {
            Ok(stored) => Ok(Some(stored)),
            Err(error) => Err(unknown(index_dir, error.to_string())),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unknown(index_dir, error.to_string())),
    }
}

/// As a whole, or not at all.
fn write(index_dir: &Path, rules: &RulesFile) -> Result<(), Error> {
    let path = index_dir.join(FILE);
    let unwritable = |error| Error::unwritable(&path, error);
    let bytes = serde_json::to_vec(rules).map_err(|error| unwritable(error.into()))?;
    let new = index_dir.join(NEW_FILE);
    private::write(&new, bytes).map_err(unwritable)?;
    fs::rename(new, &path).map_err(unwritable)
}

fn unknown(index_dir: &Path, why: String) -> Error {
    Error::Rules {
        path: index_dir.join(FILE),
        why,
    }
}
