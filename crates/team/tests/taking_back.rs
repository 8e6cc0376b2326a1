//! Does what was taken back go, in the store and elsewhere?

use serde_json::json;

use crate::machine::{BOAT, DIARY, Folder, Machine, tree};
use crate::sending::stored_sessions;

/// Ada shares two repositories, Bob has pulled.
fn two(store: &Folder) -> (Machine, Machine) {
    let ada = Machine::sharing("ada", &store.address());
    ada.team(&["share", DIARY]);
    ada.write_session(BOAT, "0a", &["of the boat"]);
    ada.write_session(BOAT, "0b", &["of the boat too"]);
    ada.write_session(DIARY, "0c", &["of the diary"]);
    ada.json(&["push"]);
    let bob = Machine::sharing("bob", &store.address());
    assert_eq!(bob.json(&["pull"])["hosts"][0]["written"], 3);
    (ada, bob)
}

#[test]
fn a_repository_that_is_revoked_goes_from_the_store_and_with_the_next_pull() {
    let store = Folder::new();
    let (ada, bob) = two(&store);
    let before = tree(store.path());
    assert_eq!(
        ada.json(&["revoke", DIARY, "--dry-run"]),
        json!({"schema_version": 1, "files": 1, "sessions": 1})
    );
    assert_eq!(tree(store.path()), before);
    assert_eq!(
        ada.json(&["revoke", DIARY]),
        json!({"schema_version": 1, "files": 1, "sessions": 1})
    );
    assert_eq!(stored_sessions(&store), ["0a", "0b"]);
    let blocks = |of: &Folder| {
        tree(of.path())
            .keys()
            .filter(|of| of.ends_with(".zst"))
            .count()
    };
    assert_eq!(blocks(&store), 2);
    ada.json(&["push"]);
    assert_eq!(stored_sessions(&store), ["0a", "0b"]);
    assert_eq!(bob.json(&["pull"])["hosts"][0]["removed"], 1);
    assert_eq!(bob.copies().len(), 2);
}

#[test]
fn a_session_that_is_purged_is_never_sent_again() {
    let store = Folder::new();
    let (ada, bob) = two(&store);
    assert_eq!(
        ada.json(&["purge", "0a"]),
        json!({"schema_version": 1, "files": 1, "sessions": 1})
    );
    ada.json(&["push"]);
    assert_eq!(stored_sessions(&store), ["0b", "0c"]);
    bob.json(&["pull"]);
    assert_eq!(bob.copies().len(), 2);
}

#[test]
fn with_a_session_go_those_of_its_subagents() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    let id = "0b4e9c1a-1111-4222-8333-444455556666";
    let line = |cwd: &std::path::Path, text: &str| {
        let entry = json!({"type": "user", "uuid": text, "parentUuid": null, "sessionId": id,
            "timestamp": "2026-01-05T09:00:00.000Z", "cwd": cwd, "version": "2.1.0",
            "message": {"role": "user", "content": text}});
        format!("{entry}\n")
    };
    let project = ada.home().join(".claude/projects/-code-boat");
    let below = project.join(id).join("subagents");
    std::fs::create_dir_all(&below).unwrap();
    let cwd = ada.cwd(BOAT);
    std::fs::write(project.join(format!("{id}.jsonl")), line(&cwd, "one")).unwrap();
    std::fs::write(below.join("agent-b1.jsonl"), line(&cwd, "two")).unwrap();
    ada.json(&["push"]);
    assert_eq!(stored_sessions(&store).len(), 2);
    // The beginning of an id is enough; another one's is refused.
    assert_eq!(ada.json(&["purge", "0b4e9c1a"])["files"], 2);
    std::fs::write(below.join("agent-b2.jsonl"), line(&cwd, "three")).unwrap();
    ada.json(&["push"]);
    assert_eq!(stored_sessions(&store), [""; 0]);
}

