//! Does the archive hold what the files held, whatever happened to them, to it or to another index
//! in between? And is it told when it does not?

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};

use sessionary::model::{Event, Report};
use sessionary::{
    Config, Error, Exclude, FollowLinks, Freshness, Index, Indexer, Rules, with_causes,
};

use crate::archive::{Home, every_content, is_whole, session, sync};
use crate::exclusion::files_with;
use crate::histories::dump::root;
use crate::watching::watcher::{Watcher, until};

/// An id as it is given once in the world.
const ID: &str = "019b3f2a-0000-7000-8000-000000000001";

fn database(home: &Home) -> PathBuf {
    home.archive().join("archive.sqlite")
}

/// Every content in the archive that is not empty.
fn contents(home: &Home) -> Vec<String> {
    let archive = rusqlite::Connection::open(database(home)).unwrap();
    let all = every_content(&archive).into_iter();
    let all = all.map(|bytes| String::from_utf8(bytes).unwrap());
    all.filter(|text| !text.is_empty()).collect()
}

fn append(path: &Path, text: &str) {
    let mut file = OpenOptions::new().append(true).open(path).unwrap();
    file.write_all(text.as_bytes()).unwrap();
}

/// All files of a folder without folders.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for file in fs::read_dir(from).unwrap().flatten() {
        fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

fn ids(home: &Home) -> Vec<String> {
    let mut ids: Vec<String> = home.list().into_iter().map(|row| row.id).collect();
    ids.sort();
    ids
}

fn forget(config: &Config, id: &str) -> (u64, Report) {
    let index = Index::open(config, Freshness::AsCommitted).unwrap();
    let rows = index.list(&Default::default()).unwrap().sessions;
    let row = rows.into_iter().find(|row| row.id == id).unwrap();
    drop(index);
    let mut report = Report::default();
    let forgotten = Indexer::open(config).unwrap().forget(&row, &mut report);
    (forgotten.unwrap(), report)
}

/// By its last bytes such a file has only grown.
#[test]
fn a_file_that_is_rewritten_while_it_grows_has_two_versions() {
    let home = Home::keeping();
    let before = session("a", "alpha", 0..60);
    home.write("a.jsonl", &before);
    home.sync();
    let after = before.replace("alpha 3\"", "OMEGA 3\"") + &session("a", "alpha", 60..61);
    home.write("a.jsonl", &after);
    // A look, which proves no file later.
    assert!(!home.one().archived);
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let gone = home.one();
    assert_eq!(home.raw(&gone), after);
    assert_eq!(contents(&home), [before, after]);
    home.verify();
}

/// What is gone is read last, and asked for but once.
#[test]
fn a_first_sync_that_is_called_off_loses_nothing_of_the_archive() {
    let home = Home::keeping();
    // Each of so many entries that the first sync commits when it has one of them.
    let gone = session("gone", "zanzibar", 0..3) + &session("gone", "quagga", 3..600);
    home.write("gone.jsonl", &gone);
    home.sync();
    fs::remove_file(home.file("gone.jsonl")).unwrap();
    home.write("there.jsonl", &session("there", "quetzal", 0..600));
    assert_eq!(ids(&home), ["gone", "there"]);
    fs::remove_dir_all(home.config().index_dir).unwrap();
    let config = home.config();
    let called_off = Indexer::open(&config).unwrap().sync_with(&mut |event| {
        if matches!(event, Event::Readable) {
            config.cancel.cancel();
        }
    });
    assert!(
        matches!(called_off, Err(Error::Cancelled)),
        "{called_off:?}"
    );
    let index = Index::open(&home.config(), Freshness::AsCommitted).unwrap();
    // Whichever of them one of the threads had read first.
    assert_eq!(index.list(&Default::default()).unwrap().sessions.len(), 1);
    assert_eq!(ids(&home), ["gone", "there"]);
    assert_eq!(home.hits("zanzibar"), 3);
    home.verify();
}

