//! Which entries do the filters leave? The words apply the filters that they know (kind, role,
//! tool, time, error). The others are looked up in the catalogue and become sets of sessions and
//! entries.

use std::borrow::Cow;
use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use regex::Regex;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

use super::blame::absolute;
use super::here::{Here, ResolvedDirs};
use super::outline::OutlineQuery;
use super::page::is_of_project;
use super::tree::current_labels;
use crate::catalogue::Catalogue;
use crate::catalogue::read::StoredSession;
use crate::catalogue::write::{ARRIVAL_BITS, flag};
use crate::error::Error;
use crate::format::remote_of;
use crate::query::Snapshot;
use crate::syntax::{Filters, Names};

/// The entries that are left.
pub(super) struct FilteredEntries<'a> {
    snapshot: &'a Snapshot<'a>,
    /// `None`: all.
    sessions: Option<HashSet<i64>>,
    keys: Vec<Keys>,
    /// On no active branch, or on one.
    branch: Option<bool>,
    /// The entries off the active branch of each session that was asked about; `None`: it has no
    /// branches.
    off: RefCell<HashMap<i64, Option<HashSet<i64>>>>,
}

/// Entries with something in common, and whether they or the others are wanted.
struct Keys {
    sessions: HashSet<i64>,
    entries: HashSet<i64>,
    wanted: bool,
}

impl<'a> FilteredEntries<'a> {
    /// What the filters leave in the sessions of the index's roots, and of the directories `here`;
    /// with `only_live`, of those whose files are there.
    pub fn new(
        snapshot: &'a Snapshot<'a>,
        filters: &Filters,
        here: &Here,
        only_live: bool,
    ) -> Result<Self, Error> {
        let catalogue = snapshot.catalogue;
        let mut left = FilteredEntries {
            snapshot,
            sessions: None,
            keys: Vec::new(),
            branch: filters.branch,
            off: RefCell::default(),
        };
        left.sessions = left.sessions_of(filters, here, only_live)?;
        for (names, wanted) in both(&filters.label) {
            left.take(wanted, left.labelled(names)?, HashSet::new());
        }
        for (names, wanted) in both(&filters.file) {
            left.take(wanted, snapshot.with_file(names)?, HashSet::new());
        }
        for (names, wanted) in both(&filters.status) {
            let (entries, sessions) = left.of_status(names)?;
            left.take(wanted, entries, sessions);
        }
        if let Some(wanted) = filters.image {
            let entries = catalogue.flagged(flag::IMAGE)?.into_iter().collect();
            left.take(wanted, entries, HashSet::new());
        }
        Ok(left)
    }

    fn take(&mut self, wanted: bool, entries: HashSet<i64>, sessions: HashSet<i64>) {
        self.keys.push(Keys {
            sessions,
            entries,
            wanted,
        });
    }

    /// Whether every entry is left.
    pub fn is_all(&self) -> bool {
        self.sessions.is_none() && self.keys.is_empty() && self.branch.is_none()
    }

    /// Whether an entry of the session may be left.
    pub fn may_hold(&self, session: i64) -> bool {
        let sessions = self.sessions.as_ref();
        sessions.is_none_or(|sessions| sessions.contains(&session))
    }

    /// Whether the entry is left.
    pub fn holds(&self, key: u64) -> bool {
        let key = key as i64;
        let session = key >> ARRIVAL_BITS;
        let among = |keys: &Keys| keys.sessions.contains(&session) || keys.entries.contains(&key);
        self.sessions
            .as_ref()
            .is_none_or(|all| all.contains(&session))
            && self.keys.iter().all(|keys| among(keys) == keys.wanted)
            && self
                .branch
                .is_none_or(|off| off != self.is_active(session, key))
    }

    /// Whether the entry is on its session's active branch. An entry that cannot be read counts as
    /// being on it.
    fn is_active(&self, session: i64, key: i64) -> bool {
        let mut known = self.off.borrow_mut();
        let off = known
            .entry(session)
            .or_insert_with(|| off_branch(self.snapshot, session).unwrap_or_default());
        off.as_ref().is_none_or(|off| !off.contains(&key))
    }

