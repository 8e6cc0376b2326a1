//! Are the packages whole? Each is made by the repository's command, installed into an empty place
//! without a network and without cargo, and run there.
//!
//! They hold the program of this build; `.ci/long` makes them of the static one and runs the same.
//! Without Python, Node and npm the test is skipped and says so. `SESSIONARY_ELSEWHERE` names a
//! program of another platform, and what runs it here: `linux-arm64=PROGRAM=qemu-aarch64-static`.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::lines::pi_session;
use crate::sandbox::Sandbox;

/// What this build is called in packages.
const PLATFORM: Option<&str> = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    Some("linux-x64")
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    Some("linux-arm64")
} else if cfg!(all(target_os = "macos", target_arch = "x86_64")) {
    Some("darwin-x64")
} else if cfg!(all(target_os = "macos", target_arch = "aarch64")) {
    Some("darwin-arm64")
} else {
    None
};

/// Where a program lies, by the search path of this test.
fn find(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH")?;
    let mut files = env::split_paths(&path).map(|folder| folder.join(name));
    files.find(|file| file.is_file())
}

/// Runs a command with nothing but a home and a search path; stdout.
fn run(command: &mut Command) -> String {
    let output = command
        .output()
        .unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}\n{said}\n{error}");
    said
}

/// The program to pack: `SESSIONARY_PACKED`, or this build's without its symbols, which are most
/// of it.
fn program(place: &Path) -> PathBuf {
    if let Some(named) = env::var_os("SESSIONARY_PACKED") {
        return named.into();
    }
    let built = Path::new(env!("CARGO_BIN_EXE_sessionary"));
    let small = place.join("stripped");
    let mut strip = Command::new("strip");
    match strip.arg("-o").arg(&small).arg(built).status() {
        Ok(status) if status.success() => small,
        _ => built.to_owned(),
    }
}

/// Makes all packages in `out`.
fn make(out: &Path, platform: &str, program: &Path, team: &Path) {
    let packages = Path::new(env!("CARGO_MANIFEST_DIR")).join("packages/make");
    let builds = [
        format!("{platform}={}", program.display()),
        format!("{platform}:team={}", team.display()),
    ];
    run(Command::new("python3").arg(packages).arg(out).args(builds));
}

/// What stands for `sessionary-team`, which another workspace builds: it says what it is asked for.
fn team(place: &Path) -> PathBuf {
    let path = place.join("sessionary-team");
    fs::write(&path, "#!/bin/sh\necho \"shares $*\"\n").unwrap();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }
    path
}

/// The one file there whose name begins and ends so.
fn file(out: &Path, begins: &str, ends: &str) -> PathBuf {
    let all = fs::read_dir(out).unwrap().map(|file| file.unwrap().path());
    let fits = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy();
        name.starts_with(begins) && name.ends_with(ends)
    };
    let mut found: Vec<PathBuf> = all.filter(fits).collect();
    assert_eq!(found.len(), 1, "{begins}…{ends}: {found:?}");
    found.remove(0)
}

/// A home with one session, and only `path` to find programs by.
struct Place {
    home: Sandbox,
    path: String,
}

impl Place {
    fn new(path: &str) -> Self {
        let home = Sandbox::new();
        let said = [
            ("user", "why does the tokenizer drop the walrus?"),
            ("assistant", "Because it is no token."),
        ];
        let at = "2026-01-02T09:00:00.000Z";
        pi_session(&home, "0199a0aa-packed", "code/parser", at, &said);
        Self {
            home,
            path: path.to_owned(),
        }
    }

    fn run(&self, program: &[&Path], arguments: &[&str]) -> String {
        run(Command::new(program[0])
            .args(&program[1..])
            .args(arguments)
            .env_clear()
            .env("HOME", &self.home.home)
            .env("PATH", &self.path)
            .current_dir(&self.home.cwd))
    }

    /// What a stranger does first.
    fn works(&self, program: &[&Path]) {
        let version = format!("sessionary {}\n", env!("CARGO_PKG_VERSION"));
        assert!(self.run(program, &["--version"]).starts_with(&version));
        assert!(self.run(program, &["list", "--all"]).contains("walrus"));
        let found = self.run(program, &["search", "walrus", "token"]);
        assert!(found.contains("it is no token"), "{found}");
        let resumes = self.run(program, &["resume", "last", "--print"]);
        assert!(resumes.contains("pi --session"), "{resumes}");
        for shell in ["bash", "zsh", "fish"] {
            let completions = self.run(program, &["completions", shell]);
            assert!(completions.contains("sessionary"), "{shell}");
        }
    }
}

