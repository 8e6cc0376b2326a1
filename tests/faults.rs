//! What happens when the system refuses: no room, no more open files, a folder that may not be
//! written?
//!
//! Always the same: an error that says what and what to do, answers from what is there, and nothing
//! broken afterwards.

use std::fs;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use crate::corpus::{Spec, write};
use crate::problems::{BoundHome, permit, session};
use crate::sandbox::Sandbox;
use crate::scale::unshared;

#[test]
fn a_disk_of_any_size_is_no_reason_to_break() {
    let folder = tempfile::tempdir().expect("a folder");
    let sessions = folder.path().join("sessions");
    let spec = Spec {
        bytes: 3_000_000,
        files: 30,
        seed: 5,
    };
    write(&sessions, spec).expect("a corpus");
    let index = folder.path().join("index");
    fs::create_dir(&index).expect("a folder");
    // From no room for a lock file to room for half of it; inodes may be what is lacking as well.
    let script = r#"
        # Where not even an empty index can be made, that is the answer, with the remedy.
        refused() {
            test ! -s "$1"
            grep -E "No space left|disk is full|unable to open|disk I/O" "$OUT"/said >/dev/null
            grep '"hints":\["' "$OUT"/said >/dev/null
            # The mark of what it is to be, at most.
            test "$(stat -c %s "$INDEX"/v5/catalogue.sqlite 2>/dev/null || echo 0)" -le 4096
        }
        s() { "$SESSIONARY" --no-default-roots --root pi:"$SESSIONS" --index "$INDEX" "$@"; }
        for room in size=4k size=64k size=200k size=400k size=700k size=1200k size=2m size=64m,nr_inodes=2 size=64m,nr_inodes=4 size=64m,nr_inodes=7 size=64m,nr_inodes=12; do
            mount -t tmpfs -o "$room" tmpfs "$INDEX"
            code=0; s sync >"$OUT"/said 2>&1 || code=$?
            echo "== $room: sync $code"
            if [ $code != 0 ]; then
                test $code = 2
                grep -E "No space left|disk is full|unable to open|disk I/O" "$OUT"/said >/dev/null || { cat "$OUT"/said; exit 9; }
                grep "^hint: " "$OUT"/said >/dev/null || { cat "$OUT"/said; exit 8; }
            fi
            ! grep -E "panicked|SQLITE" "$OUT"/said
            code=0; s --json list --all >"$OUT"/listed 2>"$OUT"/said || code=$?
            if [ $code = 2 ]; then refused "$OUT"/listed; else
                test $code = 0 || test $code = 1
                grep -E '"complete":(true|false)' "$OUT"/listed >/dev/null
                test $code = 0 || grep '"complete":false' "$OUT"/listed >/dev/null
            fi
            code=0; s --json search compiler >"$OUT"/found 2>"$OUT"/said || code=$?
            if [ $code = 2 ]; then refused "$OUT"/found; else test $code = 0 || test $code = 1; fi
            ! grep panicked "$OUT"/said
            mount -o remount,size=64m,nr_inodes=4096 "$INDEX"
            s sync >/dev/null
            s verify >/dev/null
            echo "healed: listed $(s list --all | wc -l)"
            umount "$INDEX"
        done
    "#;
    let out = folder.path().join("out");
    fs::create_dir(&out).expect("a folder");
    let variables = [
        ("HOME", folder.path().as_os_str()),
        ("SESSIONARY", env!("CARGO_BIN_EXE_sessionary").as_ref()),
        ("SESSIONS", sessions.as_os_str()),
        ("INDEX", index.as_os_str()),
        ("OUT", out.as_os_str()),
    ];
    let Some(told) = unshared(script, &variables) else {
        return;
    };
    assert_eq!(told.matches("healed: listed 31").count(), 11, "{told}");
    assert!(told.contains("sync 2") && told.contains("sync 0"), "{told}");
}