    /// Sessions that the filters on sessions leave; `None` = all.
    fn sessions_of(
        &self,
        f: &Filters,
        here: &Here,
        only_live: bool,
    ) -> Result<Option<HashSet<i64>>, Error> {
        let names = [
            &f.agent,
            &f.project,
            &f.repo,
            &f.host,
            &f.cwd,
            &f.root,
            &f.session,
            &f.name,
            &f.model,
            &f.provider,
        ];
        let filtered = !here.is_everywhere()
            || f.named.is_some()
            || only_live
            || names
                .iter()
                .any(|n| !n.any.is_empty() || !n.none.is_empty());
        let ours = self.snapshot.root_numbers()?;
        let known = self.snapshot.catalogue.root_numbers()?;
        if !filtered && known.iter().all(|root| ours.contains(root)) {
            return Ok(None);
        }
        let used = self.models_used(f)?;
        let mut places = ResolvedDirs::new(here);
        let mut left = HashSet::new();
        self.snapshot.catalogue.each_session(&ours, |s| {
            let used = used.get(&s.session).map_or(&[][..], Vec::as_slice);
            let has_used = |of: &dyn Fn(&(String, String)) -> bool, last: Option<&str>, n: &str| {
                used.iter().any(of) || last.is_some_and(|last| holds(last, n))
            };
            let keep = is_of_agent(&f.agent, s.agent)
                && passes(&f.project, &|n| is_of_project(s.cwd, n))
                && passes(&f.repo, &|n| {
                    s.repository.is_some_and(|one| is_of_repository(one, n))
                })
                && passes(&f.host, &|n| s.host.eq_ignore_ascii_case(n))
                && passes(&f.cwd, &|n| is_at(s.cwd, n))
                && passes(&f.root, &|n| s.label == Some(n) || is_at(s.path, n))
                && passes(&f.session, &|n| begins(s.id, n) || s.path == n)
                && passes(&f.name, &|n| s.name.is_some_and(|name| holds(name, n)))
                && passes(&f.model, &|n| {
                    let lower = n.to_lowercase();
                    has_used(&|(_, model)| model.contains(&lower), s.model, n)
                })
                && passes(&f.provider, &|n| {
                    let lower = n.to_lowercase();
                    has_used(&|(provider, _)| provider.contains(&lower), s.provider, n)
                })
                && !(only_live && s.archived)
                && f.named
                    .is_none_or(|named| s.name.is_some_and(is_name) == named)
                && (here.is_everywhere() || places.is_here(&s));
            if keep {
                left.insert(s.session);
            }
        })?;
        Ok(Some(left))
    }

    /// Provider and model, in lowercase, of all that each session used; nothing where no filter
    /// asks for them.
    fn models_used(&self, f: &Filters) -> Result<HashMap<i64, Vec<(String, String)>>, Error> {
        let mut used: HashMap<i64, Vec<(String, String)>> = HashMap::new();
        if [&f.model, &f.provider]
            .iter()
            .any(|n| **n != Names::default())
        {
            self.snapshot
                .catalogue
                .each_model(|session, provider, model| {
                    let of = used.entry(session).or_default();
                    of.push((provider.to_lowercase(), model.to_lowercase()));
                })?;
        }
        Ok(used)
    }

    /// Entries that carry a label which holds one of these texts.
    fn labelled(&self, names: &[String]) -> Result<HashSet<i64>, Error> {
        let mut entries = HashSet::new();
        for session in self.snapshot.catalogue.labelled_sessions()? {
            for (target, label) in current_labels(self.snapshot.catalogue.labels(session)?) {
                if names.iter().any(|name| holds(&label, name)) {
                    entries.extend(self.snapshot.catalogue.key_of_id(session, &target)?);
                }
            }
        }
        Ok(entries)
    }

    /// Entries that ended with one of these statuses, and sessions that have one.
    fn of_status(&self, names: &[String]) -> Result<(HashSet<i64>, HashSet<i64>), Error> {
        let is_one = |status: &str| names.iter().any(|name| name.eq_ignore_ascii_case(status));
        let mut entries = HashSet::new();
        self.snapshot.catalogue.each_stop(|key, stop| {
            if is_one(stop) {
                entries.insert(key);
            }
        })?;
        let ours = self.snapshot.root_numbers()?;
        let mut sessions = HashSet::new();
        self.snapshot.catalogue.each_session(&ours, |s| {
            if s.own("status").is_some_and(|status| is_one(&status)) {
                sessions.insert(s.session);
            }
        })?;
        Ok((entries, sessions))
    }
}

