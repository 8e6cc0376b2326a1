//! What is a file below Codex's folders?

use std::path::Path;

use crate::model::{Placement, SourcePart};
use crate::path::{is_uuid, name, names};

/// The folders of rollouts in Codex's own.
pub(super) const FOLDERS: [&str; 2] = ["sessions", "archived_sessions"];
/// What the name of a document ends with.
const DOCUMENT: &str = ".json";
/// Why Codex does not list a document: that in Rust, which followed, reads lines.
pub(crate) const A_DOCUMENT: &str = "a document of Codex's first versions";
/// Bytes of a UUID.
const UUID: usize = 36;
/// Bytes of the time before it, with the hyphen.
const TIME: usize = "2026-01-05T09-00-00-".len();
/// Bytes of the date in the name of a document, with the hyphen.
const DATE: usize = "2025-05-17-".len();

/// Codex lists `YYYY/MM/DD/rollout-<time>-<thread>.jsonl`, with further pages of a thread beside it
/// (`…_<page>.jsonl`); `codex archive` moves the files into one folder without dates. All pages of
/// a thread are one session. What lies elsewhere, a copy say, is one by itself. The first Codex
/// wrote `rollout-<date>-<id>.json` into `sessions` itself.
pub(super) fn place(relative: &Path) -> Placement {
    let mut folders = names(relative);
    let Some(name) = folders.pop() else {
        return Placement::Ignore("not a session file");
    };
    if !is_rollout(&name) {
        return Placement::Ignore("not a session file");
    }
    let path = || [&*folders, std::slice::from_ref(&name)].concat().join("/");
    let digits = |part: &&str| part.bytes().all(|byte| byte.is_ascii_digit());
    let names: Vec<&str> = folders.iter().map(|folder| &**folder).collect();
    let (is_at_home, is_archived) = match names[..] {
        [year, month, day] | ["sessions", year, month, day] => {
            ([year, month, day].iter().all(digits), false)
        }
        [] | ["archived_sessions"] => (true, true),
        ["sessions"] => (is_document(relative), false),
        _ => (false, false),
    };
    let unlisted = match thread_in(&name) {
        _ if name.ends_with(DOCUMENT) => Some(A_DOCUMENT),
        None => Some("its name is not that of a rollout"),
        Some(_) if is_archived => Some("archived"),
        Some(_) if !is_at_home => Some("outside of the folders that Codex lists"),
        Some(_) => None,
    };
    Placement::Source {
        session: match thread_in(&name) {
            Some(thread) if is_at_home => thread.to_owned(),
            _ => path(),
        },
        part: SourcePart::Main,
        unlisted: unlisted.map(str::to_owned),
    }
}

/// Compressed ones are cold archived ones.
fn is_rollout(name: &str) -> bool {
    let lower = name.to_ascii_lowercase();
    let is_aside = ["session_index.jsonl", "history.jsonl"].contains(&&*lower);
    !is_aside && (lower.ends_with(".jsonl") || lower.ends_with(".jsonl.zst"))
        || name.starts_with("rollout-") && name.ends_with(DOCUMENT)
}

/// Whether the file is one document, as the first Codex wrote them.
pub(super) fn is_document(path: &Path) -> bool {
    name(path).ends_with(DOCUMENT)
}

/// The thread that the name of a rollout names.
pub(super) fn thread_in(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("rollout-")?;
    let rest = rest.strip_suffix(".zst").unwrap_or(rest);
    let core = match rest.strip_suffix(DOCUMENT) {
        Some(of_document) => of_document.get(DATE..)?,
        None => rest.strip_suffix(".jsonl")?.get(TIME..)?,
    };
    let (thread, page) = core.split_at_checked(UUID)?;
    (is_uuid(thread) && (page.is_empty() || page.starts_with('_'))).then_some(thread)
}

/// The folders beside `sessions` in Codex's own that hold no session, where that is a root.
pub(super) fn leaves_out(folder: &Path) -> Option<&'static str> {
    const OTHERS: [&str; 9] = [
        "log",
        "logs",
        "memories",
        "plugins",
        "prompts",
        "skills",
        "thread-writer-locks",
        "tmp",
        "worktrees",
    ];
    let is_other = OTHERS.iter().any(|other| Path::new(other) == folder);
    is_other.then_some("a folder of Codex's without sessions")
}
