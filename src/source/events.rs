//! Where may something have changed? Notifications of the system about directories, gathered until
//! they are asked for.
//!
//! A notification is only a hint. Three rules hold: no hint is lost between the first scan of a
//! directory and its watch (it is watched before it is scanned); a hint that could not be kept
//! becomes a demand for a full scan; and a notification is gathered no later than those that came
//! after it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::ErrorKind as IoKind;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Instant;

use notify::{ErrorKind, Event, EventKind, RecommendedWatcher, RecursiveMode, Watcher};

use super::filesystem;
use super::identity::Identity;
use super::links::Links;

/// How many paths are kept until they are asked for; with more of them a full scan is due.
const MOST_PATHS: usize = 20_000;

/// How many links are followed below one directory; what lies behind further links is found only by
/// the full scan.
const MOST_LINKS: usize = 10_000;

/// Whether the system watches whole trees. Elsewhere each directory is watched for itself.
const WATCHES_TREES: bool = cfg!(any(windows, target_os = "macos"));

/// The notifications since they were last asked for.
#[derive(Debug, Default)]
pub struct Notifications {
    /// Where something may have changed.
    pub paths: BTreeSet<PathBuf>,
    /// Why a full scan is due, if so.
    pub everything: Option<String>,
    woken: bool,
}

#[derive(Default)]
struct Inbox {
    notifications: Mutex<Notifications>,
    something: Condvar,
}

impl Inbox {
    fn add(&self, add: impl FnOnce(&mut Notifications)) {
        let mut notifications = self
            .notifications
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        add(&mut notifications);
        if notifications.paths.len() > MOST_PATHS {
            notifications.paths.clear();
            notifications.everything = Some("more changed than could be noted".into());
        }
        notifications.woken = true;
        drop(notifications);
        self.something.notify_one();
    }

    fn event(&self, event: notify::Result<Event>) {
        match event {
            Ok(event) if event.need_rescan() => self.add(|notifications| {
                notifications.everything = Some("the system could not report all changes".into());
            }),
            // Reads, most of them ours, change nothing.
            Ok(event) if matches!(event.kind, EventKind::Access(_)) => {}
            Ok(event) => self.add(|notifications| notifications.paths.extend(event.paths)),
            Err(error) => {
                self.add(|notifications| notifications.everything = Some(error.to_string()))
            }
        }
    }
}

/// Why a directory cannot be watched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal(pub String);

/// What was found in a tree that is watched now.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct WatchedTree {
    /// Directories.
    pub directories: u64,
    /// Links, files with several names, directories that cannot be read, and mounts of other
    /// machines: what they lead to or hold may change without a notification.
    pub unreported: u64,
    /// The links, and where those end that are followed.
    pub links: BTreeMap<PathBuf, Option<PathBuf>>,
}

/// The notifications of the system.
pub struct Events {
    inbox: Arc<Inbox>,
    watcher: Option<RecommendedWatcher>,
}

impl Events {
    /// Ready to watch directories.
    ///
    /// # Errors
    /// Why the system gives this process no notifications.
    pub fn new() -> Result<Events, Refusal> {
        let inbox = Arc::<Inbox>::default();
        let filled = Arc::clone(&inbox);
        let watcher = notify::recommended_watcher(move |event| filled.event(event));
        Ok(Events {
            inbox,
            watcher: Some(watcher.map_err(|error| refusal(&error))?),
        })
    }

    /// No notifications at all; a waiting thread can only be woken.
    pub fn none() -> Events {
        Events {
            inbox: Arc::default(),
            watcher: None,
        }
    }

    /// Whether directories can be watched at all.
    pub fn can_watch(&self) -> bool {
        self.watcher.is_some()
    }