/// One that was never heard of would be kept in mind, and the session that was meant be sent.
#[test]
fn what_is_not_known_is_not_taken_back_in_silence() {
    let store = Folder::new();
    let (ada, _bob) = two(&store);
    let settings = std::fs::read(ada.data().join("team.json")).unwrap();
    for (name, says) in [("0x", "no session"), ("0", "3 sessions"), ("", "sessions")] {
        let output = ada.output(&["purge", name]);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && said.contains(says),
            "{said}"
        );
    }
    assert_eq!(
        std::fs::read(ada.data().join("team.json")).unwrap(),
        settings
    );
    let output = ada.output(&["revoke", "github.com/ada/bote"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(1) && said.contains("ada/bote"),
        "{said}"
    );
    // What is in the store alone is known too, and an address as it is typed.
    std::fs::remove_file(ada.session_path(BOAT, "0a")).unwrap();
    assert_eq!(ada.json(&["purge", "0a"])["files"], 1);
    assert_eq!(
        ada.json(&["revoke", "GitHub.com/ada/diary.git/"])["files"],
        1
    );
    assert_eq!(stored_sessions(&store), ["0b"]);
}

/// As if it was cut off as soon as the settings were written.
#[test]
fn what_was_cut_off_is_made_up_for_by_a_push() {
    let store = Folder::new();
    let (ada, _bob) = two(&store);
    let path = ada.data().join("team.json");
    let text = std::fs::read_to_string(&path).unwrap();
    let mut settings: serde_json::Value = serde_json::from_str(&text).unwrap();
    settings["repositories"] = json!([BOAT]);
    settings["withheld"] = json!(["0a"]);
    std::fs::write(&path, settings.to_string()).unwrap();
    assert_eq!(ada.json(&["push"])["taken_back"], 2);
    assert_eq!(stored_sessions(&store), ["0b"]);
}

#[test]
fn everything_can_be_taken_back() {
    let store = Folder::new();
    let (ada, bob) = two(&store);
    ada.json(&["purge", "--all"]);
    assert_eq!(stored_sessions(&store), [""; 0]);
    assert!(
        tree(store.path())
            .keys()
            .all(|name| name.ends_with("host.json"))
    );
    assert_eq!(bob.json(&["pull"])["hosts"][0]["removed"], 3);
    assert_eq!(bob.copies().len(), 0);
    assert_eq!(ada.json(&["push"])["sessions"], json!([]));
}

#[test]
fn who_leaves_leaves_nothing_but_the_name() {
    let store = Folder::new();
    let (ada, bob) = two(&store);
    bob.write_session(BOAT, "0d", &["of bob"]);
    bob.json(&["push"]);
    // As a push to a database leaves it that was killed.
    let left = bob.data().join("team.rows/bob/pi/--boat--");
    std::fs::create_dir_all(&left).unwrap();
    std::fs::write(left.join("0d.jsonl"), "of bob").unwrap();
    assert_eq!(
        bob.json(&["leave"]),
        json!({"schema_version": 1, "files": 1, "sessions": 1})
    );
    let ours = |name: &String| name.contains("team");
    assert!(
        !tree(&bob.data()).keys().any(ours),
        "{:?}",
        tree(&bob.data()).keys()
    );
    assert_eq!(stored_sessions(&store), ["0a", "0b", "0c"]);
    assert!(store.path().join("bob/host.json").exists());
    assert!(bob.session_path(BOAT, "0d").exists());
    // Also without the store, if somebody says so.
    std::fs::rename(store.path().join("ada"), store.path().join("gone.tmp")).unwrap();
    ada.team(&["leave", "--keep"]);
    assert!(!tree(&ada.data()).keys().any(ours));
}

