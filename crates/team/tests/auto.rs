//! With `team.auto`, does what is written on one machine become findable on another?

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use sessionary::index::SearchScope;

use crate::machine::{BOAT, Folder, Machine};
use crate::server::Server;

/// Longer than anything takes.
const LONG: Duration = Duration::from_secs(300);

/// `sessionary`, which is built beside this program; `None`: it was not, which is said, and no
/// success where tools are required.
fn program() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_BIN_EXE_sessionary-team")).with_file_name("sessionary");
    if beside.is_file() {
        return Some(beside);
    }
    let is_required = std::env::var_os("SESSIONARY_TOOLS").is_some_and(|of| of == "required");
    assert!(!is_required, "{} is not built", beside.display());
    eprintln!("SKIPPED: {} is not built", beside.display());
    None
}

struct Watching(Child);

impl Watching {
    fn start(program: &Path, machine: &Machine) -> Watching {
        let watch = Command::new(program)
            .arg("watch")
            .env_clear()
            .env("HOME", machine.home())
            .env("TZ", "UTC")
            .current_dir(machine.cwd(BOAT))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        Watching(watch.unwrap())
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Waits until the machine, which pulls again and again, finds a word.
fn finds(machine: &Machine, word: &str) {
    let began = Instant::now();
    loop {
        machine.output(&["pull"]);
        let answer = machine.index().search(word, &SearchScope::default());
        if !answer.unwrap().sessions.is_empty() {
            return;
        }
        assert!(began.elapsed() < LONG, "{word} was not found");
        sleep(Duration::from_millis(20));
    }
}

fn becomes_findable(sharing: &dyn Fn(&str) -> Machine) {
    let Some(program) = program() else {
        return;
    };
    let (ada, bob) = (sharing("ada"), sharing("bob"));
    let settings = ada.home().join(".config/sessionary/config.toml");
    fs::create_dir_all(settings.parent().unwrap()).unwrap();
    fs::write(settings, "[team]\nauto = true\n").unwrap();
    let path = ada.write_session(BOAT, "0a", &["alpha"]);
    let _watching = Watching::start(&program, &ada);
    finds(&bob, "alpha");
    for word in ["bravo", "charlie", "delta"] {
        ada.say(&path, word);
        finds(&bob, word);
    }
}

#[test]
fn a_line_becomes_findable_by_a_folder() {
    let store = Folder::new();
    becomes_findable(&|name| Machine::sharing(name, &store.address()));
}

#[test]
fn a_line_becomes_findable_by_a_database() {
    let Some(server) = Server::with(&["ada", "bob"]) else {
        return;
    };
    becomes_findable(&|name| server.sharing(name));
}