impl Snapshot<'_> {
    /// Entries that name one of these files: calls of tools and what these answered, and what an
    /// entry says of itself.
    pub(super) fn with_file(&self, names: &[String]) -> Result<HashSet<i64>, Error> {
        let catalogue = self.catalogue;
        let files = Files::named(catalogue, names, self.config().home.as_deref())?;
        let mut entries = HashSet::new();
        catalogue.each_file(|key, path| {
            if files.has(key, path) {
                entries.insert(key);
            }
        })?;
        // A call of several files has the first of them as its subject: where an entry names one of
        // these files and none of its calls has it as that, its only call is meant.
        let mut only_calls: HashMap<i64, Option<String>> = HashMap::new();
        let mut calls: HashSet<(i64, String)> = HashSet::new();
        let mut named = HashSet::new();
        catalogue.each_call(|call| {
            let is_named = call.subject.is_some_and(|path| files.has(call.key, path));
            named.extend(is_named.then_some(call.key));
            match call.call_id {
                Some(id) if is_named => {
                    calls.insert((call.key >> ARRIVAL_BITS, id.to_owned()));
                }
                Some(id) if entries.contains(&call.key) => {
                    let only = only_calls.entry(call.key);
                    only.and_modify(|only| *only = None)
                        .or_insert_with(|| Some(id.to_owned()));
                }
                _ => {}
            }
        })?;
        let meant = only_calls
            .into_iter()
            .filter(|(key, _)| !named.contains(key));
        calls.extend(meant.filter_map(|(key, id)| Some((key >> ARRIVAL_BITS, id?))));
        entries.extend(named);
        if !calls.is_empty() {
            catalogue.each_call(|call| {
                let of = call
                    .call_id
                    .map(|id| (call.key >> ARRIVAL_BITS, id.to_owned()));
                if of.is_some_and(|of| calls.contains(&of)) {
                    entries.insert(call.key);
                }
            })?;
        }
        Ok(entries)
    }
}

/// Files that are asked for.
struct Files {
    names: Vec<Regex>,
    /// Where sessions ran, and the files that were asked for by a whole path as they are seen from
    /// there.
    cwds: HashMap<i64, String>,
    relative: HashMap<String, Vec<Regex>>,
}

impl Files {
    fn named(catalogue: &Catalogue, names: &[String], home: Option<&Path>) -> Result<Files, Error> {
        let names: Vec<String> = names.iter().map(|name| plain(&composed(name))).collect();
        let mut cwds = HashMap::new();
        if names.iter().any(|name| Path::new(name).is_absolute()) {
            cwds = catalogue.cwd_of_each_session()?;
            for cwd in cwds.values_mut() {
                *cwd = composed(cwd).into_owned();
            }
        }
        let mut relative = HashMap::new();
        for cwd in cwds.values() {
            if !relative.contains_key(cwd) {
                let seen = names.iter().filter_map(|name| file_seen_from(cwd, name));
                relative.insert(cwd.clone(), seen.collect());
            }
        }
        // Who wrote them may have left to the shell where that is.
        let in_home = names.iter().filter_map(|name| below_home(name, home?));
        let in_home = in_home.flat_map(|below| [format!("~{below}"), format!("$HOME{below}")]);
        let all: Vec<String> = names.iter().cloned().chain(in_home).collect();
        let names = all.iter().filter_map(|name| file(name)).collect();
        Ok(Files {
            names,
            cwds,
            relative,
        })
    }

    /// Whether what an entry names is one of them.
    fn has(&self, key: i64, named: &str) -> bool {
        let named = &*composed(named);
        let is_one = |path: &str| self.names.iter().any(|name| name.is_match(path));
        if is_one(named) {
            return true;
        }
        let Some(cwd) = self.cwds.get(&(key >> ARRIVAL_BITS)) else {
            return false;
        };
        let relative = self.relative.get(cwd).map_or(&[][..], Vec::as_slice);
        // A path and no command.
        let leads_up = named.contains("..") && !named.contains(char::is_whitespace);
        relative.iter().any(|name| name.is_match(named))
            || leads_up && is_one(&absolute(named, None, cwd).to_string_lossy())
    }
}