/// Neither rows nor words of others stay in the index of who leaves, nor in its files.
#[test]
fn who_leaves_forgets_what_others_said() {
    let store = Folder::new();
    let ada = Machine::sharing("ada", &store.address());
    ada.write_session(BOAT, "0a", &["walrusadas"]);
    ada.json(&["push"]);
    let bob = Machine::sharing("bob", &store.address());
    bob.write_session(BOAT, "0b", &["walrusbobs"]);
    bob.json(&["pull"]);
    bob.sync();
    assert_eq!(known(&bob), json!([["0a"], ["0b"]]));
    assert!(index_holds(&bob, "walrusadas"));
    // As if it was killed when it had removed the copies.
    let catalogue = bob.config().catalogue_path();
    let aside = catalogue.with_extension("aside");
    std::fs::rename(&catalogue, &aside).unwrap();
    std::fs::create_dir(&catalogue).unwrap();
    let keep = "`sessionary team leave --keep` again";
    is_refused(&bob, &["leave", "--keep"], keep);
    is_refused(&bob, &["leave"], "`sessionary team leave` again");
    assert_eq!(bob.copies().len(), 0);
    std::fs::remove_dir(&catalogue).unwrap();
    std::fs::rename(&aside, &catalogue).unwrap();
    assert!(index_holds(&bob, "walrusadas"));
    bob.team(&["leave"]);
    assert_eq!(known(&bob), json!([["0b"]]));
    assert!(!index_holds(&bob, "walrusadas") && index_holds(&bob, "walrusbobs"));
    assert!(!bob.data().join("team.json").exists());
}

/// The sessions that the index of a machine knows.
fn known(machine: &Machine) -> serde_json::Value {
    let rows = machine
        .index()
        .sql("SELECT id FROM sessions ORDER BY id", &[]);
    json!(rows.unwrap().rows)
}

/// Whether a word stands in a file of the index.
fn index_holds(machine: &Machine, word: &str) -> bool {
    let mut files = tree(&machine.home().join(".cache")).into_values();
    files.any(|file| file.windows(word.len()).any(|of| of == word.as_bytes()))
}

/// Who only pulls has a name that is not its own yet.
#[test]
fn a_name_that_another_machine_took_hides_none_of_its_sessions() {
    let store = Folder::new();
    let reader = Machine::sharing("box", &store.address());
    let writer = Machine::sharing("box", &store.address());
    writer.write_session(BOAT, "0a", &["of the writer"]);
    writer.json(&["push"]);
    assert_eq!(reader.json(&["pull"])["hosts"][0]["written"], 1);
    assert!(!reader.team(&["status"]).contains("this machine"));
    assert_eq!(writer.json(&["pull"])["hosts"], json!([]));
    for arguments in [&["push"][..], &["push", "--dry-run"], &["purge", "--all"]] {
        let output = reader.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && said.contains("--host NAME"),
            "{said}"
        );
    }
    assert_eq!(stored_sessions(&store), ["0a"]);
    reader.team(&["init", &store.address(), "--host", "desk"]);
    reader.team(&["leave"]);
    assert_eq!(stored_sessions(&store), ["0a"]);
}

/// One of a later layout, or on a disk that fails.
#[test]
fn the_blocks_of_a_manifest_that_cannot_be_read_stay() {
    let store = Folder::new();
    let (ada, _bob) = two(&store);
    std::fs::remove_file(ada.session_path(BOAT, "0a")).unwrap();
    let files = tree(store.path()).into_iter();
    let (name, manifest) = files
        .filter(|(name, _)| name.contains("/files/"))
        .find(|(_, of)| String::from_utf8_lossy(of).contains("\"0a\""))
        .unwrap();
    let path = store.path().join(&name[1..]);
    let mut later: serde_json::Value = serde_json::from_slice(&manifest).unwrap();
    later["version"] = json!(2);
    std::fs::write(&path, later.to_string()).unwrap();
    let blocks = || {
        let names = tree(store.path()).into_keys();
        names.filter(|of| of.ends_with(".zst")).count()
    };
    for arguments in [&["push"][..], &["push", "--prune"], &["revoke", DIARY]] {
        assert_eq!(blocks(), 3, "{arguments:?}");
        let output = ada.output(arguments);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(1), "{said}");
    }
    // What was revoked has gone.
    assert_eq!(blocks(), 2);
    // A newer version reads it still.
    std::fs::write(&path, manifest).unwrap();
    let eve = Machine::sharing("eve", &store.address());
    eve.json(&["pull"]);
    assert_eq!(eve.copies().len(), 2);
}