/// As a container or a change of root may have it. `SESSIONARY_PACKED` is a static program, of
/// which no library is copied.
#[cfg(target_os = "linux")]
#[test]
fn a_root_without_devices_has_answers() {
    let home = Sandbox::new();
    home.write(
        ".pi/agent/sessions/--w--/one.jsonl",
        &session("0a", "walrus"),
    );
    home.settle();
    let script = r#"
        mount -t tmpfs tmpfs /mnt
        for library in $(ldd "$PROGRAM" | grep -o '/[^ ]*'); do cp -L --parents "$library" "$ROOT"; done
        cp "$PROGRAM" "$ROOT"/sessionary
        cat >/mnt/refuse.c <<'C'
        #include <errno.h>
        #include <sys/syscall.h>
        #include <unistd.h>
        long syscall(long, ...);
        /* As the libraries ask; what Rust asks for its hash maps is another flag. */
        long getrandom(void *at, unsigned long length, unsigned flags) {
            if (flags == 0) { errno = ENOSYS; return -1; }
            return syscall(SYS_getrandom, at, length, flags);
        }
C
        PATH="$PATH:/usr/sbin:/sbin"
        s() { env -i HOME=/ LD_PRELOAD="$without" "$(command -v chroot)" "$ROOT" /sessionary "$@" 2>&1; }
        without=
        s list --all --json
        s search walrus
        s sync
        echo "== without random bytes"
        ldd "$PROGRAM" | grep -q '=>' || { echo "SKIPPED: a static program"; exit 0; }
        cc -shared -fPIC -o "$ROOT"/refuse.so -x c /mnt/refuse.c || { echo "SKIPPED: no compiler"; exit 0; }
        rm -rf "$ROOT"/.cache
        without=/refuse.so
        s search walrus
        s sync || echo "sync: $?"
        s verify
    "#;
    let program = std::env::var_os("SESSIONARY_PACKED");
    let program = program.unwrap_or_else(|| env!("CARGO_BIN_EXE_sessionary").into());
    let variables = [
        ("ROOT", home.home.as_os_str()),
        ("PROGRAM", program.as_os_str()),
    ];
    let Some(told) = unshared(script, &variables) else {
        return;
    };
    assert!(!told.contains("panicked"), "{told}");
    let (with, without) = told.split_once("== ").expect("both");
    assert!(with.contains("walrus") && with.contains("0a"), "{told}");
    if without.contains("SKIPPED") {
        return eprintln!("{without}");
    }
    assert!(
        without.contains("walrus") && without.contains("both stores"),
        "{told}"
    );
    assert!(
        without.contains("mknod") && without.contains("sync: 2"),
        "{told}"
    );
}

/// Runs the command with so few open files.
fn with_files(home: &Sandbox, files: u32, arguments: &[&str]) -> Output {
    let command = home.command(arguments);
    let mut limited = Command::new("sh");
    limited
        .args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")])
        .arg(command.get_program())
        .args(command.get_args())
        .env_clear()
        .envs(
            command
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        )
        .current_dir(&home.cwd);
    limited.output().expect("it runs")
}

#[test]
fn too_few_open_files_are_said_and_break_nothing() {
    let home = Sandbox::new();
    for number in 0..12 {
        let text = format!("walrus {number}");
        home.write(
            &format!(".pi/agent/sessions/--w{number}--/one.jsonl"),
            &session(&format!("{number}a"), &text),
        );
    }
    home.settle();
    let index = home.home.join(".cache/sessionary");
    let (mut refused, mut done) = (0, 0);
    for files in (4..40).chain([48, 64, 128]) {
        let _ = fs::remove_dir_all(&index);
        for arguments in [&["sync"][..], &["list", "--all"], &["search", "walrus"]] {
            let output = with_files(&home, files, arguments);
            let said = String::from_utf8_lossy(&output.stderr);
            assert!(!said.contains("panicked"), "{files}: {arguments:?}: {said}");
            match output.status.code() {
                Some(0 | 1) => done += 1,
                Some(2) => {
                    refused += 1;
                    let named = [
                        "Too many open files",
                        "os error 24",
                        "unable to open",
                        "disk I/O error",
                    ];
                    assert!(
                        named.iter().any(|name| said.contains(name)),
                        "{files}: {arguments:?}: {said}"
                    );
                }
                // Fewer than it takes to start a process at all.
                code => assert!(files < 8, "{files}: {arguments:?}: {code:?} {said}"),
            }
        }
        let healed = home.output(&["sync"]);
        let said = String::from_utf8_lossy(&healed.stderr);
        assert_eq!(healed.status.code(), Some(0), "{files}: {said}");
        if files % 4 == 0 {
            let verified = home.json(&["verify", "--json"]);
            assert_eq!(verified["differences"], serde_json::json!([]), "{files}");
            assert_eq!(
                home.json(&["search", "walrus", "--json"])["total"],
                12,
                "{files}"
            );
        }
    }
    assert!(refused > 0 && done > 20, "{refused} refused, {done} done");
}