    /// Ends the waiting of [`Events::take`] from any thread.
    pub fn waker(&self) -> impl Fn() + Send + 'static {
        let inbox = Arc::clone(&self.inbox);
        move || inbox.add(|_| {})
    }

    /// All notifications so far; if there are none, wait for some until `until`.
    pub fn take(&self, until: Option<Instant>) -> Notifications {
        let lock = self.inbox.notifications.lock();
        let mut notifications = lock.unwrap_or_else(PoisonError::into_inner);
        while !notifications.woken {
            let Some(until) = until else {
                let waited = self.inbox.something.wait(notifications);
                notifications = waited.unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                break;
            }
            let waited = self.inbox.something.wait_timeout(notifications, left);
            notifications = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
        std::mem::take(&mut notifications)
    }

    /// Watch what is directly in `path`, or `path` itself if it is a file. `false`: it is not
    /// there.
    pub fn watch(&mut self, path: &Path) -> Result<bool, Refusal> {
        self.watch_as(path, RecursiveMode::NonRecursive)
    }

    /// Watch `path` no more.
    pub fn unwatch(&mut self, path: &Path) {
        if let Some(watcher) = &mut self.watcher {
            // One that is not watched any more is gone itself.
            let _ = watcher.unwatch(path);
        }
    }

    fn watch_as(&mut self, path: &Path, mode: RecursiveMode) -> Result<bool, Refusal> {
        let Some(watcher) = &mut self.watcher else {
            return Err(Refusal("the system reports no changes".into()));
        };
        match watcher.watch(path, mode) {
            Ok(()) => Ok(true),
            Err(error) => match &error.kind {
                ErrorKind::PathNotFound => Ok(false),
                ErrorKind::Io(io) if io.kind() == IoKind::NotFound => Ok(false),
                _ => Err(refusal(&error)),
            },
        }
    }

    /// Watch the directory `top` and, unless it is `flat`, all directories below it, links to
    /// directories among them where they are followed. `is_read`: whether a file is of any
    /// interest.
    ///
    /// # Errors
    /// Why one of them cannot be: nothing is certain then.
    pub fn watch_tree(
        &mut self,
        top: &Path,
        flat: bool,
        links: &Links,
        is_read: &dyn Fn(&Path) -> bool,
    ) -> Result<WatchedTree, Refusal> {
        let mut met = WatchedTree::default();
        if WATCHES_TREES && !flat {
            self.watch_as(top, RecursiveMode::Recursive)?;
        }
        let mut waiting = vec![(top.to_path_buf(), Vec::new())];
        while let Some((directory, above)) = waiting.pop() {
            // It is watched first and listed then, so that what is created in between is notified,
            // or seen, or both.
            let watched = match WATCHES_TREES && !flat {
                true => Ok(true),
                false => self.watch(&directory),
            };
            match watched {
                Ok(true) => met.directories += 1,
                Ok(false) => continue,
                Err(_) if !is_readable(&directory) => {
                    met.unreported += 1;
                    continue;
                }
                Err(refusal) => return Err(refusal),
            }
            look_into(&directory, above, links, is_read, &mut waiting, &mut met);
            if flat {
                break;
            }
        }
        Ok(met)
    }
}