/// Syncthing, Dropbox and others keep both sides of a conflict.
#[test]
fn what_a_synchroniser_left_keeps_nothing_from_going() {
    let store = Folder::new();
    let (ada, bob) = two(&store);
    let names = tree(store.path()).into_keys();
    for name in names.filter(|of| of.contains("/files/") || of.contains("/blocks/")) {
        let path = store.path().join(&name[1..]);
        let (stem, ending) = path.to_str().unwrap().rsplit_once('.').unwrap();
        for copy in [".sync-conflict-20260105-090000-ABCDEFG", " (1)"] {
            std::fs::copy(&path, format!("{stem}{copy}.{ending}")).unwrap();
        }
    }
    // The folder of the other machine is never written.
    let before = tree(store.path());
    bob.json(&["push"]);
    assert!(before.keys().all(|of| tree(store.path()).contains_key(of)));
    ada.json(&["purge", "--all"]);
    assert_eq!(bob.json(&["pull"])["hosts"][0]["removed"], 3);
    let left: Vec<String> = tree(&store.path().join("ada")).into_keys().collect();
    assert_eq!(left, ["/host.json"]);
}

/// Finder and Explorer lay files of their own into every folder that they show.
#[test]
fn what_a_desktop_left_keeps_nothing_from_going() {
    let store = Folder::new();
    let (ada, _bob) = two(&store);
    let place = store.path().join("ada");
    let within = std::fs::read_dir(place.join("blocks")).unwrap();
    let mut folders: Vec<_> = within.map(|entry| entry.unwrap().path()).collect();
    folders.extend([place.clone(), place.join("blocks"), place.join("files")]);
    for folder in &folders {
        std::fs::write(folder.join(".DS_Store"), "of a desktop").unwrap();
    }
    std::fs::create_dir(place.join("blocks/more")).unwrap();
    std::fs::write(place.join("blocks/desktop.ini"), "of a desktop").unwrap();
    let blocks = || {
        let names = tree(store.path()).into_keys();
        names.filter(|of| of.ends_with(".zst")).count()
    };
    assert_eq!(ada.json(&["push"])["sent_blocks"], 0);
    ada.json(&["revoke", DIARY]);
    assert_eq!((stored_sessions(&store).len(), blocks()), (2, 2));
    ada.json(&["purge", "0a"]);
    assert_eq!((stored_sessions(&store).len(), blocks()), (1, 1));
    ada.team(&["leave"]);
    assert_eq!((stored_sessions(&store).len(), blocks()), (0, 0));
}

/// The verb is refused, and says this; nothing is sent, taken back or forgotten meanwhile.
fn is_refused(machine: &Machine, arguments: &[&str], says: &str) {
    let output = machine.output(arguments);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && said.contains(says),
        "{arguments:?}: {said}"
    );
    assert!(machine.data().join("team.json").exists(), "{arguments:?}");
}

/// A disk that is not mounted has no folder, or an empty one.
#[test]
fn a_store_that_is_not_there_is_not_an_empty_one() {
    let store = Folder::new();
    let path = store.path().join("disk/sessions");
    let (disk, elsewhere) = (store.path().join("disk"), store.path().join("elsewhere"));
    let address = format!("dir:{}", path.display());
    let ada = Machine::sharing("ada", &address);
    ada.write_session(BOAT, "0a", &["of the boat"]);
    ada.write_session(BOAT, "0b", &["of the boat too"]);
    ada.json(&["push"]);
    let stored = tree(&path);
    std::fs::rename(&disk, &elsewhere).unwrap();
    let all = [
        &["push"][..],
        &["push", "--dry-run"],
        &["revoke", DIARY],
        &["purge", "0a"],
        &["leave"],
    ];
    for says in ["is not there", "not known any more"] {
        for arguments in all {
            is_refused(&ada, arguments, says);
            assert_eq!(tree(store.path()).len(), stored.len(), "{arguments:?}");
        }
        // Once more, where only the place of the mount is there.
        std::fs::create_dir_all(&path).unwrap();
    }
    std::fs::remove_dir_all(&disk).unwrap();
    is_refused(&ada, &["init", &address], "is not there");
    std::fs::rename(&elsewhere, &disk).unwrap();
    assert_eq!(tree(&path), stored);
    // What was purged meanwhile is made up for.
    assert_eq!(ada.json(&["push"])["taken_back"], 1);
    assert_eq!(ada.json(&["leave"])["files"], 1);
    assert!(!ada.data().join("team.json").exists());
}

