//! A machine: a home of its own with sessions of pi in repositories, and the command.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

use serde_json::{Value, json};
use sessionary::settings::Surroundings;
use sessionary::{Config, Freshness, Index, Indexer};

/// The repository that tests share.
pub const BOAT: &str = "github.com/ada/boat";
/// A repository that they do not.
pub const DIARY: &str = "github.com/ada/diary";

/// A home, removed when it is dropped.
pub struct Machine {
    folder: tempfile::TempDir,
    /// What it is called in the store.
    pub name: String,
}

impl Machine {
    /// A machine with two repositories and no session.
    pub fn new(name: &str) -> Machine {
        let machine = Machine {
            folder: tempfile::tempdir().unwrap(),
            name: name.to_owned(),
        };
        for repository in [BOAT, DIARY] {
            let git = machine.cwd(repository).join(".git");
            fs::create_dir_all(git.join("objects")).unwrap();
            fs::create_dir_all(git.join("refs")).unwrap();
            fs::write(git.join("HEAD"), "ref: refs/heads/main\n").unwrap();
            let config = format!("[remote \"origin\"]\n\turl = https://{repository}.git\n");
            fs::write(git.join("config"), config).unwrap();
        }
        machine
    }

    /// One that shares [`BOAT`] in this store.
    pub fn sharing(name: &str, store: &str) -> Machine {
        let machine = Machine::new(name);
        machine.team(&["init", store, "--host", name]);
        machine.team(&["share", BOAT]);
        machine
    }

    pub fn home(&self) -> &Path {
        self.folder.path()
    }

    /// The checkout of a repository on this machine; its path differs from machine to machine.
    pub fn cwd(&self, repository: &str) -> PathBuf {
        let last = repository.rsplit('/').next().unwrap();
        self.home().join("code").join(last)
    }

    /// Where pi keeps a session of a repository.
    pub fn session_path(&self, repository: &str, id: &str) -> PathBuf {
        let cwd = self.cwd(repository).display().to_string();
        let folder = format!("--{}--", cwd.trim_start_matches('/').replace('/', "-"));
        let name = format!("2026-01-05T09-00-00-000Z_{id}.jsonl");
        self.home()
            .join(".pi/agent/sessions")
            .join(folder)
            .join(name)
    }

    /// Write a session that says these texts, a message each.
    pub fn write_session(&self, repository: &str, id: &str, texts: &[&str]) -> PathBuf {
        let path = self.session_path(repository, id);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let cwd = self.cwd(repository);
        let header = json!({"type": "session", "version": 3, "id": id,
            "timestamp": "2026-01-05T09:00:00.000Z", "cwd": cwd});
        fs::write(&path, format!("{header}\n")).unwrap();
        for text in texts {
            self.say(&path, text);
        }
        path
    }

    /// Add a message to a session.
    pub fn say(&self, path: &Path, text: &str) {
        let mut content = fs::read_to_string(path).unwrap();
        let at = content.lines().count();
        let stem = path.file_stem().unwrap().display().to_string();
        let session = stem.rsplit('_').next().unwrap();
        // No two sessions have an entry of one id: that would be copies of one entry.
        let id = |at: usize| format!("{session}-{at:04}");
        let parent = if at == 1 {
            Value::Null
        } else {
            json!(id(at - 1))
        };
        let role = if at % 2 == 1 { "user" } else { "assistant" };
        let content_of = json!([{"type": "text", "text": text}]);
        let mut message = json!({"role": role, "content": content_of, "timestamp": at});
        if role == "assistant" {
            message["usage"] = json!({"input": 10, "output": at, "cacheRead": 0, "cacheWrite": 0,
                "totalTokens": 10 + at, "cost": {"total": 0.25}});
            message["model"] = json!("m-1");
            message["provider"] = json!("p");
        }
        let time = format!("2026-01-05T09:{:02}:{:02}.000Z", at / 60 % 60, at % 60);
        let entry = json!({"type": "message", "id": id(at), "parentId": parent,
            "timestamp": time, "message": message});
        content += &format!("{entry}\n");
        fs::write(path, content).unwrap();
    }

    /// As if a file had not changed for an hour.
    pub fn settle(&self, path: &Path) {
        let hour_ago = SystemTime::now() - Duration::from_secs(3600);
        let file = fs::File::options().append(true).open(path).unwrap();
        file.set_modified(hour_ago).unwrap();
    }

    /// `sessionary-team`, ready to run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Machine::command_in(self.home(), arguments);
        command.current_dir(self.cwd(BOAT));
        command
    }

    /// The same in any home.
    pub fn command_in(home: &Path, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessionary-team"));
        command
            .args(arguments)
            .env_clear()
            .env("HOME", home)
            .env("TZ", "UTC")
            .current_dir(home)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    }

    /// Run it.
    pub fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Run it; it has to do all that it is asked for.
    pub fn team(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{arguments:?}: {said}");
        String::from_utf8(output.stdout).unwrap()
    }

    /// Run it, and parse what it prints.
    pub fn json(&self, arguments: &[&str]) -> Value {
        let mut all = arguments.to_vec();
        all.push("--json");
        serde_json::from_str(&self.team(&all)).unwrap()
    }

    pub fn data(&self) -> PathBuf {
        self.home().join(".local/share/sessionary")
    }

    /// The copies of other hosts' files: by host, agent and path, their bytes.
    pub fn copies(&self) -> BTreeMap<String, Vec<u8>> {
        let mut files = tree(&self.data().join("team"));
        files.retain(|name, _| {
            !name.ends_with("pulled.json") && !name.ends_with("repositories.json")
        });
        files
    }

    /// The index of this machine, brought up to date.
    pub fn index(&self) -> Index {
        Index::open(&self.config(), Freshness::Check).unwrap()
    }

    /// Bring the index up to date with its words.
    pub fn sync(&self) {
        let mut indexer = Indexer::open(&self.config()).unwrap();
        indexer.sync().unwrap();
    }

    /// What is configured for its index.
    pub fn config(&self) -> Config {
        let config = Config::of(&Surroundings {
            variables: BTreeMap::new(),
            home: Some(self.home().to_path_buf()),
            cwd: self.cwd(BOAT),
        });
        config.unwrap()
    }
}

/// All files below a folder, by their paths in it; of a link, where it leads.
pub fn tree(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    fn walk(folder: &Path, name: &str, files: &mut BTreeMap<String, Vec<u8>>) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = format!("{name}/{}", entry.file_name().display());
            let kind = entry.file_type().unwrap();
            if kind.is_dir() {
                walk(&entry.path(), &name, files);
            } else if kind.is_symlink() {
                let to = fs::read_link(entry.path()).unwrap();
                files.insert(name, to.display().to_string().into_bytes());
            } else if kind.is_file() {
                files.insert(name, fs::read(entry.path()).unwrap());
            }
        }
    }
    let mut files = BTreeMap::new();
    walk(folder, "", &mut files);
    files
}

/// A folder as a store.
pub struct Folder(tempfile::TempDir);

impl Folder {
    pub fn new() -> Folder {
        Folder(tempfile::tempdir().unwrap())
    }

    pub fn path(&self) -> &Path {
        self.0.path()
    }

    pub fn address(&self) -> String {
        format!("dir:{}", self.path().display())
    }
}
