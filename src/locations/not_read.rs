//! Which agents' sessions lie on this machine and are not read?

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::Environment;
use super::others::{Base, Place, READ_BY, STORES, Store};
use crate::format::AGENTS;
use crate::source::root::RootSpec;

/// Files of one agent that are counted at most: what is more is not worth the wait.
const MOST_FILES: u64 = 1_000;
/// Names of one agent's that are looked at at most, folders too.
const MOST_NAMES: usize = 4_000;

/// Sessions of an agent that this build does not read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct NotRead {
    /// What people call the agent.
    pub agent: String,
    /// The folders and files in which its sessions are.
    pub places: Vec<PathBuf>,
    /// Files there.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// There are more, which were not counted.
    pub has_more: bool,
    /// What `--root` takes so that they are read all the same, by another agent's format.
    pub root: Option<String>,
}

impl NotRead {
    /// Nothing yet, of this agent.
    fn of(agent: &str) -> NotRead {
        NotRead {
            agent: agent.to_owned(),
            places: Vec::new(),
            files: 0,
            bytes: 0,
            has_more: false,
            root: None,
        }
    }

    /// The same where this format reads a folder of it.
    fn read_by(self, format: &str, folder: &Path) -> NotRead {
        NotRead {
            root: Some(format!("{format}:{}", folder.display())),
            ..self
        }
    }
}

/// The agents whose sessions are there and are not read: neither is the agent among
/// [`AGENTS`], nor is one of `roots` in such a place, or around it. Of an agent that is read, those
/// of a version that is too old are among them. Every known place is looked at
/// once, and files are counted up to a bound.
///
/// ```
/// use sessionary::locations::{Environment, not_read};
/// let home = tempfile::tempdir()?;
/// std::fs::create_dir_all(home.path().join(".junie/sessions/one"))?;
/// std::fs::write(home.path().join(".junie/sessions/one/events.jsonl"), "{}\n")?;
/// let environment = Environment {
///     home: Some(home.path().to_path_buf()),
///     data_dir: None,
///     var: &|_| None,
///     cwd: home.path().to_path_buf(),
///     read_settings: false,
/// };
/// let found = not_read(&environment, &[]);
/// assert_eq!((found[0].agent.as_str(), found[0].files, found[0].bytes), ("Junie", 1, 3));
/// # Ok::<(), std::io::Error>(())
/// ```
pub fn not_read(environment: &Environment<'_>, roots: &[RootSpec]) -> Vec<NotRead> {
    let is_agent = |store: &&Store| AGENTS.iter().any(|agent| agent.name == store.agent);
    let others = STORES
        .iter()
        .filter(|store| !is_agent(store))
        .filter_map(|store| counted(store, environment, roots));
    let of_qwen = |root| of_old_qwen(root, roots);
    let old = roots.iter().filter_map(of_projects);
    let old = old.chain(roots.iter().filter_map(of_qwen));
    others.chain(old).collect()
}

/// What OpenCode 0.5 and older left below a root of OpenCode's of sessions that no later one has
/// taken over into `storage`. Of one that was deleted since, a folder is left there.
fn of_projects(root: &RootSpec) -> Option<NotRead> {
    if root.format != "opencode" {
        return None;
    }
    let storage = root.path.join("storage");
    let mut taken_over: BTreeSet<OsString> = entries(&storage.join("message")).collect();
    for project in entries(&storage.join("session")) {
        taken_over.extend(entries(&storage.join("session").join(project)));
    }
    let place = root.path.join("project");
    let mut found = NotRead::of("OpenCode 0.5 and older");
    let mut names = 0;
    for project in entries(&place) {
        let sessions = place.join(project).join("storage/session");
        for document in entries(&sessions.join("info")) {
            let id = Path::new(&document).with_extension("").into_os_string();
            if taken_over.contains(&id) || taken_over.contains(&document) {
                continue;
            }
            count(
                &sessions.join("info").join(&document),
                &mut names,
                &mut found,
            );
            for of in ["message", "part"] {
                count(&sessions.join(of).join(&id), &mut names, &mut found);
            }
        }
    }
    found.places.push(place);
    (found.files > 0).then_some(found)
}

/// The names in a folder, as many as are looked at.
fn entries(folder: &Path) -> impl Iterator<Item = OsString> + use<> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.take(MOST_NAMES).map(|entry| entry.file_name())
}

/// What Qwen Code left beside its projects when it still wrote Gemini CLI's files, unless one of
/// `roots` is there.
fn of_old_qwen(root: &RootSpec, roots: &[RootSpec]) -> Option<NotRead> {
    if root.format != "qwen" || !root.path.ends_with("projects") {
        return None;
    }
    let place = root.path.with_file_name("tmp");
    let is_read =
        |other: &RootSpec| other.path.starts_with(&place) || place.starts_with(&other.path);
    if roots.iter().any(is_read) {
        return None;
    }
    let mut found = NotRead::of("Qwen Code in Gemini CLI's format");
    let mut names = 0;
    for project in entries(&place) {
        count(&place.join(project).join("chats"), &mut names, &mut found);
    }
    if found.files == 0 {
        return None;
    }
    found.places.push(place.clone());
    Some(found.read_by("gemini", &place))
}