/// It is not followed, so the session is in the archive alone, for whichever index.
#[cfg(unix)]
#[test]
fn what_is_moved_away_and_linked_to_stays_in_a_new_index() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..3));
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    let away = home.0.path().join("away");
    fs::rename(home.file(""), &away).unwrap();
    std::os::unix::fs::symlink(&away, home.file("").parent().unwrap().join("--code--")).unwrap();
    let archived = || {
        let all = home.list().into_iter();
        all.map(|row| (row.id, row.archived)).collect::<Vec<_>>()
    };
    let before = archived();
    assert!(before.len() == 2 && before.iter().all(|(_, archived)| *archived));
    fs::remove_dir_all(home.config().index_dir).unwrap();
    assert_eq!(archived(), before);
    // Nor is a folder in its place the file.
    fs::remove_file(home.file("").parent().unwrap().join("--code--")).unwrap();
    fs::rename(&away, home.file("")).unwrap();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    fs::create_dir(home.file("a.jsonl")).unwrap();
    let before = archived();
    fs::remove_dir_all(home.config().index_dir).unwrap();
    assert_eq!(archived(), before);
    assert_eq!(home.hits("zanzibar"), 3);
}

/// Whether it is gone is known once it can be looked at, and then it is asked for again.
#[cfg(unix)]
#[test]
fn what_cannot_be_looked_at_is_asked_for_again() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..3));
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    fs::remove_dir_all(home.config().index_dir).unwrap();
    let folder = home.file("");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o000)).unwrap();
    // Not for who may read everything.
    let is_hidden = fs::read_dir(&folder).is_err();
    let looked = ids(&home);
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    assert!(!is_hidden || looked.is_empty());
    assert_eq!(ids(&home), ["a", "b"]);
}

/// What has a wrong byte is neither written back nor shown, and what is appended does not make it
/// whole.
#[test]
fn damaged_bytes_are_never_given_out() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "alpha", 0..5));
    home.sync();
    damage_a_block(&rusqlite::Connection::open(database(&home)).unwrap());
    for at in 5..50 {
        append(&home.file("a.jsonl"), &session("a", "alpha", at..at + 1));
        home.sync();
    }
    let kept = home.config().verify_archive().unwrap().unwrap();
    assert!(!kept.damage.is_empty());
    let text = fs::read_to_string(home.file("a.jsonl")).unwrap();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let gone = home.one();
    let refused = home.index().restore(&gone).unwrap();
    assert_eq!(refused.files, [] as [PathBuf; 0]);
    assert_eq!(refused.failed[0].path, home.file("a.jsonl"));
    let refused = with_causes(&refused.failed[0].error);
    assert!(refused.contains("damaged"), "{refused}");
    assert!(!home.file("a.jsonl").exists());
    // From its file it is kept anew.
    home.write("a.jsonl", &text.replacen("alpha 0", "omega 0", 1));
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let gone = home.one();
    let restored = home.index().restore(&gone).unwrap().files;
    let restored = fs::read_to_string(&restored[0]).unwrap();
    assert_eq!(restored, text.replacen("alpha 0", "omega 0", 1));
}

/// A sync finds nothing changed; who is told of the damage is told what mends it.
#[cfg(unix)]
#[test]
fn what_mends_a_damaged_archive_is_said_and_mends_it() {
    let home = crate::sandbox::Sandbox::new();
    let path = ".pi/agent/sessions/--code--/a.jsonl";
    let file = home.write(path, &session(ID, "zanzibar", 0..20));
    home.touch(&file, 1_767_603_600);
    assert!(home.output(&["archive", "on", "pi"]).status.success());
    let verified = || home.run(&["archive", "verify"]);
    let remedy = "`sessionary rebuild`";
    assert!(!verified().contains(remedy), "{}", verified());
    let archive = ".local/share/sessionary/archive/archive.sqlite";
    damage_a_block(&rusqlite::Connection::open(home.home.join(archive)).unwrap());
    let _ = home.run(&["sync"]);
    let damaged = verified();
    assert!(
        damaged.contains("DAMAGED") && damaged.contains(remedy),
        "{damaged}"
    );
    assert!(damaged.ends_with("--- exit Some(1)\n"), "{damaged}");
    assert!(home.output(&["rebuild"]).status.success());
    let mended = verified();
    assert!(
        mended.contains("all bytes are those that were kept"),
        "{mended}"
    );
    assert!(!mended.contains(remedy), "{mended}");
}

