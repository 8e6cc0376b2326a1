//! Which file does a program's name stand for on Windows? npm installs agents there as batch files
//! (`claude.cmd`), and the system itself tries no ending but `.exe`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The endings of what the system can start, in the order in which its shell tries them.
const ENDINGS: [&str; 4] = [".com", ".exe", ".bat", ".cmd"];

/// What to start for that name. Elsewhere than on Windows the system finds it itself.
pub fn program(name: &str) -> PathBuf {
    let found = cfg!(windows).then(|| {
        let path = env::var_os("PATH").unwrap_or_default();
        let endings = env::var("PATHEXT").unwrap_or_default();
        found(name, env::split_paths(&path), &endings, Path::is_file)
    });
    found.flatten().unwrap_or_else(|| PathBuf::from(name))
}

/// The first file of that name in the folders, with one of the endings of `PATHEXT` where the name
/// has none of them. A name with a folder in it is looked for there alone.
fn found(
    name: &str,
    folders: impl Iterator<Item = PathBuf>,
    pathext: &str,
    is_file: impl Fn(&Path) -> bool,
) -> Option<PathBuf> {
    let endings = endings(pathext);
    let lower = name.to_ascii_lowercase();
    let has_one = endings.iter().any(|ending| lower.ends_with(ending));
    let endings = if has_one {
        vec![String::new()]
    } else {
        endings
    };
    let with_endings = |place: PathBuf| {
        let is_file = &is_file;
        let all = endings.iter().map(move |ending| {
            let mut file = OsString::from(&place);
            file.push(ending);
            PathBuf::from(file)
        });
        all.filter(|file| is_file(file)).collect::<Vec<_>>()
    };
    match name.contains(['/', '\\', ':']) {
        true => with_endings(PathBuf::from(name)).into_iter().next(),
        // An empty one would be the working directory, in which anybody may have put a file.
        false => folders
            .filter(|folder| !folder.as_os_str().is_empty())
            .flat_map(|folder| with_endings(folder.join(name)))
            .next(),
    }
}

/// What `PATHEXT` has of the endings that can be started, in its order; all of them where it has
/// none.
fn endings(pathext: &str) -> Vec<String> {
    let named = pathext
        .split(';')
        .map(|ending| ending.trim().to_ascii_lowercase());
    let named: Vec<String> = named
        .filter(|ending| ENDINGS.contains(&ending.as_str()))
        .collect();
    match named.is_empty() {
        true => ENDINGS.map(str::to_owned).to_vec(),
        false => named,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_the_first_file_that_can_be_started() {
        let there = [
            "npm/claude",
            "npm/claude.cmd",
            "npm/claude.ps1",
            "npm/pi.js",
            "bin/claude.exe",
            "bin/codex.exe",
            "bin/codex.cmd",
            "/tools/agent.bat",
        ];
        let asked = |name: &str, pathext: &str| {
            let folders = ["", "none", "npm", "bin"].map(PathBuf::from).into_iter();
            let is_file = |file: &Path| there.iter().any(|there| Path::new(there) == file);
            found(name, folders, pathext, is_file)
        };
        let all = ".COM;.EXE;.BAT;.CMD;.VBS;.JS";
        for (name, pathext, file) in [
            // The one without an ending is for other shells.
            ("claude", all, Some("npm/claude.cmd")),
            ("claude.exe", all, Some("bin/claude.exe")),
            ("CODEX.EXE", all, None),
            ("codex", all, Some("bin/codex.exe")),
            ("codex", ".cmd; .exe", Some("bin/codex.cmd")),
            ("codex", "", Some("bin/codex.exe")),
            ("codex", ".JS;;", Some("bin/codex.exe")),
            // What needs a program of its own cannot be started.
            ("pi", all, None),
            ("/tools/agent", all, Some("/tools/agent.bat")),
            ("/tools/codex", all, None),
            ("nobody", all, None),
        ] {
            assert_eq!(
                asked(name, pathext),
                file.map(PathBuf::from),
                "{name} {pathext}"
            );
        }
    }
}
