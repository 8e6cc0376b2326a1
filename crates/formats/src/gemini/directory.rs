//! Which working directory has the hash by which a project's folder is called? Until early 2026
//! that was the SHA-256 of its path as the agent was started there, neither resolved nor put in
//! small letters (0.3.4 to 0.28.2, `getProjectHash` of `path.resolve`). So a path is not guessed: a
//! directory that the agent lists, or above one that the session names, has this hash, or it is
//! another one.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::{place, text};
use crate::{json, stable_hash};

/// Directories that are tried for one record.
const MOST: usize = 64;
/// Directories that are tried for one file.
const MOST_OF_FILE: usize = 256;
/// Bytes of each text that are looked through.
const BEGINNING: usize = 16 << 10;
/// Bytes of text that are looked through for one file, with those of each directory once more.
const MOST_TEXT: usize = 1 << 20;
/// Bytes of a path that are looked at.
const LONGEST: usize = 1 << 10;

/// What was looked at of a file as long as nothing is proven.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct DirectorySearch {
    /// Hashes of the directories that were tried.
    tried: BTreeSet<u64>,
    /// Bytes of text, and of the directories in it.
    bytes: usize,
}

impl DirectorySearch {
    /// Whether nothing more is looked at.
    pub(super) fn is_enough(&self) -> bool {
        self.bytes >= MOST_TEXT || self.tried.len() >= MOST_OF_FILE
    }

    /// Looks at nothing more, so that no hash need be remembered.
    pub(super) fn end(&mut self) {
        self.tried.clear();
        self.bytes = MOST_TEXT;
    }

    /// The directory of this hash, if a record names it, or what is in it.
    pub(super) fn look(&mut self, hash: &[u8; 32], record: &[u8]) -> Option<String> {
        let passages = text::passages(record).into_iter();
        let pieces = passages.flat_map(|passage| passage.pieces);
        let mut all = pieces.chain(text::prompts(record));
        let (looked, tries) = (self, 0);
        let mut search = Search {
            hash,
            looked,
            tries,
        };
        all.find_map(|text| search.in_text(&text))
    }
}

/// The hash by which the folder of the project is called to which the session at `path` belongs.
pub(super) fn hash_of(path: &Path) -> Option<[u8; 32]> {
    of_hex(place::project(path)?.file_name()?.to_str()?)
}

/// What the agent lists beside the folder of all projects: those that a later version opened, in
/// the member `projects`, and the folders that somebody trusts, or not.
const LISTS: [&str; 2] = ["projects.json", "trustedFolders.json"];

/// The lists in which the directory of the session at `path` may stand, and its hash; none where
/// its project's folder is called by no hash.
pub(super) fn lists(path: &Path) -> Option<(Vec<PathBuf>, String)> {
    let hash = hash_of(path)?;
    let above = place::project(path)?.parent()?.parent()?;
    Some((LISTS.map(|name| above.join(name)).to_vec(), to_hex(&hash)))
}

/// The directories in a list, by their hashes. `None`: it is not whole.
pub(super) fn in_list(list: &[u8]) -> Option<BTreeMap<String, String>> {
    let list = json::utf8(list)?;
    let list = &list[json::whole(list.as_bytes())?];
    let directories = json::members(json::member(list, "projects").unwrap_or(list));
    let directories = directories.into_iter().map(|directory| directory.key);
    let by_hash = |path: Cow<'_, str>| (to_hex(&Sha256::digest(&*path).into()), path.into_owned());
    Some(directories.map(by_hash).collect())
}

struct Search<'s> {
    hash: &'s [u8; 32],
    looked: &'s mut DirectorySearch,
    /// Directories that this record alone names.
    tries: usize,
}