/// Other bytes of the same length, as a flipped bit makes them.
pub fn damage_a_block(archive: &rusqlite::Connection) {
    let sql = "SELECT block, length, data FROM blocks ORDER BY block LIMIT 1";
    let (block, length, data): (i64, usize, Vec<u8>) = archive
        .query_row(sql, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
        .unwrap();
    let mut bytes = zstd::bulk::decompress(&data, length).unwrap();
    bytes[length / 2] ^= 1;
    let data = zstd::bulk::compress(&bytes, 1).unwrap();
    let damage = "UPDATE blocks SET data = ?2 WHERE block = ?1";
    archive
        .execute(damage, rusqlite::params![block, data])
        .unwrap();
}

#[test]
fn sessions_below_a_root_that_is_deleted_are_read_from_the_archive() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    fs::remove_dir_all(home.0.path().join("pi")).unwrap();
    let gone = home.one();
    assert!(gone.archived);
    assert_eq!(home.hits("zanzibar"), 20);
    assert_eq!(home.raw(&gone), session("a", "zanzibar", 0..20));
}

#[test]
fn what_one_index_forgets_leaves_the_others() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    let other = Config {
        index_dir: home.0.path().join("other"),
        ..home.config()
    };
    home.sync();
    sync(&other);
    fs::remove_file(home.file("a.jsonl")).unwrap();
    home.sync();
    sync(&other);
    let titles = || files_with(&other.index_dir, "zanzibar");
    assert!(titles() > 0);
    assert_eq!(forget(&home.config(), "a").0, 1);
    assert_eq!(sync(&other).notes, Vec::<String>::new());
    let index = Index::open(&other, Freshness::AsCommitted).unwrap();
    let rows = index.list(&Default::default()).unwrap().sessions;
    assert_eq!(rows.iter().map(|row| &*row.id).collect::<Vec<_>>(), ["b"]);
    assert_eq!(titles(), 0);
}

/// Asked by its name before it has looked.
#[test]
fn an_index_forgets_what_another_one_has_forgotten() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    let other = Config {
        index_dir: home.0.path().join("other"),
        ..home.config()
    };
    home.sync();
    sync(&other);
    fs::remove_file(home.file("a.jsonl")).unwrap();
    home.sync();
    sync(&other);
    assert_eq!(forget(&home.config(), "a").0, 1);
    assert_eq!(forget(&other, "a").0, 0);
    assert_eq!(files_with(&other.index_dir, "zanzibar"), 0);
}

/// By an index that leaves out what was started in `/code`.
fn without_code(home: &Home, index: &str) -> Config {
    Config {
        rules: Rules::set(Exclude::new(&["/code"]).unwrap(), FollowLinks::WithinRoots),
        index_dir: home.0.path().join(index),
        ..home.config()
    }
}

/// A session that was started there, and one elsewhere, with what that says.
fn of_two_directories() -> (Home, String) {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    let elsewhere = session("b", "quetzal", 0..3).replace("\"/code\"", "\"/other\"");
    home.write("b.jsonl", &elsewhere);
    (home, elsewhere)
}

/// A new index knows nothing of it.
#[test]
fn what_is_excluded_by_its_directory_leaves_the_archive_by_any_index() {
    let (home, elsewhere) = of_two_directories();
    home.sync();
    fs::remove_dir_all(home.0.path().join("index")).unwrap();
    let config = without_code(&home, "index");
    assert_eq!(sync(&config).notes, Vec::<String>::new());
    let blocks = home.blocks();
    assert!(!blocks.contains("zanzibar") && blocks.contains("quetzal"));
    assert_eq!(contents(&home), [elsewhere]);
}