/// Who has sent nothing yet is told too, and nothing is copied to where the disk is not.
#[test]
fn a_first_push_makes_no_store() {
    let store = Folder::new();
    let path = store.path().join("disk");
    std::fs::create_dir(&path).unwrap();
    let address = format!("dir:{}", path.display());
    let ada = Machine::sharing("ada", &address);
    ada.write_session(BOAT, "0a", &["of the boat"]);
    std::fs::remove_dir(&path).unwrap();
    for verb in ["push", "pull", "status", "leave"] {
        is_refused(&ada, &[verb], "is not there");
        assert!(!path.exists(), "{verb}");
    }
    ada.team(&["init", &address]);
    assert_eq!(ada.json(&["push"])["files"], 1);
}

/// A store that was wiped on purpose is begun anew by who says so.
#[test]
fn a_store_that_was_emptied_is_begun_anew() {
    let store = Folder::new();
    let (ada, _bob) = two(&store);
    std::fs::remove_dir_all(store.path().join("ada")).unwrap();
    let said = ada.output(&["push"]).stderr;
    let said = String::from_utf8_lossy(&said).into_owned();
    // What keeps the copies of others' sessions is named first.
    let at = |hint: &str| said.find(hint).unwrap_or_else(|| panic!("{hint}: {said}"));
    assert!(at("init STORE --keep") < at("leave --keep"), "{said}");
    ada.team(&["init", &store.address(), "--keep"]);
    ada.json(&["push"]);
    assert_eq!(stored_sessions(&store), ["0a", "0b", "0c"]);
}

#[test]
fn what_was_sent_to_one_store_is_not_forgotten_with_another() {
    let (first, second) = (Folder::new(), Folder::new());
    let (ada, bob) = two(&first);
    is_refused(&ada, &["init", &second.address()], &first.address());
    is_refused(&ada, &["init", &second.address()], "by another address");
    assert_eq!(ada.json(&["status"])["store"], first.address());
    // The same one by another address is no other.
    ada.team(&["init", &format!("{}/", first.address())]);
    // Nor is anything left by who never sent, or has taken all of it back.
    bob.team(&["init", &second.address()]);
    ada.json(&["purge", "--all"]);
    ada.team(&["init", &second.address()]);
    ada.team(&["share", BOAT]);
    ada.json(&["push"]);
    assert_eq!(stored_sessions(&second), ["0a", "0b"]);
    // Who leaves it there finds it again.
    ada.team(&["init", &first.address(), "--keep"]);
    std::fs::rename(first.path().join("ada"), first.path().join("gone.tmp")).unwrap();
    is_refused(&ada, &["leave"], "not known any more");
    std::fs::rename(first.path().join("gone.tmp"), first.path().join("ada")).unwrap();
    ada.team(&["init", &second.address()]);
    assert_eq!(ada.json(&["leave"])["files"], 2);
    assert_eq!(stored_sessions(&second), [""; 0]);
}

/// As a `purge --all` leaves it that is killed before it has removed the blocks.
#[test]
fn a_store_with_blocks_of_this_machine_is_not_emptied() {
    let (first, second) = (Folder::new(), Folder::new());
    let (ada, _bob) = two(&first);
    std::fs::remove_dir_all(first.path().join("ada/files")).unwrap();
    is_refused(&ada, &["init", &second.address()], &first.address());
    ada.json(&["purge", "--all"]);
    ada.team(&["init", &second.address()]);
    assert_eq!(tree(first.path()).len(), 1);
}