/// The keys of a session's entries that are on other branches than the active one; `None`: it has
/// no branches.
fn off_branch(snapshot: &Snapshot<'_>, session: i64) -> Result<Option<HashSet<i64>>, Error> {
    let stored = snapshot.catalogue.sessions_by_number(&[session])?;
    let has_branches = |stored: &&StoredSession| snapshot.has_branches(stored);
    let Some(stored) = stored.first().filter(has_branches) else {
        return Ok(None);
    };
    let outline = snapshot.outline(stored, OutlineQuery::BRANCHES)?;
    let active: HashSet<usize> = outline.active_branch().into_iter().collect();
    let off = outline.places().filter(|(_, at)| !active.contains(at));
    Ok(Some(off.map(|(key, _)| key).collect()))
}

/// Whether `path` is this directory or below it.
pub(super) fn is_at(path: &str, directory: &str) -> bool {
    let (path, directory) = (composed(path), composed(directory));
    let directory = directory.trim_end_matches('/');
    let below = path.strip_prefix(directory);
    below.is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '\\']))
}

/// Whether a text begins so, whatever the case of either.
pub(super) fn begins(text: &str, beginning: &str) -> bool {
    let begun = text.get(..beginning.len());
    begun.is_some_and(|begun| begun.eq_ignore_ascii_case(beginning))
}

pub(super) fn holds(text: &str, part: &str) -> bool {
    let (text, part) = (composed(text), composed(part));
    text.to_lowercase().contains(&part.to_lowercase())
}

/// The text with each letter and its marks as one character, as far as there is one: how people
/// type. macOS gives names of files letter by mark.
pub(super) fn composed(text: &str) -> Cow<'_, str> {
    match is_nfc_quick(text.chars()) {
        IsNormalized::Yes => Cow::Borrowed(text),
        _ => Cow::Owned(text.nfc().collect()),
    }
}

/// The names wanted and those not wanted, where there are some.
fn both(names: &Names) -> impl Iterator<Item = (&[String], bool)> {
    let both = [(names.any.as_slice(), true), (names.none.as_slice(), false)];
    both.into_iter().filter(|(names, _)| !names.is_empty())
}

/// Whether a repository is the one asked for: by part of its name, by whole parts of its host and
/// path, or by an address that leads there.
pub(super) fn is_of_repository(repository: &str, asked: &str) -> bool {
    let remote = remote_of(asked);
    let asked = remote.as_deref().unwrap_or(asked);
    let asked = asked.strip_suffix(".git").unwrap_or(asked);
    is_of_project(&repository.to_lowercase(), &asked.to_lowercase())
}

fn passes(names: &Names, is: &dyn Fn(&str) -> bool) -> bool {
    (names.any.is_empty() || names.any.iter().any(|n| is(n))) && !names.none.iter().any(|n| is(n))
}

fn is_of_agent(names: &Names, agent: &str) -> bool {
    let is_it = |name: &str| agent.eq_ignore_ascii_case(name);
    let half = names.half_typed.as_deref();
    let is_begun = half.is_some_and(|half| begins(agent, half));
    passes(names, &is_it) || is_begun && !names.none.iter().any(|name| is_it(name))
}

/// What stands before a path in a command, and behind it; or nothing does.
const BEFORE: &str = r#"\s"'`=:<>|&;"#;
const BEHIND: &str = r#"\s"'`=:,@<>|&;(){}\[\]"#;

/// A path, or whole folders or the name of one, whatever the case; `*` is any part of a name. A
/// command names a file as well as a path does.
fn file(name: &str) -> Option<Regex> {
    // `{a,b}`, and `@file` where it stands by itself.
    named_after(&format!(r"(^|[/\\,(\[{{{BEFORE}]|[{BEFORE}]@)"), name)
}

/// What is behind the home in a path that leads there.
fn below_home<'n>(name: &'n str, home: &Path) -> Option<&'n str> {
    let home = composed(home.to_str()?);
    let below = name.strip_prefix(home.trim_end_matches('/'))?;
    (below.is_empty() || below.starts_with('/')).then_some(below)
}

/// A path as most tools name it: what `find .` and compilers print, `./src//main.rs:10:5`, is
/// `src/main.rs`.
fn plain(name: &str) -> String {
    let mut plain = String::new();
    for part in without_place(name).split_inclusive(['/', '\\']) {
        let says_nothing = match part.trim_end_matches(['/', '\\']) {
            // At the beginning it is the root.
            "" => !plain.is_empty(),
            "." => true,
            _ => false,
        };
        if !says_nothing {
            plain.push_str(part);
        }
    }
    match plain.is_empty() {
        true => name.to_owned(),
        false => plain,
    }
}