/// Whoever has no such rule, or another one, keeps it all the same.
#[test]
fn what_another_index_keeps_of_excluded_sessions_leaves_the_archive() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    let config = without_code(&home, "other");
    for _ in 0..2 {
        sync(&config);
        assert_eq!(contents(&home), Vec::<String>::new());
    }
    home.sync();
    assert_eq!(contents(&home).len(), 1);
    sync(&config);
    assert_eq!(contents(&home), Vec::<String>::new());
}

/// Also where something was kept since.
#[test]
fn what_another_index_keeps_beside_a_watcher_leaves_the_archive() {
    let (home, elsewhere) = of_two_directories();
    let config = without_code(&home, "other");
    sync(&config);
    let watcher = Watcher::start(&config);
    until("it has looked", || !watcher.log().checked.is_empty());
    home.sync();
    assert_eq!(contents(&home).len(), 2);
    let more = session("b", "quetzal", 3..4);
    append(&home.file("b.jsonl"), &more);
    let whole = elsewhere + &more;
    until("it is kept", || contents(&home).contains(&whole));
    watcher.stop();
    sync(&config);
    assert_eq!(contents(&home), [whole]);
}

/// The answer is complete all the same.
#[test]
fn what_is_excluded_leaves_an_archive_that_could_not_be_written() {
    let (home, elsewhere) = of_two_directories();
    home.sync();
    fs::remove_dir_all(home.0.path().join("index")).unwrap();
    let config = without_code(&home, "index");
    let other = rusqlite::Connection::open(database(&home)).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let notes = sync(&config).notes;
    assert!(
        notes.iter().any(|note| note.contains("archive")),
        "{notes:?}"
    );
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let listed = index.list(&Default::default()).unwrap().sessions;
    assert_eq!(listed.len(), 1);
    drop(index);
    other.execute_batch("ROLLBACK").unwrap();
    drop(other);
    assert_eq!(contents(&home).len(), 2);
    assert_eq!(sync(&config).notes, Vec::<String>::new());
    assert_eq!(contents(&home), [elsewhere]);
}

/// It came back, from the trash for one.
#[test]
fn what_another_index_deleted_is_kept_again_while_its_file_is_there() {
    let home = Home::keeping();
    let text = session("a", "zanzibar", 0..20);
    home.write("a.jsonl", &text);
    home.sync();
    let other = Config {
        index_dir: home.0.path().join("other"),
        ..home.config()
    };
    sync(&other);
    let index = Index::open(&other, Freshness::AsCommitted).unwrap();
    let row = index.list(&Default::default()).unwrap().sessions.remove(0);
    drop(index);
    let mut indexer = Indexer::open(&other).unwrap();
    let path = home.file("a.jsonl");
    assert!(indexer.forget_deleted(&row, [&path]).unwrap());
    indexer.wipe(&mut Report::default()).unwrap();
    drop(indexer);
    assert_eq!(contents(&home), Vec::<String>::new());
    home.sync();
    fs::remove_file(path).unwrap();
    assert_eq!(home.raw(&home.one()), text);
    home.verify();
}

/// What the outer root has kept stays listed once, whoever names the inner one, and when.
#[test]
fn what_was_kept_below_a_root_within_a_root_is_listed_once() {
    let home = Home::keeping();
    let path = home.0.path().join("pi/inner/--code--/b.jsonl");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    fs::write(&path, session("b", "quetzal", 0..3)).unwrap();
    home.sync();
    fs::remove_file(&path).unwrap();
    home.sync();
    let mut both = home.config();
    both.roots
        .push(root("pi", "pi", &home.0.path().join("pi/inner")));
    let listed = |config: &Config| {
        let index = Index::open(config, Freshness::Check).unwrap();
        let rows = index.list(&Default::default()).unwrap().sessions;
        let mut rows: Vec<_> = rows.into_iter().map(|row| (row.id, row.archived)).collect();
        rows.sort();
        rows
    };
    let archived = |b| [("a".to_owned(), false), ("b".to_owned(), b)];
    assert_eq!(listed(&home.config()), archived(true));
    assert_eq!(listed(&both), archived(true));
    Indexer::open(&both).unwrap().rebuild().unwrap();
    assert_eq!(listed(&both), archived(true));
    // It comes back, is kept by the inner root as well, and goes again.
    fs::write(&path, session("b", "quetzal", 0..3)).unwrap();
    assert_eq!(listed(&both), archived(false));
    sync(&both);
    fs::remove_file(&path).unwrap();
    assert_eq!(listed(&both), archived(true));
    Indexer::open(&both).unwrap().rebuild().unwrap();
    assert_eq!(listed(&both), archived(true));
    is_whole(&both);
}