fn counted(store: &Store, environment: &Environment<'_>, roots: &[RootSpec]) -> Option<NotRead> {
    let is_root = |path: &Path| {
        let is_around =
            |root: &RootSpec| root.path.starts_with(path) || path.starts_with(&root.path);
        roots.iter().any(is_around)
    };
    let places = store
        .places
        .iter()
        .filter_map(|place| path(place, environment));
    // Two rules may name one place.
    let places: BTreeSet<PathBuf> = places.filter(|place| !is_root(place)).collect();
    let mut found = NotRead::of(store.name);
    let mut names = 0;
    for place in places {
        let before = found.files;
        count(&place, &mut names, &mut found);
        if found.files > before {
            found.places.push(place);
        }
    }
    let folder = found.places.first()?.parent().map(Path::to_path_buf);
    let format = READ_BY.iter().find(|(agent, _)| *agent == store.agent);
    Some(match format.zip(folder) {
        Some(((_, format), folder)) => found.read_by(format, &folder),
        None => found,
    })
}

/// Where the place is; `None` without a folder that it lies below.
fn path(place: &Place, environment: &Environment<'_>) -> Option<PathBuf> {
    let set = |name: &str| (environment.var)(name).filter(|value| !value.is_empty());
    let below_home = |folder: &str| Some(environment.home.as_ref()?.join(folder));
    let named = |name: &str| {
        set(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    };
    let base = || match place.base {
        Base::Home => environment.home.clone(),
        Base::Data => environment.data_dir.clone(),
        Base::Xdg => named("XDG_DATA_HOME").or_else(|| below_home(".local/share")),
        Base::Project => Some(environment.cwd.clone()),
        // Elsewhere the platform has one folder for both.
        Base::Config if cfg!(any(windows, target_os = "macos")) => environment.data_dir.clone(),
        Base::Config => named("XDG_CONFIG_HOME").or_else(|| below_home(".config")),
    };
    let variable = Some(place.variable).filter(|name| !name.is_empty());
    let folder = match variable.and_then(set) {
        Some(folder) => environment.cwd.join(folder),
        None => base()?.join(place.folder),
    };
    Some(folder.join(place.sessions))
}

/// Counts what is there; links are not followed. What cannot be read is not counted.
fn count(place: &Path, names: &mut usize, found: &mut NotRead) {
    let mut next = vec![place.to_path_buf()];
    while let Some(path) = next.pop() {
        if found.files == MOST_FILES || *names == MOST_NAMES {
            found.has_more = true;
            return;
        }
        *names += 1;
        let Ok(metadata) = fs::symlink_metadata(&path) else {
            continue;
        };
        if metadata.is_file() {
            found.files += 1;
            found.bytes += metadata.len();
        } else if metadata.is_dir()
            && let Ok(folder) = fs::read_dir(&path)
        {
            let entries = folder.flatten().take(MOST_NAMES);
            next.extend(entries.map(|entry| entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is not read below a home, with these variables.
    fn found(home: &Path, variables: &[(&str, &Path)], roots: &[RootSpec]) -> Vec<NotRead> {
        let var = |name: &str| {
            let mut all = variables.iter();
            all.find(|(known, _)| *known == name)
                .map(|(_, value)| value.as_os_str().to_owned())
        };
        let environment = Environment {
            home: Some(home.to_path_buf()),
            data_dir: Some(home.join("data")),
            var: &var,
            cwd: home.join("code"),
            read_settings: false,
        };
        not_read(&environment, roots)
    }

    /// Every place of every agent is found where it is made.
    #[test]
    fn each_place_is_found() {
        let mut places = 0;
        for store in STORES {
            assert!(!store.known_from.is_empty(), "{}", store.name);
            for place in store.places {
                let home = tempfile::tempdir().unwrap();
                let moved = home.path().join("moved");
                let environment = Environment {
                    home: Some(home.path().to_path_buf()),
                    data_dir: Some(home.path().join("data")),
                    var: &|name| (name == place.variable).then(|| moved.clone().into_os_string()),
                    cwd: home.path().join("code"),
                    read_settings: false,
                };
                let path = path(place, &environment).unwrap();
                assert_eq!(path.starts_with(&moved), !place.variable.is_empty());
                // A name with an extension is a file.
                let file = match path.extension().is_some() && !place.sessions.contains("kiroagent")
                {
                    true => path.clone(),
                    false => path.join("below/one.jsonl"),
                };
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, "12345").unwrap();
                let found = not_read(&environment, &[]);
                let is_read = AGENTS.iter().any(|agent| agent.name == store.agent);
                let expected: Vec<_> = (!is_read)
                    .then_some((store.name, 1, 5))
                    .into_iter()
                    .collect();
                let found: Vec<_> = found
                    .iter()
                    .map(|of| (of.agent.as_str(), of.files, of.bytes))
                    .collect();
                assert_eq!(found, expected, "{}", path.display());
                places += 1;
            }
        }
        assert!(
            STORES.len() >= 40 && places >= 50,
            "{} with {places}",
            STORES.len()
        );
        assert!(STORES.is_sorted_by_key(|store| store.name.to_lowercase()));
    }

    #[test]
    fn an_empty_folder_and_what_is_read_are_left_out() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join(".junie/sessions");
        fs::create_dir_all(place.join("empty")).unwrap();
        assert_eq!(found(home.path(), &[], &[]), []);
        fs::write(place.join("one.jsonl"), "1").unwrap();
        assert_eq!(found(home.path(), &[], &[]).len(), 1);
        let root = RootSpec::new("pi", home.path().join(".junie"));
        assert_eq!(found(home.path(), &[], &[root]), []);
    }

    /// Until a later OpenCode has taken them over.
    #[test]
    fn sessions_of_an_old_opencode() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("opencode");
        let info = path.join("project/code-tides/storage/session/info");
        fs::create_dir_all(&info).unwrap();
        let root = |format: &str| RootSpec::new(format, path.clone());
        fs::write(path.join("project/code-tides/app.json"), "{}").unwrap();
        assert_eq!(found(home.path(), &[], &[root("opencode")]), []);
        fs::write(info.join("ses_1.json"), "{}").unwrap();
        assert_eq!(found(home.path(), &[], &[root("pi")]), []);
        let told = found(home.path(), &[], &[root("opencode")]);
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].agent, "OpenCode 0.5 and older");
        assert_eq!((told[0].files, told[0].bytes), (1, 2));
        assert_eq!(told[0].places, [path.join("project")]);
        // It takes over what is of a folder with git that is still there.
        let storage = path.join("storage");
        fs::create_dir_all(&storage).unwrap();
        let global = path.join("project/global/storage/session");
        for document in [
            "info/ses_2",
            "message/ses_2/msg_1",
            "part/ses_2/msg_1/prt_1",
        ] {
            let document = global.join(document).with_extension("json");
            fs::create_dir_all(document.parent().unwrap()).unwrap();
            fs::write(document, "{}").unwrap();
        }
        let files = || {
            found(home.path(), &[], &[root("opencode")])
                .iter()
                .map(|of| of.files)
                .sum::<u64>()
        };
        assert_eq!(files(), 4);
        fs::create_dir_all(storage.join("session/p")).unwrap();
        fs::write(storage.join("session/p/ses_1.json"), "{}").unwrap();
        assert_eq!(files(), 3);
        // What it deleted was taken over.
        fs::remove_file(storage.join("session/p/ses_1.json")).unwrap();
        fs::create_dir_all(storage.join("message/ses_1")).unwrap();
        assert_eq!(files(), 3);
        fs::create_dir_all(storage.join("message/ses_2")).unwrap();
        assert_eq!(found(home.path(), &[], &[root("opencode")]), []);
    }

    /// Its newer versions keep other things there.
    #[test]
    fn sessions_of_an_old_qwen_code() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join(".qwen/projects");
        let chats = home.path().join(".qwen/tmp/5e/chats");
        fs::create_dir_all(&chats).unwrap();
        fs::write(home.path().join(".qwen/tmp/5e/logs.json"), "{}").unwrap();
        let own = RootSpec::new("qwen", path);
        assert_eq!(found(home.path(), &[], std::slice::from_ref(&own)), []);
        fs::write(chats.join("session-1.json"), "{}").unwrap();
        let told = found(home.path(), &[], std::slice::from_ref(&own));
        assert_eq!(told.len(), 1);
        assert_eq!(told[0].agent, "Qwen Code in Gemini CLI's format");
        assert_eq!((told[0].files, told[0].bytes), (1, 2));
        let tmp = home.path().join(".qwen/tmp");
        assert_eq!(told[0].places, std::slice::from_ref(&tmp));
        let root = format!("gemini:{}", tmp.display());
        assert_eq!(told[0].root.as_deref(), Some(&*root));
        let read = [own, RootSpec::new("gemini", tmp)];
        assert_eq!(found(home.path(), &[], &read), []);
    }

    #[test]
    fn counting_ends() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join(".mux/sessions");
        fs::create_dir_all(&place).unwrap();
        for number in 0..MOST_FILES + 1 {
            fs::write(place.join(number.to_string()), "12").unwrap();
        }
        let found = found(home.path(), &[], &[]);
        assert_eq!(
            (found[0].files, found[0].bytes),
            (MOST_FILES, 2 * MOST_FILES)
        );
        assert!(found[0].has_more);
    }

    #[test]
    #[cfg(unix)]
    fn links_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join(".mux/sessions");
        fs::create_dir_all(&place).unwrap();
        std::os::unix::fs::symlink(&place, place.join("again")).unwrap();
        assert_eq!(found(home.path(), &[], &[]), []);
    }
}