/// A path without the line and the column behind it.
fn without_place(mut name: &str) -> &str {
    for _ in 0..2 {
        let place = name.rsplit_once(':').filter(|(path, number)| {
            !path.is_empty()
                && !number.is_empty()
                && number.bytes().all(|byte| byte.is_ascii_digit())
        });
        name = place.map_or(name, |(path, _)| path);
    }
    name
}

/// What is asked for by a whole path, as it is named in the directory in which a session ran;
/// `None`: it does not lie there.
fn file_seen_from(cwd: &str, name: &str) -> Option<Regex> {
    let parts = |path| str::split(path, ['/', '\\']).filter(|part| !part.is_empty());
    let mut asked = parts(name);
    for part in parts(cwd) {
        let same = Regex::new(&format!("(?i)^{}$", pattern(asked.next()?))).ok()?;
        if !same.is_match(part) {
            return None;
        }
    }
    let separator = if name.contains('\\') { "\\" } else { "/" };
    let seen = asked.collect::<Vec<_>>().join(separator);
    // Other than the end of a path it stands where one begins.
    (!seen.is_empty()).then(|| named_after(&format!(r"(^|[{BEFORE}])(\./)?"), &seen))?
}

/// A name in which `*` is any part of one.
fn pattern(name: &str) -> String {
    regex::escape(&composed(name)).replace(r"\*", r"[^/\\\s]*")
}

fn named_after(before: &str, name: &str) -> Option<Regex> {
    let name = pattern(name.trim_end_matches(['/', '\\']));
    Regex::new(&format!(r"(?i){before}{name}($|[/\\{BEHIND}])")).ok()
}

/// Whether that is a name, and not blank; as a list tells it.
fn is_name(name: &str) -> bool {
    !name.trim_matches(' ').is_empty()
}

#[cfg(test)]
mod tests {
    use super::{file, is_of_agent, is_of_repository};
    use crate::syntax::Names;

    #[test]
    fn what_is_not_wanted_is_never_half_typed() {
        let names = Names {
            any: vec!["pi".to_owned()],
            none: vec!["pi".to_owned()],
            half_typed: Some("pi".to_owned()),
        };
        let of = |agent| is_of_agent(&names, agent);
        assert!(of("pier") && !of("PI") && !of("codex"));
    }

    #[test]
    fn repositories_by_name_path_and_address() {
        for (asked, is_of) in [
            ("boat", true),
            ("BO", true),
            ("b*t", true),
            ("ada/boat", true),
            ("Ada/Boat.git", true),
            ("github.com/ada", true),
            ("github.com/ada/boat", true),
            ("git@github.com:ada/boat.git", true),
            ("https://x:secret@github.com/ada/boat", true),
            ("da/boat", false),
            ("ada/bo", false),
            ("github.com", false),
            ("https://gitlab.com/ada/boat", false),
        ] {
            let found = is_of_repository("github.com/ada/boat", asked);
            assert_eq!(found, is_of, "{asked}");
        }
    }

    #[test]
    fn files_are_named_by_whole_names() {
        for (name, path, named) in [
            ("lib.rs", "src/lib.rs", true),
            ("lib.rs", "lib.rs", true),
            ("lib.rs", "src/mylib.rs", false),
            ("src/lib.rs", "/home/ada/src/lib.rs", true),
            ("src", "src/lib.rs", true),
            ("src/", "/x/src/lib.rs", true),
            ("*.rs", "src/lib.rs", true),
            ("*.rs", "src/lib.rst", false),
            ("src/*.rs", "src/a/b.rs", false),
            ("LIB.RS", "src/lib.rs", true),
            ("lib.rs", "sed -n 1,5p src/lib.rs | head", true),
            ("main.c", r"C:\work\main.c", true),
            ("src/lib.rs", "cargo test 2>src/lib.rs", true),
            ("src/lib.rs", "wc -l <src/lib.rs|cat", true),
            ("src/lib.rs", "cp src/{a,lib.rs} `pwd`/x", false),
            ("lib.rs", "cp src/{a,lib.rs} x", true),
            ("src/lib.rs", "curl -d @src/lib.rs&", true),
            ("src/lib.rs", "vi src/lib.rs.orig", false),
        ] {
            let found = file(name).is_some_and(|file| file.is_match(path));
            assert_eq!(found, named, "{name} in {path}");
        }
    }
}