/// The remedy for damage is a backup. What is newer than that is kept again.
#[test]
fn an_older_copy_of_the_archive_is_filled_up() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    let backup = home.0.path().join("backup");
    copy(&home.archive(), &backup);
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    fs::remove_dir_all(home.archive()).unwrap();
    copy(&backup, &home.archive());
    let notes = home.sync().notes;
    assert!(
        notes.len() == 1 && notes[0].contains("an older copy"),
        "{notes:?}"
    );
    assert_eq!(home.sync().notes, Vec::<String>::new());
    fs::remove_file(home.file("b.jsonl")).unwrap();
    assert_eq!(ids(&home), ["a", "b"]);
    home.verify();
}

#[test]
fn a_watcher_keeps_in_the_archive_that_is_there_now() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    let backup = home.0.path().join("backup");
    copy(&home.archive(), &backup);
    let watcher = Watcher::start(&home.config());
    until("it has looked", || !watcher.log().checked.is_empty());
    fs::rename(home.archive(), home.0.path().join("aside")).unwrap();
    fs::rename(&backup, home.archive()).unwrap();
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    until("it is kept", || {
        contents(&home).contains(&session("b", "quetzal", 0..3))
    });
    watcher.stop();
}

#[test]
fn an_archive_that_is_missing_is_named() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    let away = home.0.path().join("away");
    fs::rename(home.archive(), &away).unwrap();
    let notes = home.sync().notes;
    assert!(
        notes.len() == 1 && notes[0].contains("the archive is gone"),
        "{notes:?}"
    );
    assert_eq!(home.sync().notes, Vec::<String>::new());
    fs::remove_file(home.file("a.jsonl")).unwrap();
    assert_eq!(ids(&home), Vec::<String>::new());
    // It comes back, and with it what it holds.
    fs::rename(&away, home.archive()).unwrap();
    assert_eq!(ids(&home), ["a"]);
    // Emptied, it is another one.
    fs::remove_file(home.archive().join("archive.sqlite-wal")).ok();
    fs::write(database(&home), "").unwrap();
    let notes = home.sync().notes;
    assert!(
        notes.len() == 1 && notes[0].contains("another archive"),
        "{notes:?}"
    );
}

/// Nobody can make a file there, or no more of it.
#[cfg(unix)]
#[test]
fn an_archive_that_is_read_alone_gives_out_what_it_holds() {
    let home = Home::keeping();
    let text = session("a", "zanzibar", 0..20);
    home.write("a.jsonl", &text);
    home.sync();
    fs::remove_file(home.file("a.jsonl")).unwrap();
    let gone = home.one();
    let index = Index::open(&home.config(), Freshness::AsCommitted).unwrap();
    // In the way of the file by which readers and writers meet.
    let shared = home.archive().join("archive.sqlite-shm");
    fs::remove_file(&shared).ok();
    std::os::unix::fs::symlink("nowhere/at/all", &shared).unwrap();
    let mut bytes = Vec::new();
    index.copy_raw(&gone, None, &mut bytes).unwrap();
    assert_eq!(String::from_utf8(bytes).unwrap(), text);
    assert!(home.config().verify_archive().unwrap().is_some());
    let restored = index.restore(&gone).unwrap().files;
    assert_eq!(fs::read_to_string(&restored[0]).unwrap(), text);
}