#[test]
fn every_package_is_installed_into_an_empty_place_and_runs() {
    let missing = ["python3", "node", "npm", "tar"]
        .into_iter()
        .find(|name| find(name).is_none());
    let (Some(platform), None) = (PLATFORM, missing) else {
        let why = missing.unwrap_or("a package for this platform");
        eprintln!("SKIPPED: {why} is missing");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let (program, team) = (program(place.path()), team(place.path()));
    make(&out, platform, &program, &team);

    archive_holds_what_a_system_installs(&out, platform);
    pip_installs_the_wheel(&out, place.path());
    npm_installs_launcher_and_program(&out, place.path(), platform);
    sums_are_of_the_files(&out);
    // The same program gives the same bytes.
    let again = place.path().join("again");
    make(&again, platform, &program, &team);
    let sums = |out: &Path| fs::read_to_string(out.join("SHA256SUMS")).unwrap();
    assert_eq!(sums(&out), sums(&again));
}

/// A program that was built for another platform is packed beside this one's, and does there what
/// it does here: by an emulator, with nothing on its search path.
#[test]
fn a_package_of_another_platform_runs_too() {
    let named = env::var("SESSIONARY_ELSEWHERE").ok();
    let parts: Vec<&str> = named.iter().flat_map(|all| all.split('=')).collect();
    let (Some(here), [platform, program, emulator], Some(_)) =
        (PLATFORM, parts.as_slice(), find("python3"))
    else {
        eprintln!("SKIPPED: SESSIONARY_ELSEWHERE names no program of another platform");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let out = place.path().join("out");
    let own = self::program(place.path());
    run(Command::new("python3")
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("packages/make"))
        .arg(&out)
        .args([
            format!("{here}={}", own.display()),
            format!("{platform}={program}"),
        ]));
    let archive = file(&out, "sessionary-0", &format!("{platform}.tar.gz"));
    run(Command::new("tar")
        .arg("-xzf")
        .arg(&archive)
        .arg("-C")
        .arg(place.path()));
    let folder = file(place.path(), "sessionary-0", platform);
    let emulator = find(emulator).expect("the emulator");
    Place::new("").works(&[&emulator, &folder.join("sessionary")]);
}

fn archive_holds_what_a_system_installs(out: &Path, platform: &str) {
    // No program at all is on the search path.
    let empty = Place::new("");
    let into = empty.home.home.join("opt");
    fs::create_dir(&into).unwrap();
    for name in ["sessionary-0", "sessionary-team-"] {
        run(Command::new("tar")
            .arg("-xzf")
            .arg(file(out, name, &format!("{platform}.tar.gz")))
            .arg("-C")
            .arg(&into));
    }
    let folder = file(&into, "sessionary-0", platform);
    empty.works(&[&folder.join("sessionary")]);
    let team = file(&into, "sessionary-team-", platform);
    assert!(team.join("docs/team.md").is_file());
    // Where it is put beside the program, that finds it.
    fs::rename(team.join("sessionary-team"), folder.join("sessionary-team")).unwrap();
    let said = empty.run(&[&folder.join("sessionary")], &["team", "push"]);
    assert_eq!(said, "shares push\n");
    let held = [
        "completions/sessionary.bash",
        "completions/_sessionary",
        "completions/sessionary.fish",
        "man/sessionary.1",
        "man/sessionary-search.1",
        "docs/usage.md",
        "README.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
    ];
    for name in held {
        let length = fs::metadata(folder.join(name)).map(|file| file.len());
        assert!(length.is_ok_and(|bytes| bytes > 0), "{name}");
    }
}

fn pip_installs_the_wheel(out: &Path, place: &Path) {
    let empty = Place::new("");
    let venv = place.join("venv");
    run(Command::new("python3").args(["-m", "venv"]).arg(&venv));
    run(Command::new(venv.join("bin/pip"))
        .args(["install", "--no-index", "--quiet"])
        .arg(file(out, "sessionary-0", ".whl"))
        .arg(file(out, "sessionary_team-", ".whl"))
        .env("PIP_DISABLE_PIP_VERSION_CHECK", "1"));
    empty.works(&[&venv.join("bin/sessionary")]);
    let said = empty.run(&[&venv.join("bin/sessionary")], &["team", "pull"]);
    assert_eq!(said, "shares pull\n");
    // RECORD names every file: pip takes all of them away again.
    run(Command::new(venv.join("bin/pip")).args(["uninstall", "--quiet", "--yes", "sessionary"]));
    assert!(!venv.join("bin/sessionary").exists());
}

fn npm_installs_launcher_and_program(out: &Path, place: &Path, platform: &str) {
    let node = find("node").unwrap();
    let empty = Place::new(&node.parent().unwrap().display().to_string());
    let into = place.join("npm");
    fs::create_dir(&into).unwrap();
    run(Command::new("npm")
        .args(["install", "--offline", "--no-audit", "--no-fund"])
        .arg("--prefix")
        .arg(&into)
        .arg(file(out, "sessionary-cli-0", ".tgz"))
        .arg(file(out, &format!("sessionary-cli-{platform}-"), ".tgz"))
        .arg(file(out, &format!("sessionary-team-{platform}-"), ".tgz"))
        .env("HOME", &empty.home.home));
    let modules = into.join("node_modules");
    empty.works(&[&node, &modules.join(".bin/sessionary")]);
    // npm puts its folder of programs on the PATH of what it runs.
    assert!(modules.join(".bin/sessionary-team").exists());
    let direct = format!("@sessionary/cli-{platform}/bin/sessionary");
    empty.works(&[&modules.join(direct)]);
    // A platform without a build is told, and how to get one.
    fs::remove_dir_all(modules.join(format!("@sessionary/cli-{platform}"))).unwrap();
    let alone = Command::new(&node)
        .arg(modules.join(".bin/sessionary"))
        .output();
    let alone = alone.unwrap();
    assert_eq!(alone.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&alone.stderr).contains("is not installed"));
}