#[test]
fn folders_that_may_not_be_written() {
    let home = Sandbox::new();
    let file = home.write(
        ".pi/agent/sessions/--code-parser--/one.jsonl",
        &session("0a", "walrus"),
    );
    home.settle();
    let Some(bound) = BoundHome::new(home) else {
        return;
    };
    let run = |arguments: &[&str]| {
        let mut command = bound.home.command(arguments);
        let output = bound.by_user(&mut command).output().expect("it runs");
        (
            output.status.code(),
            String::from_utf8_lossy(&output.stdout).into_owned(),
            String::from_utf8_lossy(&output.stderr).into_owned(),
        )
    };
    assert_eq!(run(&["sync"]).0, Some(0));
    // The agent's folder: read as ever; a write says what and changes nothing.
    let folder = file.parent().expect("its folder");
    permit(&file, 0o444);
    let sessions = folder.parent().expect("the agent's sessions");
    [folder, sessions]
        .iter()
        .for_each(|folder| permit(folder, 0o555));
    let mut plain = Command::new("sh");
    let plain = bound
        .by_user(&mut plain)
        .args(["-c", "echo x >> \"$0\" || echo x > \"$0.new\""])
        .arg(&file)
        .output();
    assert!(
        plain.is_ok_and(|plain| !plain.status.success()),
        "permissions bind nobody here"
    );
    let before = fs::read(&file).expect("the session");
    for arguments in [
        &["append", "0a", "--user", "x"][..],
        &["name", "0a", "x"],
        &["label", "0a:a1", "x"],
        &["fork", "0a"],
        &["branch", "0a:a1"],
    ] {
        let (code, _, said) = run(arguments);
        assert_eq!(code, Some(2), "{arguments:?}: {said}");
        assert!(
            said.matches("Permission denied").count() == 1 && said.contains(".pi/agent/sessions"),
            "{arguments:?}: {said}"
        );
    }
    assert_eq!(fs::read(&file).expect("the session"), before);
    assert_eq!(fs::read_dir(folder).expect("its folder").count(), 1);
    [folder, sessions]
        .iter()
        .for_each(|folder| permit(folder, 0o755));
    // The index: answers from what is there, and says when that is not all.
    let generation = bound.home.home.join(".cache/sessionary/v5");
    permit(&generation, 0o555);
    for name in [
        "catalogue.sqlite",
        "lock",
        "catalogue.sqlite-wal",
        "catalogue.sqlite-shm",
    ] {
        permit(&generation.join(name), 0o444);
    }
    let (code, listed, said) = run(&["list"]);
    assert_eq!((code, listed.contains("walrus")), (Some(0), true), "{said}");
    assert!(!said.contains("incomplete"), "{said}");
    let (code, found, said) = run(&["search", "walrus"]);
    assert_eq!((code, found.contains("0a:a1")), (Some(0), true), "{said}");
    let (code, _, said) = run(&["sync"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("error: ") && said.contains("hint: "),
        "{said}"
    );
    bound.home.write(
        ".pi/agent/sessions/--other--/two.jsonl",
        &session("0b", "walrus two"),
    );
    bound.give_away();
    permit(&generation, 0o555);
    let (code, listed, said) = run(&["list", "--all"]);
    assert_eq!((code, listed.contains("0a")), (Some(0), true), "{said}");
    assert!(said.contains("not been read yet"), "{said}");
    // With the permissions all of it is there.
    permit(&generation, 0o700);
    for name in [
        "catalogue.sqlite",
        "lock",
        "catalogue.sqlite-wal",
        "catalogue.sqlite-shm",
    ] {
        permit(&generation.join(name), 0o600);
    }
    let (code, listed, said) = run(&["list", "--all"]);
    assert_eq!((code, listed.lines().count()), (Some(0), 3), "{said}");
}

#[test]
fn a_reader_waits_for_no_lock_of_a_writer() {
    let home = Sandbox::new();
    home.write(
        ".pi/agent/sessions/--w--/one.jsonl",
        &session("0a", "walrus"),
    );
    home.settle();
    assert!(home.output(&["sync"]).status.success());
    // Every lock file there is, held as by a writer that is stopped and never goes on.
    let index = home.home.join(".cache/sessionary/v5");
    let mut held = Vec::new();
    for file in walkdir::WalkDir::new(&index).into_iter().flatten() {
        let name = file.file_name().to_string_lossy();
        if name == "lock" || name.ends_with(".lock") {
            let lock = fs::File::options()
                .write(true)
                .open(file.path())
                .expect("a lock file");
            lock.lock().expect("held");
            held.push(lock);
        }
    }
    assert!(held.len() > 1, "{held:?}");
    for arguments in [
        &["search", "walrus"][..],
        &["list", "--all"],
        &["show", "0a"],
        &["status"],
    ] {
        let mut command = home.command(arguments);
        let mut child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("it runs");
        let end = Instant::now() + Duration::from_secs(60);
        while child.try_wait().expect("its state").is_none() {
            if Instant::now() > end {
                child.kill().expect("ended");
                panic!("{arguments:?} waits");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let output = child.wait_with_output().expect("its end");
        assert_eq!(output.status.code(), Some(0), "{arguments:?}");
        assert!(!output.stdout.is_empty(), "{arguments:?}");
    }
}