/// Whatever file a session comes to have that was forgotten.
#[test]
fn a_forgotten_session_is_not_kept_at_another_path() {
    let home = Home::keeping();
    let text = session(ID, "zanzibar", 0..20);
    home.write("a.jsonl", &text);
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    assert_eq!(forget(&home.config(), ID).0, 1);
    fs::remove_file(home.file("a.jsonl")).unwrap();
    home.write("moved.jsonl", &text);
    home.sync();
    assert!(!home.blocks().contains("zanzibar"));
    // Nor when all is to be read for the archive.
    let mut indexer = Indexer::open(&home.config()).unwrap();
    for is_kept in [false, true] {
        let kept = match is_kept {
            true => indexer.keep(&["pi".to_owned()]),
            false => indexer.keep_no_more(&["pi".to_owned()]),
        };
        kept.unwrap();
        indexer.sync().unwrap();
    }
    drop(indexer);
    let blocks = home.blocks();
    assert!(!blocks.contains("zanzibar") && blocks.contains("quetzal"));
}

/// Of a long file it is known late of which session it is.
#[test]
fn a_long_forgotten_session_is_not_kept_at_another_path() {
    let home = Home::keeping();
    let text = session(ID, &"zanzibar ".repeat(1200), 0..900);
    home.write("a.jsonl", &text);
    home.write("b.jsonl", &session("b", "quetzal", 0..3));
    home.sync();
    assert_eq!(forget(&home.config(), ID).0, 1);
    fs::remove_file(home.file("a.jsonl")).unwrap();
    home.write("moved.jsonl", &text);
    let long = session("c", &"walrus ".repeat(1200), 0..900);
    home.write("c.jsonl", &long);
    home.sync();
    home.sync();
    let kept = contents(&home);
    assert!(kept.iter().all(|text| !text.contains("zanzibar")));
    // Any other long one is.
    assert!(kept.contains(&long));
}

/// Whoever forgets one copy does not mean that the other is kept as it is now for ever.
#[test]
fn another_copy_of_a_forgotten_session_goes_on_to_be_kept() {
    let home = Home::keeping();
    for name in ["a", "b"] {
        home.write(&format!("{name}.jsonl"), &session(ID, name, 0..20));
    }
    home.sync();
    assert_eq!(forget(&home.config(), ID).0, 1);
    let [left] = &contents(&home)[..] else {
        panic!("two copies are kept, or none");
    };
    let name = if left.contains("\"a 3\"") { "a" } else { "b" };
    append(
        &home.file(&format!("{name}.jsonl")),
        &session(ID, "quetzal", 20..23),
    );
    home.sync();
    let whole = fs::read_to_string(home.file(&format!("{name}.jsonl"))).unwrap();
    assert_eq!(contents(&home), [whole]);
}

/// How often another archive was changed says nothing of this one.
#[test]
fn an_archive_that_takes_the_place_of_another_stays_itself() {
    let home = Home::keeping();
    home.write("a.jsonl", &session("a", "zanzibar", 0..20));
    home.sync();
    for at in 20..30 {
        append(&home.file("a.jsonl"), &session("a", "zanzibar", at..at + 1));
        home.sync();
    }
    let other = Config {
        archive_dir: Some(home.0.path().join("other")),
        ..home.config()
    };
    let id = |config: &Config| {
        let path = config.archive_dir.as_ref().unwrap().join("archive.sqlite");
        let archive = rusqlite::Connection::open(path).unwrap();
        let id = archive.query_row("SELECT archive FROM store", [], |r| r.get::<_, String>(0));
        id.unwrap()
    };
    let another = Config {
        index_dir: home.0.path().join("another"),
        ..other.clone()
    };
    let mut indexer = Indexer::open(&another).unwrap();
    indexer.keep(&["pi".to_owned()]).unwrap();
    drop(indexer);
    sync(&another);
    let before = [id(&home.config()), id(&other)];
    for config in [&other, &home.config(), &other] {
        sync(config);
        sync(config);
    }
    assert_eq!([id(&home.config()), id(&other)], before);
    assert_eq!(sync(&another).notes, Vec::<String>::new());
}