/// Who started npm's launcher without a terminal tells it alone that it is to end.
#[cfg(unix)]
#[test]
fn the_launcher_passes_an_interrupt_on() {
    use std::io::{BufRead, BufReader, Read};
    use std::os::unix::fs::PermissionsExt;
    use std::os::unix::process::ExitStatusExt;

    let (Some(platform), Some(node)) = (PLATFORM, find("node")) else {
        eprintln!("SKIPPED: node or a package for this platform is missing");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let cli = place.path().join("node_modules/@sessionary/cli");
    let packed = format!("{}-{platform}/bin", cli.display());
    fs::create_dir_all(&packed).unwrap();
    fs::create_dir_all(&cli).unwrap();
    let launcher = Path::new(env!("CARGO_MANIFEST_DIR")).join("packages/cli/bin/sessionary.js");
    fs::copy(launcher, cli.join("sessionary.js")).unwrap();
    // What stands for the program ends by itself at last.
    let program = Path::new(&packed).join("sessionary");
    fs::write(&program, "#!/bin/sh\necho started\nexec sleep 60\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut launched = Command::new(node)
        .arg(cli.join("sessionary.js"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut output = BufReader::new(launched.stdout.take().unwrap());
    let mut line = String::new();
    output.read_line(&mut line).unwrap();
    assert_eq!(line, "started\n");
    run(Command::new("kill").args(["-INT", &launched.id().to_string()]));
    // It ends for whoever waits for it, and so has the program.
    output.read_to_string(&mut line).unwrap();
    assert_eq!(launched.wait().unwrap().signal(), Some(2));
}

fn sums_are_of_the_files(out: &Path) {
    let said = fs::read_to_string(out.join("SHA256SUMS")).unwrap();
    let listed: Vec<&str> = said
        .lines()
        .map(|line| line.split_once("  ").unwrap().1)
        .collect();
    let files = fs::read_dir(out).unwrap().count();
    // All but itself.
    assert_eq!(listed.len() + 1, files, "{listed:?}");
    if find("sha256sum").is_some() {
        run(Command::new("sha256sum")
            .args(["--check", "--quiet", "SHA256SUMS"])
            .current_dir(out));
    }
}

#[test]
fn what_is_published_holds_no_tests() {
    let listed = Command::new(env!("CARGO"))
        .args(["package", "--workspace", "--list", "--allow-dirty"])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&listed.stderr);
    assert!(listed.status.success(), "{error}");
    let files = String::from_utf8(listed.stdout).unwrap();
    assert!(files.lines().any(|file| file == "src/lib.rs"), "{files}");
    for file in files.lines() {
        let parts: Vec<&str> = file.split('/').collect();
        let is_source = ["src", "migrations", "examples"].contains(&parts[0]) || parts.len() == 1;
        // The sessions of the demo are a part of the program.
        let is_source = is_source || file.starts_with("fixtures/tour/");
        let is_test = parts
            .iter()
            .any(|part| *part == "tests" || *part == "tests.rs");
        assert!(is_source && !is_test, "{file} is published");
    }
}