/// Add the directories in `directory` to those that wait.
fn look_into(
    directory: &Path,
    mut above: Vec<(i64, i64)>,
    links: &Links,
    is_read: &dyn Fn(&Path) -> bool,
    waiting: &mut Vec<(PathBuf, Vec<(i64, i64)>)>,
    met: &mut WatchedTree,
) {
    let own = |path: &Path| {
        let identity = Identity::of(&fs::metadata(path).ok()?);
        Some((identity.device, identity.inode))
    };
    above.extend(own(directory));
    if let [.., (parent, _), (here, _)] = above[..]
        && parent != here
        && filesystem::remote_file_system(directory).is_some()
    {
        met.unreported += 1;
    }
    let Ok(names) = fs::read_dir(directory) else {
        met.unreported += 1;
        return;
    };
    for name in names {
        let Ok((name, kind)) = name.and_then(|name| Ok((name.path(), name.file_type()?))) else {
            met.unreported += 1;
            continue;
        };
        if kind.is_file() {
            met.unreported += u64::from(is_read(&name) && is_unreported(&name));
        } else if kind.is_dir() {
            waiting.push((name, above.clone()));
        } else if kind.is_symlink() {
            met.unreported += 1;
            let is_directory = name.is_dir();
            // Without inodes a link to a folder above cannot be recognized, so no link is followed.
            let leads_on =
                !is_directory || cfg!(unix) && own(&name).is_some_and(|own| !above.contains(&own));
            // Links that lead to one another have more ways through them than there are
            // directories.
            let follows = leads_on && links.follow(&name).is_ok() && met.links.len() < MOST_LINKS;
            let end = fs::canonicalize(&name).ok().filter(|_| follows);
            met.links.insert(name.clone(), end);
            if is_directory && follows {
                waiting.push((name, above.clone()));
            }
        }
    }
}

/// Whether a file may change without a notification of the directory in which it lies: it is a
/// link, or has another name, by which it is written.
pub fn is_unreported(file: &Path) -> bool {
    let own = fs::symlink_metadata(file);
    own.is_ok_and(|own| own.is_symlink() || own.is_file() && has_other_names(&own))
}

#[cfg(unix)]
fn has_other_names(file: &fs::Metadata) -> bool {
    std::os::unix::fs::MetadataExt::nlink(file) > 1
}

/// There the watcher vouches for nothing.
#[cfg(not(unix))]
fn has_other_names(_file: &fs::Metadata) -> bool {
    false
}

fn is_readable(directory: &Path) -> bool {
    fs::read_dir(directory).is_ok()
}

fn refusal(error: &notify::Error) -> Refusal {
    Refusal(match &error.kind {
        ErrorKind::MaxFilesWatch => {
            "the system's limit of watched directories is reached (fs.inotify.max_user_watches)"
                .into()
        }
        ErrorKind::Io(io) if io.raw_os_error() == Some(24) => {
            "the system's limit of watching processes is reached (fs.inotify.max_user_instances)"
                .into()
        }
        _ => error.to_string(),
    })
}

#[cfg(test)]
mod tests {
    use notify::event::{AccessKind, CreateKind, Flag};

    use super::*;

    fn notifications_of(events: impl IntoIterator<Item = notify::Result<Event>>) -> Notifications {
        let inbox = Arc::<Inbox>::default();
        events.into_iter().for_each(|event| inbox.event(event));
        let events = Events {
            inbox,
            watcher: None,
        };
        events.take(Some(Instant::now()))
    }

    fn created(path: &str) -> notify::Result<Event> {
        Ok(Event::new(EventKind::Create(CreateKind::File)).add_path(path.into()))
    }

    #[test]
    fn changes_that_cannot_be_reported_demand_a_full_scan() {
        let few = notifications_of([created("/a"), created("/b"), created("/a")]);
        assert_eq!((few.paths.len(), few.everything), (2, None));
        // The queue of the system was full.
        let rescan = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        let all = notifications_of([created("/a"), Ok(rescan)]);
        assert!(all.everything.is_some() && all.paths.len() == 1, "{all:?}");
        assert!(
            notifications_of([Err(notify::Error::generic("lost"))])
                .everything
                .is_some()
        );
        // Ours is.
        let many = (0..=MOST_PATHS).map(|number| created(&format!("/{number}")));
        let all = notifications_of(many);
        assert!(all.everything.is_some() && all.paths.is_empty(), "{all:?}");
    }

    #[test]
    fn who_reads_wakes_nobody() {
        let opened = Event::new(EventKind::Access(AccessKind::Any)).add_path("/a".into());
        let nothing = notifications_of([Ok(opened)]);
        assert!(nothing.paths.is_empty() && !nothing.woken, "{nothing:?}");
    }
}
