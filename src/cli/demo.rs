//! What is there to see before there is a first session? A few made-up ones, in a home folder of
//! their own that goes when the command ends.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use anyhow::Context;
use sessionary::settings::Surroundings;
use tempfile::TempDir;

use crate::again;
use crate::args::Global;
use crate::failure::Failure;
use crate::output::{pager, say};
use crate::picker;

/// A session that ships with the program.
struct MadeUp {
    /// Its file below the home folder.
    path: &'static str,
    /// Its lines; `~` in them is the home folder.
    text: &'static str,
    /// When it was written last, in seconds since 1970.
    modified: u64,
}

/// The sessions of the README's tour.
const SESSIONS: [MadeUp; 3] = [
    MadeUp {
        path: ".pi/agent/sessions/--home-ada-code-app--/2026-01-05T09-00-00-000Z_019b8d5e-7c80-7000-8000-0000000000a1.jsonl",
        text: include_str!(
            "../../fixtures/tour/.pi/agent/sessions/--home-ada-code-app--/2026-01-05T09-00-00-000Z_019b8d5e-7c80-7000-8000-0000000000a1.jsonl"
        ),
        modified: 1_767_603_811,
    },
    MadeUp {
        path: ".pi/agent/sessions/--home-ada-code-docs--/2026-01-03T16-00-00-000Z_019b84d7-2a00-7000-8000-0000000000a2.jsonl",
        text: include_str!(
            "../../fixtures/tour/.pi/agent/sessions/--home-ada-code-docs--/2026-01-03T16-00-00-000Z_019b84d7-2a00-7000-8000-0000000000a2.jsonl"
        ),
        modified: 1_767_456_008,
    },
    MadeUp {
        path: "clido/sessions/home_ada_code_app/f47ac10b-58cc-4372-a567-0e02b2c3d479.jsonl",
        text: include_str!(
            "../../fixtures/tour/clido/sessions/home_ada_code_app/f47ac10b-58cc-4372-a567-0e02b2c3d479.jsonl"
        ),
        modified: 1_767_355_200,
    },
];

/// The demo's present, in milliseconds since 1970: noon of the day of its newest session
/// (2026-01-05, UTC), so that ages and `--since 2d` mean what the README shows.
const NOW_MS: i64 = 1_767_614_400_000;

/// The home folder of the demo, once one runs.
static HOME: OnceLock<PathBuf> = OnceLock::new();

/// Whether the process is about to end by a signal.
static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// A demo that runs; its folder, the index in it, goes with it.
pub struct Demo {
    _folder: TempDir,
}

impl Demo {
    /// From now on [`surroundings`] are those of the demo.
    pub fn begin(global: &Global) -> Result<Self, Failure> {
        if !again::as_typed(global).is_empty() {
            return Err(
                Failure::usage("--demo has its own sessions and its own index")
                    .hint("leave out --index, --root, --no-default-roots and --follow-links"),
            );
        }
        ctrlc::set_handler(interrupted).map_err(anyhow::Error::new)?;
        let folder = tempfile::Builder::new()
            .prefix("sessionary-demo-")
            .tempdir()
            .context("the demo needs a temporary folder")?;
        // macOS reaches its temporary folder by a symbolic link, and sessions name where they were.
        let home = match cfg!(windows) {
            true => folder.path().to_path_buf(),
            false => folder.path().canonicalize()?,
        };
        let home = HOME.get_or_init(|| home);
        write(home).context("the demo's sessions cannot be written")?;
        if !global.json {
            say("Demo: three made-up sessions. Every command takes --demo and starts afresh.");
        }
        Ok(Self { _folder: folder })
    }
}

impl Drop for Demo {
    fn drop(&mut self) {
        // What failed because its folder was taken away is not worth a word.
        while INTERRUPTED.load(Ordering::Relaxed) {
            thread::park();
        }
    }
}

/// Ctrl-C: the folder goes, then the process, whatever it was doing; but not while somebody reads
/// in a pager, for which it is meant, nor while the picker is open, which gives the terminal back
/// first.
fn interrupted() {
    if pager::is_open() || picker::is_open() {
        return;
    }
    INTERRUPTED.store(true, Ordering::Relaxed);
    if let Some(home) = HOME.get() {
        // What is being written may stand in the way for a moment.
        let is_gone = |_: &i32| fs::remove_dir_all(home).is_ok() || !home.exists();
        (0..100).find(is_gone);
    }
    std::process::exit(130);
}

/// Writes the sessions.
fn write(home: &Path) -> io::Result<()> {
    fs::create_dir_all(home.join(CWD))?;
    // As it stands within a string of JSON.
    let named = home.display().to_string().replace('\\', "\\\\");
    for made_up in &SESSIONS {
        let path = home.join(made_up.path);
        fs::create_dir_all(path.parent().unwrap_or(home))?;
        fs::write(&path, made_up.text.replace('~', &named))?;
        let modified = SystemTime::UNIX_EPOCH + Duration::from_secs(made_up.modified);
        File::options()
            .append(true)
            .open(&path)?
            .set_modified(modified)?;
    }
    Ok(())
}

/// Where a demo stands below its home folder.
const CWD: &str = "code/app";

/// Whether a demo runs.
pub fn runs() -> bool {
    HOME.get().is_some()
}

/// What a command that is shown begins with: in a demo it is to work on the demo.
pub fn program() -> &'static str {
    match runs() {
        true => "sessionary --demo",
        false => "sessionary",
    }
}

/// A line of ours with the commands in it, which stand in backticks, as they are to be typed.
pub fn with_commands(line: &str) -> Cow<'_, str> {
    match runs() {
        true => line
            .replace("`sessionary ", &format!("`{} ", program()))
            .into(),
        false => line.into(),
    }
}

/// What a demo finds around it; `None` where none runs.
pub fn surroundings() -> Option<Surroundings> {
    let home = HOME.get()?;
    // Systems differ in where they keep program data.
    let variables = [
        ("CLIDO_DATA_DIR", "clido"),
        ("LOCALAPPDATA", "AppData/Local"),
        ("APPDATA", "AppData/Roaming"),
    ];
    let variables = variables.map(|(name, below)| (name.into(), home.join(below).into()));
    let mut variables = BTreeMap::from(variables);
    // Its times are the reader's.
    variables.extend(std::env::var_os("TZ").map(|zone| ("TZ".into(), zone)));
    Some(Surroundings {
        variables,
        home: Some(home.clone()),
        cwd: home.join(CWD),
    })
}

/// The demo's present, in milliseconds since 1970; `None` where none runs.
pub fn now_ms() -> Option<i64> {
    runs().then_some(NOW_MS)
}

/// Keeps a demo from doing what reaches beyond its folder, and says why.
pub fn refuse(what: &str, instead: &str) -> Result<(), Failure> {
    match runs() {
        true => Err(Failure::usage(format!("not in a demo: {what}")).hint(instead)),
        false => Ok(()),
    }
}