impl Search<'_> {
    fn goes_on(&self) -> bool {
        self.tries < MOST && !self.looked.is_enough()
    }

    fn in_text(&mut self, text: &str) -> Option<String> {
        if !self.goes_on() {
            return None;
        }
        let text = beginning(text, BEGINNING);
        self.looked.bytes += text.len();
        text.lines().find_map(|line| self.in_line(line))
    }

    /// Tries the directories above each absolute path in a line, and the path itself.
    fn in_line(&mut self, line: &str) -> Option<String> {
        let mut at = 0;
        while self.goes_on() {
            let (start, is_windows) = next_path(line, at)?;
            let path = path_at(&line[start..]);
            let first = &path[..path.find(is_end).unwrap_or(path.len())];
            let is_separator = |c: char| c == '/' || is_windows && c == '\\';
            let above = path.match_indices(is_separator);
            let above = above.map(|(at, _)| &path[..at]);
            let whole = [
                path,
                path.trim_end_matches(is_mark),
                path.trim_end_matches(is_behind),
                first.trim_end_matches(is_behind),
            ];
            for directory in above.chain(whole) {
                if let Some(found) = self.try_one(directory, is_windows) {
                    return Some(found);
                }
            }
            at = start + first.len().max(1);
        }
        None
    }

    fn try_one(&mut self, directory: &str, is_windows: bool) -> Option<String> {
        if !self.goes_on() {
            return None;
        }
        self.looked.bytes += directory.len();
        let hash = stable_hash::of([directory.as_bytes()]);
        if !self.looked.tried.insert(hash) {
            return None;
        }
        self.tries += 1;
        let is_it = |path: &String| <[u8; 32]>::from(Sha256::digest(path)) == *self.hash;
        if !is_windows {
            let path = if directory.is_empty() { "/" } else { directory };
            return Some(path.to_owned()).filter(is_it);
        }
        // The model may write it in another way than the system.
        let (drive, below) = directory.split_at_checked(1)?;
        let below = match below {
            ":" => ":\\".to_owned(),
            below => below.replace('/', "\\"),
        };
        let drives = [drive.to_ascii_uppercase(), drive.to_ascii_lowercase()];
        drives.map(|drive| drive + &below).into_iter().find(is_it)
    }
}

/// Where the next absolute path begins in a line, and whether it is one of Windows.
fn next_path(line: &str, from: usize) -> Option<(usize, bool)> {
    let bytes = line.as_bytes();
    let is_letter = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_alphanumeric);
    let separators = memchr::memchr2_iter(b'/', b'\\', bytes.get(from..)?);
    for at in separators.map(|at| from + at) {
        if at >= from + 2 && bytes[at - 1] == b':' && bytes[at - 2].is_ascii_alphabetic() {
            let start = at - 2;
            if start == 0 || !is_letter(start - 1) {
                return Some((start, true));
            }
        }
        if bytes[at] == b'\\' || bytes.get(at + 1) == Some(&b'/') {
            continue;
        }
        let before = line.as_bytes()[..at].last();
        let is_within = before.is_some_and(|byte| {
            byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_' | b'~' | b'/')
        });
        if !is_within || line[..at].ends_with("file://") {
            return Some((at, false));
        }
    }
    None
}

/// The path with which a text begins, as long as it may be. A space may stand within a name, but
/// before no separator.
fn path_at(text: &str) -> &str {
    let is_quote = |c: char| c.is_control() || "\"'`<>|*?".contains(c);
    let text = beginning(text, LONGEST);
    let text = text.split(is_quote).next().unwrap_or_default();
    text.split(" /").next().unwrap_or_default().trim_end()
}

/// The beginning of a text, of so many bytes at most.
fn beginning(text: &str, most: usize) -> &str {
    let mut end = most.min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// Whether this ends a path that stands in a sentence.
fn is_end(c: char) -> bool {
    c.is_whitespace() || ",;()[]{}".contains(c)
}

/// Whether this mark may stand behind a path and be none of it.
fn is_mark(c: char) -> bool {
    ",;:.".contains(c)
}

/// The same of a bracket.
fn is_behind(c: char) -> bool {
    is_mark(c) || ")]}".contains(c)
}

/// The name that a hash is.
fn to_hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The hash that a name is, in small letters.
fn of_hex(name: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| match byte {
        b'0'..=b'9' => Some(byte - b'0'),
        b'a'..=b'f' => Some(byte - b'a' + 10),
        _ => None,
    };
    let mut hash = [0; 32];
    if name.len() != 2 * hash.len() {
        return None;
    }
    for (byte, pair) in hash.iter_mut().zip(name.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(hash)
}