/// An id that agents give again says nothing of another session.
#[test]
fn a_session_that_has_the_id_of_a_forgotten_one_is_kept() {
    let home = Home::keeping();
    for name in ["a", "b"] {
        home.write(&format!("{name}.jsonl"), &session("same", name, 0..20));
    }
    home.sync();
    assert_eq!(forget(&home.config(), "same").0, 1);
    let more = session("same", "quetzal", 0..30);
    home.write("c.jsonl", &more);
    home.sync();
    assert!(contents(&home).contains(&more));
}

/// Until somebody has decided; then nobody is advised.
#[cfg(unix)]
#[test]
fn what_an_agent_deletes_is_told_until_it_is_turned_on_or_off() {
    for agents in [&["claude"][..], &[]] {
        let home = crate::sandbox::Sandbox::new();
        home.write(
            ".claude/projects/-code/00000006-0000-4000-8000-000000000006.jsonl",
            &serde_json::json!({
                "type": "user", "uuid": "u1", "parentUuid": null, "cwd": "/code",
                "sessionId": "00000006-0000-4000-8000-000000000006",
                "timestamp": "2026-01-05T09:00:00.000Z",
                "message": {"role": "user", "content": "hello"}
            })
            .to_string(),
        );
        let is_told = |words: &[&str]| home.run(words).contains("`sessionary archive on claude`");
        let (list, status) = (&["list", "--all"][..], &["status"][..]);
        assert_eq!([list, list].map(is_told), [true, false]);
        assert_eq!([status, status].map(is_told), [true, true]);
        let _ = home.run(&[&["archive", "off"], agents].concat());
        assert_eq!([status, list].map(is_told), [false, false]);
        // Not by a list either to which it was never said.
        let told = home
            .home
            .join(".local/share/sessionary/deletions-told.json");
        let _ = fs::remove_file(told);
        assert!(!is_told(list));
        // Nor is who has decided told of what has to be named.
        home.write(".local/share/opencode/note.txt", "");
        let is_named = || {
            home.run(&["archive", "on", "pi"])
                .contains("opencode has its")
        };
        assert!(is_named());
        let _ = home.run(&["archive", "off", "opencode"]);
        assert!(!is_named());
    }
}

/// An agent may empty a file before it deletes it.
#[cfg(unix)]
#[test]
fn an_older_version_can_be_written_to_a_new_file() {
    let home = crate::sandbox::Sandbox::new();
    let text = session(ID, "zanzibar", 0..20);
    let path = ".pi/agent/sessions/--code--/a.jsonl";
    let file = home.write(path, &text);
    assert!(home.output(&["archive", "on", "pi"]).status.success());
    fs::write(&file, "").unwrap();
    let _ = home.run(&["sync"]);
    fs::remove_file(&file).unwrap();
    let _ = home.run(&["sync"]);
    let name = file.to_str().unwrap();
    let listed = home.run(&["archive", "versions", name]);
    let sizes: Vec<bool> = listed.lines().map(|line| line.contains(" 0 B ")).collect();
    assert_eq!(sizes, [false, true], "{listed}");
    let restore = |more: &[&str]| home.run(&[&["archive", "restore", name], more].concat());
    let said = restore(&["--number", "1", "--to", "old.jsonl"]);
    assert!(!said.contains("--- exit"), "{said}");
    let old = fs::read_to_string(home.cwd.join("old.jsonl")).unwrap();
    assert_eq!(old, text);
    // Nothing is replaced, and nothing written where agents look.
    for refused in [
        &["--number", "2", "--to", "old.jsonl"][..],
        &["--number", "3", "--to", "other.jsonl"],
        &["--number", "1", "--to", name],
        &["--number", "1"],
    ] {
        let said = restore(refused);
        assert!(said.contains("--- exit"), "{refused:?}: {said}");
    }
    assert!(!file.exists() && !home.cwd.join("other.jsonl").exists());
    let said = restore(&[]);
    let remedy = "is longer: `sessionary archive restore a --number 1 --to PATH` writes it.";
    assert!(said.contains(remedy), "{said}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
}
