//! Writers: what they do to session files between two syncs.

use std::fs::{self, File, FileTimes, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;

use super::lines;

/// Bytes before the end by which a look knows a file that grew.
const TAIL: usize = 4 << 10;

/// Session files of some agents, and those who write them.
pub struct World {
    pub base: PathBuf,
    files: Vec<(PathBuf, Kind)>,
    /// What a writer has begun and not ended, by file.
    torn: Vec<(PathBuf, Vec<u8>)>,
    /// Backups: of which file, its bytes and its time.
    kept: Vec<(PathBuf, Vec<u8>, SystemTime)>,
    next: u32,
}

#[derive(Clone, Copy, PartialEq)]
enum Kind {
    Pi,
    Clido,
    Claude,
    Gemini,
    Qwen,
    Codex,
    CodexName,
    Copilot,
    Workspace,
    Cursor,
    Induscode,
}

impl World {
    pub fn new(base: &Path) -> World {
        let mut files = Vec::new();
        for (agent, kind) in [
            ("pi", Kind::Pi),
            ("indusagi", Kind::Pi),
            ("clido", Kind::Clido),
            ("claude", Kind::Claude),
        ] {
            fs::create_dir_all(base.join(agent)).unwrap();
            for name in [
                "--work--/one.jsonl",
                "--work--/two.jsonl",
                "--play--/three.jsonl",
                "four.jsonl",
            ] {
                files.push((base.join(agent).join(name), kind));
            }
        }
        for (name, kind) in [
            (
                "gemini/w/chats/session-2026-01-05T09-00-00000001.jsonl",
                Kind::Gemini,
            ),
            (
                "gemini/w/chats/session-2026-01-05T09-02-00000002.jsonl",
                Kind::Gemini,
            ),
            ("gemini/w/chats/00000001/one.jsonl", Kind::Gemini),
            (
                "qwen/w/chats/00000000-0000-4000-8000-000000000001.jsonl",
                Kind::Qwen,
            ),
            ("qwen/w/subagents/00000001/agent-one.jsonl", Kind::Qwen),
            ("cursor/w/agent-transcripts/one/one.jsonl", Kind::Cursor),
            (
                "cursor/w/agent-transcripts/one/subagents/two.jsonl",
                Kind::Cursor,
            ),
            (
                "induscode/--w--/01KE6P0000000000000000000A.ndjson",
                Kind::Induscode,
            ),
            (
                "induscode/--w--/01KE6P0000000000000000000B.ndjson",
                Kind::Induscode,
            ),
            // Two files of one session each.
            (
                "copilot/00000000-0000-4000-8000-000000000001/events.jsonl",
                Kind::Copilot,
            ),
            (
                "copilot/00000000-0000-4000-8000-000000000001/workspace.yaml",
                Kind::Workspace,
            ),
            (
                "copilot/00000000-0000-4000-8000-000000000002/events.jsonl",
                Kind::Copilot,
            ),
            (
                "copilot/00000000-0000-4000-8000-000000000002/workspace.yaml",
                Kind::Workspace,
            ),
            // A thread, a further page of it, and what it is called.
            (
                "codex/sessions/2026/01/05/rollout-2026-01-05T09-00-00-019b8d5e-7c80-7000-8000-0000000000aa.jsonl",
                Kind::Codex,
            ),
            (
                "codex/sessions/2026/01/05/rollout-2026-01-05T09-00-00-019b8d5e-7c80-7000-8000-0000000000aa_2.jsonl",
                Kind::Codex,
            ),
            ("codex/session_index.jsonl", Kind::CodexName),
            ("codex/session_index.old.jsonl", Kind::CodexName),
            // Files of one session.
            ("openclaw/main/sessions/one.jsonl", Kind::Pi),
            (
                "openclaw/main/session-sqlite-import-archive/one.jsonl",
                Kind::Pi,
            ),
            ("openclaw/main/sessions/one.checkpoint.2.jsonl", Kind::Pi),
            (
                "openclaw/main/sessions/two.jsonl.reset.2026-01-05T09-00-00.000Z",
                Kind::Pi,
            ),
        ] {
            let path = base.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            files.push((path, kind));
        }
        World {
            base: base.to_path_buf(),
            files,
            torn: Vec::new(),
            kept: Vec::new(),
            next: 1,
        }
    }

    /// All files that are written to, there or not.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        self.files.iter().map(|(path, _)| path.clone())
    }

    /// Choose the next writer's file.
    pub fn choose(&self, rng: &mut ChaCha8Rng) -> usize {
        // Few files, so that much happens to each.
        rng.random_range(0..self.files.len())
    }

    fn line(&mut self, rng: &mut ChaCha8Rng, kind: Kind) -> Vec<u8> {
        self.next += 1;
        match kind {
            Kind::Pi => lines::pi(rng, self.next),
            Kind::Clido => lines::clido(rng, self.next),
            Kind::Claude => lines::claude(rng, self.next),
            Kind::Gemini => lines::gemini(rng, self.next),
            Kind::Qwen => lines::qwen(rng, self.next),
            Kind::Codex => lines::codex(rng, self.next),
            Kind::CodexName => lines::codex_name(rng, self.next),
            Kind::Copilot => lines::copilot(rng, self.next),
            Kind::Workspace => lines::workspace(rng, self.next),
            Kind::Cursor => lines::cursor(rng, self.next),
            Kind::Induscode => lines::induscode(rng, self.next),
        }
    }

    fn some_lines(&mut self, rng: &mut ChaCha8Rng, kind: Kind) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..rng.random_range(1..6) {
            bytes.extend(self.line(rng, kind));
            bytes.extend(if rng.random_ratio(1, 12) {
                &b"\r\n"[..]
            } else {
                b"\n"
            });
        }
        bytes
    }

    fn new_content(&mut self, rng: &mut ChaCha8Rng, kind: Kind) -> Vec<u8> {
        let mut bytes = match kind {
            Kind::Pi => format!(r#"{{"type":"session","version":3,"id":"n{}","timestamp":"2026-02-05T09:00:00.000Z","cwd":"/w"}}"#, self.next),
            Kind::Clido => format!(r#"{{"type":"meta","session_id":"m{}","schema_version":1,"start_time":"2026-01-05T09:00:00.9+00:00","project_path":"/w"}}"#, self.next),
            Kind::Claude => format!(r#"{{"type":"mode","mode":"normal","sessionId":"c{}"}}"#, self.next),
            Kind::Codex => format!(r#"{{"timestamp":"2026-01-05T09:00:00.000Z","type":"session_meta","payload":{{"id":"{}","cwd":"/w"}}}}"#, lines::CODEX),
            Kind::Gemini
            | Kind::Qwen
            | Kind::CodexName
            | Kind::Copilot
            | Kind::Workspace
            | Kind::Cursor
            | Kind::Induscode => String::new(),
        }
        .into_bytes();
        bytes.push(b'\n');
        // Some are longer than the tail that looks prove.
        for _ in 0..*[1, 1, 12].choose(rng).unwrap() {
            bytes.extend(self.some_lines(rng, kind));
        }
        bytes
    }

    /// One writer does one thing. Returns what, for the log of a failure.
    pub fn write(&mut self, rng: &mut ChaCha8Rng, at: usize) -> String {
        let (path, kind) = self.files[at].clone();
        if path.is_dir() {
            // Readable again.
            match path.is_symlink() {
                true => fs::remove_file(&path).unwrap(),
                false => fs::remove_dir(&path).unwrap(),
            }
            self.create(&path, rng, kind);
            return format!("{} is a file again", path.display());
        }
        let Ok(old) = fs::read(&path) else {
            self.create(&path, rng, kind);
            return format!("create {}", path.display());
        };
        if rng.random_ratio(1, 7) {
            return self.accident(rng, &path, kind, &old);
        }
        if rng.random_ratio(1, 8) {
            // No look comes between, and the tail, by which looks know what was there before,
            // mostly is as it was.
            let before = match old.len().checked_sub(TAIL) {
                Some(before) if rng.random_ratio(3, 4) => before,
                _ => old.len(),
            };
            let mut file = OpenOptions::new().write(true).open(&path).unwrap();
            file.write_all(&mutate(rng, &old[..before])).unwrap();
            let bytes = self.some_lines(rng, kind);
            append(&path, &bytes);
            return format!("changed in place and grown: {}", path.display());
        }
        let what = match rng.random_range(0..100) {
            0..22 => {
                let bytes = self.some_lines(rng, kind);
                append(&path, &bytes);
                "append"
            }
            22..40 => {
                // What was begun is ended, or cut by another writer's line.
                match self.torn.iter().position(|(of, _)| *of == path) {
                    Some(at) if rng.random_ratio(4, 5) => {
                        let (_, rest) = self.torn.swap_remove(at);
                        let cut = rng.random_range(0..=rest.len());
                        append(&path, &rest[..cut]);
                        if cut < rest.len() {
                            self.torn.push((path.clone(), rest[cut..].to_vec()));
                        }
                    }
                    _ => {
                        let mut bytes = self.some_lines(rng, kind);
                        let rest = bytes.split_off(rng.random_range(0..bytes.len()));
                        append(&path, &bytes);
                        self.torn.retain(|(of, _)| *of != path);
                        self.torn.push((path.clone(), rest));
                    }
                }
                "append a piece"
            }
            40..45 => {
                let mut bytes = self.line(rng, kind);
                bytes.extend(self.line(rng, kind));
                bytes.push(b'\n');
                append(&path, &bytes);
                "fused lines"
            }
            45..51 => {
                let bytes = self.line(rng, kind);
                append(&path, &bytes);
                "a last line without its end"
            }
            51..54 => {
                append(&path, b"\n");
                "a line end"
            }
            54..62 => {
                // Another process writes at its own offset, over what is there: clido's titles.
                let from = rng.random_range(0..=old.len());
                let new = format!("{}\n", lines::title(self.next));
                self.next += 1;
                let mut file = OpenOptions::new().write(true).open(&path).unwrap();
                file.seek(SeekFrom::Start(from as u64)).unwrap();
                file.write_all(new.as_bytes()).unwrap();
                "overwrite in place"
            }
            62..68 => {
                let to = rng.random_range(0..=old.len());
                OpenOptions::new()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_len(to as u64)
                    .unwrap();
                "truncate"
            }
            68..73 => {
                // Back to the end of some line, then on: one step.
                let ends: Vec<usize> = old
                    .iter()
                    .enumerate()
                    .filter(|(_, b)| **b == b'\n')
                    .map(|(at, _)| at + 1)
                    .collect();
                let to = ends.choose(rng).copied().unwrap_or(0);
                OpenOptions::new()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_len(to as u64)
                    .unwrap();
                let bytes = self.some_lines(rng, kind);
                append(&path, &bytes);
                "roll back"
            }
            73..77 => {
                // As a migration does: every line gets longer, in the same file.
                let text = String::from_utf8_lossy(&old).replace("{\"type\"", "{\"v\":1,\"type\"");
                fs::write(&path, text).unwrap();
                "rewrite all lines"
            }
            77..80 => {
                let bytes = self.new_content(rng, kind);
                fs::write(&path, bytes).unwrap();
                "rewrite"
            }
            80..85 => {
                let beside = self.base.join("beside.tmp");
                let mut bytes = if rng.random() {
                    old.clone()
                } else {
                    Vec::new()
                };
                bytes.extend(self.new_content(rng, kind));
                fs::write(&beside, bytes).unwrap();
                fs::rename(&beside, &path).unwrap();
                "rename over"
            }
            85..91 => {
                // The same size, and the old times put back.
                let times = fs::metadata(&path).unwrap();
                let mut file = OpenOptions::new().write(true).open(&path).unwrap();
                file.write_all(&mutate(rng, &old)).unwrap();
                file.set_times(FileTimes::new().set_modified(times.modified().unwrap()))
                    .unwrap();
                "same size, mtime restored"
            }
            91..93 => {
                File::options()
                    .write(true)
                    .open(&path)
                    .unwrap()
                    .set_modified(SystemTime::now())
                    .unwrap();
                "touch"
            }
            93..96 => {
                fs::remove_file(&path).unwrap();
                self.torn.retain(|(of, _)| *of != path);
                if rng.random() {
                    self.create(&path, rng, kind);
                }
                "delete, perhaps made again"
            }
            96..98 => {
                // Permissions do not bind root, who often runs tests: a folder in the file's place
                // is as unreadable.
                fs::remove_file(&path).unwrap();
                fs::create_dir(&path).unwrap();
                "a folder in its place"
            }
            _ => {
                let folder = path
                    .parent()
                    .unwrap()
                    .join(format!("copy{}.jsonl", rng.random_range(0..2)));
                fs::write(&folder, &old).unwrap();
                fs::write(path.parent().unwrap().join("notes.txt"), b"no session").unwrap();
                if !self.files.iter().any(|(known, _)| *known == folder) {
                    self.files.push((folder.clone(), kind));
                }
                "a copy beside it"
            }
        };
        format!("{what}: {} ({} bytes before)", path.display(), old.len())
    }

    /// What people, clocks and file systems do.
    fn accident(&mut self, rng: &mut ChaCha8Rng, path: &Path, kind: Kind, old: &[u8]) -> String {
        let set_time = |path: &Path, time: SystemTime| {
            let file = OpenOptions::new().write(true).open(path).unwrap();
            file.set_modified(time).unwrap();
        };
        let time = fs::metadata(path).unwrap().modified().unwrap();
        let of_kind = |of: &&(PathBuf, Kind)| of.1 == kind && of.0 != path;
        let others: Vec<PathBuf> = self
            .files
            .iter()
            .filter(of_kind)
            .map(|of| of.0.clone())
            .collect();
        let other = others.choose(rng).unwrap().clone();
        fs::create_dir_all(other.parent().unwrap()).unwrap();
        let is_free = !other.is_dir();
        let what = match rng.random_range(0..100) {
            0..20 if is_free => {
                // The same inode in another folder, perhaps over what was there.
                fs::rename(path, &other).unwrap();
                self.torn.retain(|(of, _)| of != path && *of != other);
                "moved"
            }
            20..35 if is_free => {
                // Often the same inode again, with the old size and time.
                fs::remove_file(path).unwrap();
                let _ = fs::remove_file(&other);
                let mut bytes = self.new_content(rng, kind);
                // No padding: a tail of equal bytes would prove nothing.
                while bytes.len() < old.len() {
                    let more = self.some_lines(rng, kind);
                    bytes.extend(more);
                }
                bytes.truncate(old.len());
                fs::write(&other, bytes).unwrap();
                set_time(&other, time);
                self.torn.retain(|(of, _)| of != path && *of != other);
                "gone, its inode and its time for another file"
            }
            35..50 => {
                let seconds = [1, 1_000_000_000, 4_000_000_000, 7_000_000_000]
                    .choose(rng)
                    .unwrap();
                set_time(
                    path,
                    SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(*seconds),
                );
                "the clock jumps"
            }
            50..62 if is_free => {
                // Of the same root: what it leads to is there twice.
                let _ = fs::remove_file(&other);
                link(path, &other);
                self.torn.retain(|(of, _)| *of != other);
                "a link to it"
            }
            62..70 if is_free => {
                let _ = fs::remove_file(&other);
                link(&self.base.join("nowhere.jsonl"), &other);
                self.torn.retain(|(of, _)| *of != other);
                "a link to nowhere"
            }
            70..85 => {
                self.kept.push((path.to_path_buf(), old.to_vec(), time));
                "a backup"
            }
            _ => match self.kept.choose(rng).cloned() {
                Some((to, bytes, time)) if !to.is_dir() => {
                    fs::create_dir_all(to.parent().unwrap()).unwrap();
                    let beside = self.base.join("beside.tmp");
                    fs::write(&beside, bytes).unwrap();
                    set_time(&beside, time);
                    fs::rename(&beside, &to).unwrap();
                    self.torn.retain(|(of, _)| *of != to);
                    return format!("restored with its time: {}", to.display());
                }
                _ => "nothing to restore",
            },
        };
        format!("{what}: {} and {}", path.display(), other.display())
    }

    fn create(&mut self, path: &Path, rng: &mut ChaCha8Rng, kind: Kind) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        // A link to nowhere, maybe.
        let _ = fs::remove_file(path);
        let bytes = self.new_content(rng, kind);
        fs::write(path, bytes).unwrap();
    }
}

/// Some bytes of these are others.
fn mutate(rng: &mut ChaCha8Rng, old: &[u8]) -> Vec<u8> {
    let mut bytes = old.to_vec();
    for _ in 0..rng.random_range(1..4) {
        if let Some(at) = (!bytes.is_empty()).then(|| rng.random_range(0..bytes.len())) {
            bytes[at] = if bytes[at] == b'\n' {
                b' '
            } else {
                *b"aZ09 \n{}".choose(rng).unwrap()
            };
        }
    }
    bytes
}

fn append(path: &Path, bytes: &[u8]) {
    OpenOptions::new()
        .append(true)
        .open(path)
        .unwrap()
        .write_all(bytes)
        .unwrap();
}

/// Where links cannot be made a file in its place will do.
fn link(to: &Path, from: &Path) {
    #[cfg(unix)]
    std::os::unix::fs::symlink(to, from).unwrap();
    #[cfg(not(unix))]
    fs::write(from, fs::read(to).unwrap_or_default()).unwrap();
}