#[test]
fn another_name_comes_with_another_store() {
    let (first, second) = (Folder::new(), Folder::new());
    let (ada, _bob) = two(&first);
    let second_address = second.address();
    let renamed = ["init", &second_address, "--host", "ada2"];
    is_refused(&ada, &renamed, &first.address());
    ada.team(&[&renamed[..], &["--keep"]].concat());
    assert_eq!(ada.json(&["status"])["host"], "ada2");
    ada.json(&["push"]);
    assert_eq!(stored_sessions(&second), ["0a", "0b", "0c"]);
    assert_eq!(stored_sessions(&first), ["0a", "0b", "0c"]);
    // Who has taken all back needs no --keep.
    ada.json(&["purge", "--all"]);
    let third = Folder::new();
    ada.team(&["init", &third.address(), "--host", "ada3"]);
    assert_eq!(ada.json(&["status"])["host"], "ada3");
    // Where its sessions have another name it goes on by that.
    let first_address = first.address();
    for back in [
        &["init", &first_address][..],
        &["init", &first_address, "--host", "ada4"],
    ] {
        is_refused(&ada, back, "called ada ");
    }
    ada.team(&["init", &first_address, "--host", "ada"]);
    assert_eq!(ada.json(&["purge", "--all"])["files"], 3);
}

#[test]
fn a_machine_has_one_name_in_a_store() {
    let store = Folder::new();
    let (ada, _bob) = two(&store);
    ada.json(&["purge", "0a"]);
    let address = store.address();
    let renamed = ["init", &address, "--host", "ada2"];
    is_refused(&ada, &renamed, "purge --all");
    is_refused(&ada, &[&renamed[..], &["--keep"]].concat(), "called ada ");
    assert_eq!(ada.json(&["status"])["host"], "ada");
    ada.json(&["purge", "--all"]);
    ada.team(&renamed);
    ada.team(&["share", BOAT]);
    ada.json(&["push"]);
    // What was purged before is not sent by the new name either.
    assert_eq!(stored_sessions(&store), ["0b"]);
    assert!(!store.path().join("ada/files").exists());
}

/// A folder that is not mounted, or has not been synchronised yet, says nothing.
#[test]
fn a_host_that_is_not_there_takes_nothing_away() {
    let store = Folder::new();
    let (_ada, bob) = two(&store);
    let before = bob.copies();
    std::fs::rename(store.path().join("ada"), store.path().join("elsewhere.tmp")).unwrap();
    bob.output(&["pull"]);
    assert_eq!(bob.copies(), before);
    std::fs::create_dir(store.path().join("ada")).unwrap();
    bob.output(&["pull"]);
    assert_eq!(bob.copies(), before);
    // Nor does one whose manifest cannot be read.
    std::fs::remove_dir(store.path().join("ada")).unwrap();
    std::fs::rename(store.path().join("elsewhere.tmp"), store.path().join("ada")).unwrap();
    let name = tree(store.path())
        .into_keys()
        .find(|of| of.contains("/files/"))
        .unwrap();
    std::fs::write(store.path().join(&name[1..]), "{").unwrap();
    let output = bob.output(&["pull"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(bob.copies(), before);
}

/// What was sent when it was certain is still true: a working tree may be gone for good, or a disk
/// not mounted.
#[test]
fn a_session_whose_directory_is_gone_is_not_taken_from_others() {
    let store = Folder::new();
    let (ada, _bob) = two(&store);
    std::fs::remove_dir_all(ada.cwd(DIARY)).unwrap();
    let output = ada.output(&["push", "--prune", "--json"]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    let pushed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(pushed["gone"], 0, "{pushed}");
    assert_eq!(pushed["taken_back"], 0, "{pushed}");
    assert!(
        said.contains("guess") || pushed.to_string().contains("guess"),
        "{said}"
    );
    assert_eq!(stored_sessions(&store), ["0a", "0b", "0c"]);
}
