//! Where does the command run in tests? In a home of its own, with nothing else in its environment.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::{Duration, SystemTime};

/// The moment that every test takes for now.
pub const NOW: &str = "2026-01-05T12:00:00Z";

/// A temporary home with a working directory `code/parser` in it.
pub struct Sandbox {
    folder: tempfile::TempDir,
    /// The home folder, canonical.
    pub home: PathBuf,
    /// The current directory of every command.
    pub cwd: PathBuf,
}

impl Sandbox {
    /// An empty home.
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // macOS reaches its temporary folder by a symbolic link.
        let home = folder
            .path()
            .canonicalize()
            .expect("the folder")
            .join("home");
        let cwd = home.join("code/parser");
        fs::create_dir_all(&cwd).expect("the working directory");
        Self { folder, home, cwd }
    }

    /// Writes a file below the home; `~` in the content becomes the home.
    pub fn write(&self, path: &str, content: &str) -> PathBuf {
        let path = self.home.join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("its folder");
        fs::write(
            &path,
            content.replace('~', &self.home.display().to_string()),
        )
        .expect("a file");
        path
    }

    /// Waits until the files are old enough: what changed within the clock's granularity is proven
    /// again by the next look.
    pub fn settle(&self) {
        std::thread::sleep(Duration::from_millis(100));
    }

    /// Sets a file's modification time, in seconds since the epoch.
    pub fn touch(&self, path: &Path, seconds: u64) {
        let file = fs::File::options()
            .append(true)
            .open(path)
            .expect("the file");
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds))
            .expect("its time");
    }

    /// The command, ready to run.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sessionary"));
        command
            .args(["--now", NOW, "--width", "100"])
            .args(arguments)
            .env_clear()
            .env("HOME", &self.home)
            // Whatever the zone of this machine.
            .env("TZ", "UTC")
            // Systems differ in where they keep program data.
            .env("CLIDO_DATA_DIR", self.home.join("clido"))
            .current_dir(&self.cwd)
            .stdin(Stdio::null());
        command
    }

    /// Runs the command.
    #[must_use]
    pub fn output(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("sessionary runs")
    }

    /// Runs the command and gives stdout, stderr and the exit code as one text, paths normalised.
    #[must_use]
    pub fn run(&self, arguments: &[&str]) -> String {
        let output = self.output(arguments);
        let mut text = self.normal(&output.stdout);
        if !output.stderr.is_empty() {
            text.push_str("--- stderr\n");
            text.push_str(&self.normal(&output.stderr));
        }
        match output.status.code() {
            Some(0) => {}
            code => text.push_str(&format!("--- exit {code:?}\n")),
        }
        text
    }

    /// Runs the command on a terminal at which this is typed: what is seen there and the exit code
    /// as one text, paths normalised. `None` where there is no `script` to make a terminal.
    #[cfg(target_os = "linux")]
    pub fn on_terminal(&self, arguments: &[&str], typed: &str) -> Option<String> {
        let mut script = self.start_on_terminal(arguments)?;
        let mut terminal = script.stdin.take().expect("its input");
        // What is typed beyond the end of the command is read by nobody.
        let _ = std::io::Write::write_all(&mut terminal, typed.as_bytes());
        let output = script.wait_with_output().expect("it ends");
        let seen = self.normal(&output.stdout).replace('\r', "");
        Some(match output.status.code() {
            Some(0) => seen,
            code => format!("{seen}--- exit {code:?}\n"),
        })
    }

    /// Starts the command on a terminal: at its input is typed, on its output is seen. `None` where
    /// there is no `script` to make a terminal.
    #[cfg(target_os = "linux")]
    pub fn start_on_terminal(&self, arguments: &[&str]) -> Option<std::process::Child> {
        let command = self.command(arguments);
        let words: Vec<String> = std::iter::once(command.get_program())
            .chain(command.get_args())
            .map(|word| format!("'{}'", word.display()))
            .collect();
        let variables = command.get_envs();
        let path = std::env::var("PATH").unwrap_or_default();
        Command::new("script")
            .args(["-qec", &words.join(" "), "/dev/null"])
            .env_clear()
            .envs(variables.filter_map(|(name, value)| Some((name, value?))))
            .env("PATH", format!("{}/bin:{path}", self.home.display()))
            .env("TERM", "dumb")
            .current_dir(&self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|_| eprintln!("SKIPPED: there is no `script`"))
            .ok()
    }

    /// Runs the command and parses what it prints.
    #[must_use]
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let output = self.output(arguments);
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!(
                "{arguments:?}: {error}\n{}",
                String::from_utf8_lossy(&output.stderr)
            )
        })
    }

    fn normal(&self, bytes: &[u8]) -> String {
        let text = String::from_utf8_lossy(bytes);
        let text = text.replace(&self.home.display().to_string(), "$HOME");
        let text = text.replace(&self.folder.path().display().to_string(), "$SANDBOX");
        // The index is stamped by the real clock, long after `NOW`.
        let scanned = "last full scan ";
        match text.split_once(scanned) {
            Some((before, after)) => format!(
                "{before}{scanned}DATE{}",
                after.get("2026-01-05".len()..).unwrap_or("")
            ),
            None => text,
        }
    }
}
