//! Writers of agentuse: documents put beside their place and renamed into it, half-written ones,
//! folders that go.

use std::fs;
use std::path::{Path, PathBuf};

use rand::Rng;
use rand::seq::IndexedRandom;
use rand_chacha::ChaCha8Rng;
use serde_json::json;

const SESSIONS: [&str; 4] = [
    "d56553675460857d/session/01KE6P4YM00000000000000000-triage",
    "d56553675460857d/session/01KE6P4YM00000000000000000-triage/subagent/01KE6P53G80000000000000001-mail",
    "global/session/01KE6P4ZK80000000000000002-old",
    "global/session/short",
];
const MESSAGES: [&str; 2] = ["01KE6P50JG0000000000000003", "01KE6P51HR0000000000000004"];

/// The sessions below one root.
pub struct Folders {
    root: PathBuf,
    next: i64,
}

impl Folders {
    pub fn new(root: &Path) -> Folders {
        fs::create_dir_all(root).unwrap();
        Folders {
            root: root.to_path_buf(),
            next: 0,
        }
    }

    /// All files that are there.
    pub fn paths(&self) -> impl Iterator<Item = PathBuf> {
        let all = walkdir::WalkDir::new(&self.root).sort_by_file_name();
        let files = all.into_iter().flatten();
        files
            .filter(|file| file.file_type().is_file())
            .map(walkdir::DirEntry::into_path)
    }

    /// One writer does one thing. Returns what, for the log of a failure.
    pub fn write(&mut self, rng: &mut ChaCha8Rng) -> String {
        self.next += 1;
        let session = SESSIONS.choose(rng).unwrap();
        let message = MESSAGES.choose(rng).unwrap();
        let part = rng.random_range(0..6);
        let file = match rng.random_range(0..20) {
            0..4 => format!("{session}/session.json"),
            4..7 => format!("{session}/{message}/message.json"),
            7 => format!("{session}/context.json"),
            8 => format!("{session}/{message}/artifact/tool-output-bash-{message}.txt"),
            9 => format!("{session}/message/{message}.json"),
            10 => format!("{session}/part/{message}/{part}.json"),
            _ => format!("{session}/{message}/part/{part}.json"),
        };
        let path = self.root.join(&file);
        match rng.random_range(0..20) {
            0..13 => {
                let content = self.document(rng, &path, message);
                self.put(&path, &content);
                format!("put {file}")
            }
            13 => {
                let content = self.document(rng, &path, message);
                let cut = rng.random_range(0..content.len());
                self.put(&path, &content[..cut]);
                format!("put {cut} bytes of {file}")
            }
            14 => {
                let beside = path.with_extension("json.1.tmp");
                fs::create_dir_all(beside.parent().unwrap()).unwrap();
                fs::write(&beside, "{\"id\":").unwrap();
                format!("leave {}", beside.display())
            }
            15..18 => {
                let gone = fs::remove_file(&path).is_ok();
                format!("remove {file}: {gone}")
            }
            18 => {
                let folder = path.parent().unwrap();
                let gone = fs::remove_dir_all(folder).is_ok();
                format!("remove the folder of {file}: {gone}")
            }
            _ => {
                // A whole session moves to another name and back.
                let (from, to) = (
                    self.root.join(SESSIONS[2]),
                    self.root.join("elsewhere/session"),
                );
                fs::create_dir_all(&to).unwrap();
                let to = to.join("01KE6P4ZK80000000000000002-old");
                let (from, to) = if from.exists() {
                    (from, to)
                } else {
                    (to, from)
                };
                let moved = fs::rename(&from, &to).is_ok();
                format!("{} becomes {}: {moved}", from.display(), to.display())
            }
        }
    }

    fn put(&self, path: &Path, content: &[u8]) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let beside = path.with_file_name(format!(
            "{}.4711.uuid.tmp",
            path.file_name().unwrap().to_string_lossy()
        ));
        fs::write(&beside, content).unwrap();
        fs::rename(&beside, path).unwrap();
    }

    fn document(&self, rng: &mut ChaCha8Rng, path: &Path, message: &str) -> Vec<u8> {
        let at = 1_767_603_600_000_i64 + rng.random_range(0..1000) * 1000;
        let word = ["walrus", "fooBar baz", "src/main.rs", "検索", ""]
            .choose(rng)
            .unwrap();
        let text = format!("{word} {}", self.next);
        let name = path.file_name().unwrap().to_str().unwrap();
        let value = match name {
            "session.json" => json!({
                "id": format!("01KE6P4YM0000000000000{:04}", self.next), "model": "a:b", "status": "running",
                "agent": { "id": text, "name": word, "isSubAgent": rng.random_ratio(1, 4) },
                "project": { "root": "/w", "cwd": "/w" }, "time": { "created": at, "updated": at + 5 },
                "error": if rng.random_ratio(1, 4) { json!({ "message": text, "code": "TIMEOUT" }) } else { json!(null) },
            }),
            "context.json" => {
                json!({ "version": 1, "messages": [{ "role": "user", "content": text }] })
            }
            name if name.ends_with(".txt") => return text.into_bytes(),
            name if name == "message.json" || name.starts_with("01") => json!({
                "id": message, "time": { "created": at }, "user": { "prompt": { "task": text } },
                "assistant": { "modelID": "a:b:c", "cost": 0.25, "tokens": { "input": self.next % 3, "output": 2 } },
            }),
            _ => match rng.random_range(0..4) {
                0 => {
                    json!({ "id": name, "messageID": message, "type": "step-finish", "cost": 0.5, "tokens": { "input": 1 } })
                }
                1 => {
                    json!({ "id": name, "messageID": message, "type": "tool", "callID": "c", "tool": "bash", "state": {
                    "status": "completed", "input": { "command": text }, "output": word, "time": { "start": at, "end": at + 7 } } })
                }
                2 => json!([text]),
                _ => {
                    json!({ "id": name, "messageID": message, "type": "text", "text": text, "time": { "start": at } })
                }
            },
        };
        let mut content = serde_json::to_vec_pretty(&value).unwrap();
        if rng.random_ratio(1, 30) {
            content.splice(0..0, *b"\xef\xbb\xbf");
        }
        content
    }
}
