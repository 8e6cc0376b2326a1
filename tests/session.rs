//! Does a session keep what it holds, whatever other programs and the disk do to its file?

#[path = "session/agentuse.rs"]
mod agentuse;
#[path = "session/clido.rs"]
mod clido;
#[path = "session/elsewhere.rs"]
mod elsewhere;
#[path = "session/files.rs"]
mod files;
#[path = "session/listing.rs"]
mod listing;
#[path = "session/migration.rs"]
mod migration;
#[path = "session/reading.rs"]
mod reading;

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};

use sessionary::session::{
    AssistantMessage, Clock, ContentBlock, Profile, SessionManager, Setup, UserMessage,
};

/// A clock that goes on by a second whenever it is asked.
#[derive(Debug)]
struct TickingClock(AtomicI64);

impl Clock for TickingClock {
    fn now_ms(&self) -> i64 {
        self.0.fetch_add(1000, Ordering::Relaxed)
    }
}

/// An agent that appends a line whenever the time is asked for, once: when the file is locked, that
/// is.
#[derive(Debug)]
struct MeddlingClock(TickingClock, Mutex<Option<(PathBuf, String)>>);

impl Clock for MeddlingClock {
    fn now_ms(&self) -> i64 {
        if let Some((path, text)) = self.1.lock().expect("whole").take() {
            files::append(&path, &text);
        }
        self.0.now_ms()
    }
}

/// A folder with an agent's sessions in it.
struct Place {
    folder: tempfile::TempDir,
    setup: Setup,
}

impl Place {
    fn of(profile: Profile) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut setup = Setup::new(profile, folder.path().join("sessions"));
        setup.backups = Some(folder.path().join("ours/backups"));
        setup.clock = Arc::new(TickingClock(AtomicI64::new(1_767_603_600_250)));
        Self { folder, setup }
    }

    fn new() -> Self {
        Self::of(Profile::PI)
    }

    /// Has an agent append that while the next append goes on.
    fn meddle(&mut self) -> impl Fn(&Path, &str) + use<> {
        let ticking = TickingClock(AtomicI64::new(1_767_603_600_250));
        let clock = Arc::new(MeddlingClock(ticking, Mutex::new(None)));
        self.setup.clock = clock.clone();
        move |path, text| {
            *clock.1.lock().expect("whole") = Some((path.to_path_buf(), text.to_owned()));
        }
    }

    /// A session file with that content.
    fn file(&self, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.folder.path().join("sessions/--w--/session.jsonl");
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(&path, content).expect("the file");
        path
    }

    fn open(&self, path: &Path) -> SessionManager {
        SessionManager::open(&self.setup, path).expect("a session")
    }

    /// Names of all files below the agent's folder.
    fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = walkdir::WalkDir::new(self.folder.path().join("sessions"))
            .into_iter()
            .flatten()
            .filter(|entry| entry.file_type().is_file())
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }
}

fn user(text: &str) -> UserMessage {
    UserMessage {
        content: text.into(),
        timestamp: 1,
        ..Default::default()
    }
}

fn assistant(text: &str) -> AssistantMessage {
    AssistantMessage {
        content: vec![ContentBlock::text(text)],
        provider: "p".to_owned(),
        model: "m".to_owned(),
        timestamp: 2,
        ..Default::default()
    }
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).expect("the file")
}

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s1","timestamp":"2026-01-05T09:00:00.000Z","cwd":"/w"}"#;

/// A user's message as a line without its end.
fn line(id: &str, parent: Option<&str>) -> String {
    let parent = parent.map_or_else(|| "null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-01-05T09:00:01.000Z","message":{{"role":"user","content":"{id}","timestamp":1}}}}"#
    )
}
