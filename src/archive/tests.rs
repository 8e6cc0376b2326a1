//! What is kept is there, whatever happens to the file; what is forgotten is not.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

fn place(name: &str) -> Place {
    Place {
        agent: "pi".into(),
        root: "/home/ada/.pi".into(),
        relative: name.into(),
    }
}

/// What a sync does with a file of these bytes, of which it reads what follows `from`.
fn keep(archive: &Archive, name: &str, from: usize, bytes: &[u8]) -> bool {
    keep_as_of(archive, name, from, bytes, 5)
}

/// The same of a file of this modification time.
fn keep_as_of(archive: &Archive, name: &str, from: usize, bytes: &[u8], mtime_ns: i64) -> bool {
    keep_at(archive, &place(name), from, bytes, mtime_ns)
}

fn keep_at(archive: &Archive, place: &Place, from: usize, bytes: &[u8], mtime_ns: i64) -> bool {
    let mut packer = Packer::at(from as u64).unwrap();
    packer.push(&bytes[from..]).unwrap();
    let packed = packer.finish(mtime_ns).unwrap();
    let keep = || archive.keep(place, &packed, 7);
    archive.transaction(keep).unwrap()
}

fn read(folder: &Path, generation: Generation) -> Vec<u8> {
    let archive = Archive::open_readable(folder).unwrap().unwrap();
    let mut bytes = Vec::new();
    let mut file = ArchivedFile::of(archive, generation);
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// All that was kept of a source, the oldest first.
fn contents(folder: &Path, name: &str) -> Vec<Vec<u8>> {
    let archive = Archive::open_readable(folder).unwrap().unwrap();
    let generations = archive.generations(&place(name)).unwrap();
    let contents = generations.into_iter();
    contents.map(|g| read(folder, g)).collect()
}

fn lines(random: &mut ChaCha8Rng, bytes: usize) -> Vec<u8> {
    let mut all = Vec::new();
    while all.len() < bytes {
        let words = (0..random.random_range(1..300)).map(|_| random.random_range(0..9999));
        let words: Vec<String> = words.map(|word: u32| format!("w{word}")).collect();
        all.extend_from_slice(words.join(" ").as_bytes());
        all.push(b'\n');
    }
    all
}

#[test]
fn an_append_writes_its_own_bytes_and_short_parts_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open_writable(folder.path()).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let mut bytes = Vec::new();
    let mut most = 0;
    for _ in 0..700 {
        let from = bytes.len();
        bytes.extend(lines(&mut random, 1500));
        assert!(keep(&archive, "a", from, &bytes));
        let parts: usize = archive
            .one("SELECT count(*) FROM parts", [], |r| r.get(0))
            .unwrap();
        most = most.max(parts);
    }
    assert!(most < 40, "{most} parts");
    assert_eq!(contents(folder.path(), "a"), [bytes]);
    assert_eq!(archive.verify().unwrap().damage, Vec::<String>::new());
    // Nothing is left of parts that were joined.
    let orphans = "SELECT count(*) FROM blocks WHERE block NOT IN (SELECT block FROM parts)";
    assert_eq!(archive.one(orphans, [], |r| r.get::<_, i64>(0)).unwrap(), 0);
}

#[test]
fn what_is_not_kept_up_to_there_has_to_be_read_from_its_beginning() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open_writable(folder.path()).unwrap();
    assert!(!keep(&archive, "a", 2, b"one\ntwo\n"));
    assert!(keep(&archive, "a", 0, b"one\n"));
    assert!(!keep(&archive, "a", 5, b"one\ntwo\n"));
    assert!(keep(&archive, "a", 0, b"one\ntwo\n"));
    assert_eq!(contents(folder.path(), "a"), [b"one\ntwo\n"]);
}

/// Every content that a file had is there, byte for byte, after whatever happened to it.
#[test]
fn every_content_is_kept_through_random_changes() {
    let folder = tempfile::tempdir().unwrap();
    for seed in 0..12 {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut archive = Archive::open_writable(folder.path()).unwrap();
        let name = format!("s{seed}");
        let (mut bytes, mut contents_had) = (Vec::new(), Vec::<Vec<u8>>::new());
        for _ in 0..12 {
            let before = bytes.len();
            let mut from = 0;
            match random.random_range(0..6) {
                0 => bytes.truncate(random.random_range(0..=before)),
                1 if before > 0 => {
                    let at = random.random_range(0..before);
                    bytes[at] ^= 1;
                }
                2 => bytes = lines(&mut random, 400_000),
                _ => {
                    let size = *[40, 3_000, 200_000, 700_000].choose(&mut random).unwrap();
                    bytes.extend(lines(&mut random, size));
                    // A sync reads on from a byte before which it was catalogued.
                    from = random.random_range(0..=before);
                }
            }
            assert!(keep(&archive, &name, from, &bytes));
            match contents_had.last_mut() {
                Some(last) if bytes.starts_with(last) => last.clone_from(&bytes),
                _ => contents_had.push(bytes.clone()),
            }
            if random.random_bool(0.3) {
                drop(archive);
                archive = Archive::open_writable(folder.path()).unwrap();
            }
        }
        assert_eq!(contents(folder.path(), &name), contents_had, "seed {seed}");
        assert_eq!(archive.verify().unwrap().damage, Vec::<String>::new());
    }
}

/// Two indexes share an archive: one read the file before the other, and keeps it after it.
#[test]
fn what_was_read_earlier_and_is_kept_later_is_no_newer_version() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open_writable(folder.path()).unwrap();
    let bytes = b"one\ntwo\nthree\n";
    for name in ["a", "b"] {
        let place = Place {
            root: folder.path().to_path_buf(),
            ..place(name)
        };
        let contents = || {
            let kept = archive.generations(&place).unwrap().into_iter();
            kept.map(|one| read(folder.path(), one)).collect::<Vec<_>>()
        };
        let path = place.path().unwrap();
        std::fs::write(&path, bytes).unwrap();
        keep_at(&archive, &place, 0, &bytes[..4], 1);
        keep_at(&archive, &place, 4, bytes, 3);
        assert!(keep_at(&archive, &place, 4, &bytes[..8], 2));
        assert_eq!(contents(), [bytes]);
        // Cut off later than that, it is; so is an older copy that was put in its place.
        let mtime_ns = if name == "a" { 4 } else { 2 };
        if name == "b" {
            std::fs::write(&path, &bytes[..8]).unwrap();
        }
        assert!(keep_at(&archive, &place, 4, &bytes[..8], mtime_ns));
        assert_eq!(contents(), [&bytes[..], &bytes[..8]]);
    }
}

/// Other bytes of the same length in the first block.
fn flip_a_bit(archive: &Archive) {
    let first = "SELECT block, length, data FROM blocks ORDER BY block LIMIT 1";
    let (block, length, data): (i64, u64, Vec<u8>) = archive
        .one(first, [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?)))
        .unwrap();
    let mut bytes = pack::unpacked(&data, length).unwrap();
    bytes[3] ^= 1;
    let data = zstd::bulk::compress(&bytes, 1).unwrap();
    let flip = "UPDATE blocks SET data = ?2 WHERE block = ?1";
    let flip = || archive.execute(flip, rusqlite::params![block, data]);
    assert_eq!(archive.transaction(flip).unwrap(), 1);
}

#[test]
fn damaged_bytes_are_not_joined_with_others() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open_writable(folder.path()).unwrap();
    let mut bytes = b"the first line\n".to_vec();
    keep(&archive, "a", 0, &bytes);
    flip_a_bit(&archive);
    for at in 0..100 {
        let from = bytes.len();
        bytes.extend_from_slice(format!("line {at}\n").as_bytes());
        assert!(keep(&archive, "a", from, &bytes));
    }
    assert_ne!(archive.verify().unwrap().damage, Vec::<String>::new());
    let newest = ArchivedFile::newest(&archive, &place("a")).unwrap();
    let mut read = Vec::new();
    assert!(newest.unwrap().read_to_end(&mut read).is_err());
    assert!(read.is_empty());
    let parts = "SELECT count(*) FROM parts";
    assert!(archive.one(parts, [], |r| r.get::<_, i64>(0)).unwrap() < 80);
    // What cannot be compared with it is kept anew, and mends it where its bytes are the same.
    let other = [b"another line\n", bytes.as_slice()].concat();
    assert!(!keep(&archive, "a", 0, &other));
    assert!(keep(&archive, "a", 0, &other));
    let newest = ArchivedFile::newest(&archive, &place("a")).unwrap();
    newest.unwrap().read_to_end(&mut read).unwrap();
    assert_eq!(read, other);
    keep(&archive, "b", 0, b"the first line\n");
    assert_eq!(archive.verify().unwrap().damage, Vec::<String>::new());
}

#[test]
fn a_content_is_read_at_any_place_while_its_parts_are_joined() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open_writable(folder.path()).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(3);
    let mut bytes = lines(&mut random, 5_000);
    keep(&archive, "a", 0, &bytes);
    let reader = Archive::open_readable(folder.path()).unwrap().unwrap();
    let mut file = ArchivedFile::newest(reader, &place("a")).unwrap().unwrap();
    let length = bytes.len();
    for _ in 0..100 {
        let from = bytes.len();
        bytes.extend(lines(&mut random, 5_000));
        assert!(keep(&archive, "a", from, &bytes));
        let at = random.random_range(0..=length);
        file.seek(SeekFrom::Start(at as u64)).unwrap();
        let mut rest = Vec::new();
        file.read_to_end(&mut rest).unwrap();
        // It ends where it ended when it was opened.
        assert_eq!(rest, bytes[at..length]);
    }
}

#[test]
fn copies_are_stored_once() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open_writable(folder.path()).unwrap();
    let bytes = lines(&mut ChaCha8Rng::seed_from_u64(4), 3 << 20);
    keep(&archive, "a", 0, &bytes);
    let before = archive.stored_bytes();
    keep(&archive, "b", 0, &bytes);
    keep(
        &archive,
        "fork",
        0,
        &[b"{\"fork\":1}\n", bytes.as_slice()].concat(),
    );
    let blocks = "SELECT sum(length) FROM blocks";
    let stored: usize = archive.one(blocks, [], |r| r.get(0)).unwrap();
    assert!(stored < bytes.len() * 3 / 2, "{stored} of {}", bytes.len());
    archive.wipe(PATIENCE).unwrap();
    assert!(archive.stored_bytes() < before * 2);
}

/// All bytes of the files in a folder.
fn raw(folder: &Path) -> Vec<u8> {
    let files = fs::read_dir(folder).unwrap();
    let bytes = files.map(|file| fs::read(file.unwrap().path()).unwrap());
    bytes.collect::<Vec<_>>().concat()
}

/// What every zstd frame that begins anywhere in these bytes holds, as far as it can be read.
fn decompressed(bytes: &[u8]) -> Vec<u8> {
    let mut all = Vec::new();
    for at in memchr::memmem::find_iter(bytes, &[0x28, 0xb5, 0x2f, 0xfd]) {
        if let Ok(mut decoder) = zstd::stream::read::Decoder::new(&bytes[at..]) {
            let _ = decoder.read_to_end(&mut all);
        }
    }
    all
}

#[test]
fn what_is_forgotten_is_in_no_file_any_more() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open_writable(folder.path()).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(6);
    let secret = b"{\"text\":\"the quince stands in the cellar\"}\n";
    let finds = |bytes: &[u8]| memchr::memmem::find(bytes, b"quince").is_some();
    let other = lines(&mut random, 400_000);
    keep(&archive, "other", 0, &other);
    // As a part of its own, joined with others, in an older content and in long blocks.
    let mut bytes = secret.to_vec();
    keep(&archive, "a", 0, &bytes);
    assert!(finds(&decompressed(&raw(folder.path()))));
    for _ in 0..80 {
        let from = bytes.len();
        bytes.extend(lines(&mut random, 600));
        keep(&archive, "a", from, &bytes);
    }
    bytes.extend(lines(&mut random, 2 << 20));
    keep(&archive, "a", 0, &bytes);
    keep(&archive, "a", 0, &bytes[30..]);
    let data = archive
        .all("SELECT data FROM blocks", [], |r| r.get::<_, Vec<u8>>(0))
        .unwrap();
    archive.begin().unwrap();
    assert!(archive.forget(&place("a"), false).unwrap());
    archive.commit().unwrap();
    assert!(archive.wipe(PATIENCE).unwrap());
    let left = raw(folder.path());
    assert!(!finds(&decompressed(&left)));
    // Nor a piece of any block's bytes, but of those that are still kept.
    let still = archive
        .all("SELECT data FROM blocks", [], |r| r.get::<_, Vec<u8>>(0))
        .unwrap();
    let mut pieces = 0;
    for block in data.iter().filter(|block| !still.contains(block)) {
        for piece in block.chunks_exact(48).step_by(40) {
            assert!(memchr::memmem::find(&left, piece).is_none());
            pieces += 1;
        }
    }
    assert!(pieces > 100, "{pieces}");
    assert_eq!(contents(folder.path(), "other"), [other]);
    // It may be kept again, until that is ruled out.
    assert!(keep(&archive, "a", 0, secret));
    assert!(
        archive
            .transaction(|| archive.forget(&place("a"), true))
            .unwrap()
    );
    assert!(keep(&archive, "a", 0, secret));
    assert!(contents(folder.path(), "a").is_empty());
    assert!(
        !archive
            .transaction(|| archive.forget(&place("a"), true))
            .unwrap()
    );
}

/// SQLite moves rows between its pages, and leaves them where they lay.
#[test]
fn no_copy_of_a_forgotten_row_stays_between_others() {
    let places = 14;
    for seed in 0..16 {
        let folder = tempfile::tempdir().unwrap();
        let archive = Archive::open_writable(folder.path()).unwrap();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut files = vec![Vec::new(); places];
        for _ in 0..20 {
            archive.begin().unwrap();
            for name in rand::seq::index::sample(&mut random, places, places * 2 / 3) {
                let from = files[name].len();
                let length = *[40, 200, 600, 900, 1500].choose(&mut random).unwrap();
                files[name].extend((0..length).map(|_| random.random::<u8>()));
                let mut packer = Packer::at(from as u64).unwrap();
                packer.push(&files[name][from..]).unwrap();
                let packed = packer.finish(5).unwrap();
                archive.keep(&place(&name.to_string()), &packed, 7).unwrap();
            }
            archive.commit().unwrap();
        }
        for name in rand::seq::index::sample(&mut random, places, 10) {
            let place = place(&name.to_string());
            let forgotten = archive.transaction(|| archive.forget(&place, false));
            assert!(forgotten.unwrap() && archive.wipe(PATIENCE).unwrap());
            let left = raw(folder.path());
            // Random bytes are stored as they are.
            for piece in files[name].chunks_exact(20) {
                let found = memchr::memmem::find(&left, piece);
                assert_eq!(found, None, "seed {seed}, {name}");
            }
        }
    }
}

/// Not even an empty folder.
#[cfg(unix)]
#[test]
fn nothing_is_written_where_a_link_leads_out() {
    let home = tempfile::tempdir().unwrap();
    let (folder, root) = (home.path().join("archive"), home.path().join("root"));
    let [outside, inside] = ["outside", "root/inside"].map(|name| home.path().join(name));
    for made in [&outside, &inside] {
        fs::create_dir_all(made).unwrap();
    }
    for (to, name) in [(&outside, "out"), (&inside, "in")] {
        std::os::unix::fs::symlink(to, root.join(name)).unwrap();
    }
    let archive = Archive::open_writable(&folder).unwrap();
    let place = |relative: &str| Place {
        root: root.clone(),
        ..place(relative)
    };
    for relative in ["out/deep/below/a", "out/a", "in/deep/a"] {
        let mut packer = Packer::at(0).unwrap();
        packer.push(b"text").unwrap();
        let packed = packer.finish(5).unwrap();
        let keep = || archive.keep(&place(relative), &packed, 7);
        assert!(archive.transaction(keep).unwrap());
    }
    let restore = |relative: &str| {
        let archive = Archive::open_readable(&folder).unwrap().unwrap();
        archive.restore(&place(relative))
    };
    for relative in ["out/deep/below/a", "out/a"] {
        let refused = restore(relative).unwrap_err().to_string();
        assert!(refused.contains("leads out"), "{refused}");
        assert_eq!(fs::read_dir(&outside).unwrap().count(), 0, "{relative}");
    }
    restore("in/deep/a").unwrap();
    assert_eq!(fs::read(inside.join("deep/a")).unwrap(), b"text");
    // A root that is gone comes back with the file.
    fs::remove_dir_all(&root).unwrap();
    restore("in/deep/a").unwrap();
    assert_eq!(fs::read(root.join("in/deep/a")).unwrap(), b"text");
}

/// An older version noted elsewhere, or nowhere, that something was to be wiped.
#[test]
fn an_archive_of_an_older_version_is_wiped_once() {
    let folder = tempfile::tempdir().unwrap();
    let open = || Archive::open_writable(folder.path()).unwrap();
    let age = || {
        let age = "ALTER TABLE store DROP COLUMN unwiped; ALTER TABLE store DROP COLUMN changes;
            ALTER TABLE store DROP COLUMN forgets; PRAGMA user_version = 1;";
        open().with(|c| c.execute_batch(age)).unwrap();
    };
    assert!(!open().owes_wipe().unwrap());
    age();
    assert!(!open().owes_wipe().unwrap(), "nothing was ever kept in it");
    let archive = open();
    keep(&archive, "a", 0, &vec![7; 100_000]);
    let forgotten = archive.transaction(|| archive.forget(&place("a"), false));
    assert!(forgotten.unwrap());
    drop(archive);
    age();
    assert!(Archive::open_readable(folder.path()).unwrap().is_some());
    let archive = open();
    assert!(archive.owes_wipe().unwrap() && archive.wipe(PATIENCE).unwrap());
    assert!(!archive.owes_wipe().unwrap());
    drop(archive);
    assert!(!open().owes_wipe().unwrap());
}

#[test]
fn who_uses_the_archive_puts_off_a_wipe_and_is_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (
        Archive::open_writable(folder.path()).unwrap(),
        Archive::open_writable(folder.path()).unwrap(),
    );
    keep(&one, "a", 0, b"a");
    let forgotten = one.transaction(|| one.forget(&place("a"), false));
    assert!(forgotten.unwrap());
    for begin in ["BEGIN", "BEGIN IMMEDIATE"] {
        other.with(|c| c.execute_batch(begin)).unwrap();
        assert!(other.owes_wipe().unwrap());
        assert!(!one.wipe(Duration::ZERO).unwrap(), "{begin}");
        assert!(one.owes_wipe().unwrap(), "{begin}");
        other.rollback();
    }
    // Whatever it does next waits as long as ever.
    let patience: i64 = one.one("PRAGMA busy_timeout", [], |r| r.get(0)).unwrap();
    assert_eq!(patience, PATIENCE.as_millis() as i64);
    assert!(one.wipe(Duration::ZERO).unwrap() && !one.owes_wipe().unwrap());
}

/// Indexes that share an archive have locks of their own.
#[test]
fn a_wipe_does_not_end_what_others_have_to_wipe() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (
        Archive::open_writable(folder.path()).unwrap(),
        Archive::open_writable(folder.path()).unwrap(),
    );
    for name in ["a", "b"] {
        keep(&one, name, 0, name.as_bytes());
    }
    let forget = |name: &str| one.transaction(|| one.forget(&place(name), false)).unwrap();
    assert!(forget("a"));
    // A wipe begins, and ends when something else is forgotten.
    let begun = other.unwiped().unwrap();
    assert!(forget("b"));
    other.note_wiped(begun).unwrap();
    assert!(other.owes_wipe().unwrap());
    assert!(other.wipe(PATIENCE).unwrap() && !one.owes_wipe().unwrap());
}

#[test]
fn every_flipped_byte_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let bytes = lines(&mut ChaCha8Rng::seed_from_u64(7), 900_000);
    {
        let archive = Archive::open_writable(folder.path()).unwrap();
        keep(&archive, "a", 0, &bytes);
        assert!(archive.verify().unwrap().damage.is_empty());
        let damages = [
            "UPDATE blocks SET data = zeroblob(length(data)) WHERE block = 1",
            "UPDATE blocks SET sha256 = zeroblob(32) WHERE block = 1",
            "UPDATE parts SET start = start + 1 WHERE start > 0",
            "DELETE FROM parts WHERE start > 0",
            "UPDATE generations SET length = length + 1",
            "UPDATE parts SET chain = zeroblob(32)",
        ];
        for damage in damages {
            archive.begin().unwrap();
            archive.with(|c| c.execute_batch(damage)).unwrap();
            assert!(!archive.verify().unwrap().damage.is_empty(), "{damage}");
            archive.rollback();
        }
    }
    // Read, it is an error, and none of the bytes are made up.
    let archive = Archive::open_writable(folder.path()).unwrap();
    let damage = "UPDATE blocks SET data = zeroblob(length(data))";
    archive.transaction(|| archive.execute(damage, [])).unwrap();
    let mut file = ArchivedFile::newest(archive, &place("a")).unwrap().unwrap();
    let mut read = Vec::new();
    assert!(file.read_to_end(&mut read).is_err());
    assert!(read.is_empty());
}

/// Joined parts have numbers that who reads block by block has not met.
#[test]
fn who_verifies_sees_one_state_whoever_writes() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open_writable(folder.path()).unwrap();
    let mut random = ChaCha8Rng::seed_from_u64(8);
    keep(&archive, "other", 0, &lines(&mut random, 4 << 20));
    let reader = Archive::open_readable(folder.path()).unwrap().unwrap();
    std::thread::scope(|scope| {
        let verifying = scope.spawn(move || {
            let verified = (0..40).map(|_| reader.verify().unwrap().damage);
            verified.collect::<Vec<_>>().concat()
        });
        let mut bytes = Vec::new();
        while !verifying.is_finished() {
            let from = bytes.len();
            bytes.extend(lines(&mut random, 300));
            keep(&archive, "a", from, &bytes);
        }
        assert_eq!(verifying.join().unwrap(), Vec::<String>::new());
    });
}

#[test]
fn damage_of_an_index_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let archive = Archive::open_writable(folder.path()).unwrap();
    keep(&archive, "a", 0, b"one\n");
    // Its first row is not in it any more.
    let damage = "DROP INDEX generations_by_source;
        CREATE INDEX generations_by_source ON generations (source) WHERE generation > 1;
        PRAGMA writable_schema = ON;
        UPDATE sqlite_schema SET sql = 'CREATE INDEX generations_by_source ON generations (source)'
            WHERE name = 'generations_by_source';
        PRAGMA writable_schema = OFF;";
    archive.with(|c| c.execute_batch(damage)).unwrap();
    drop(archive);
    let archive = Archive::open_readable(folder.path()).unwrap().unwrap();
    let damage = archive.verify().unwrap().damage;
    assert!(damage[0].contains("generations_by_source"), "{damage:?}");
}

#[test]
fn whose_sessions_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!Archive::exists(folder.path()));
    assert!(Archive::open_readable(folder.path()).unwrap().is_none());
    let archive = Archive::open_writable(folder.path()).unwrap();
    let keeps = |agent: &str| archive.keeps(agent, true).unwrap();
    assert!(!keeps("pi"));
    archive.set_kept(&["pi".into()], true).unwrap();
    assert!(keeps("pi") && !keeps("clido"));
    archive.set_kept(&[], true).unwrap();
    archive.set_kept(&["clido".into()], false).unwrap();
    assert!(keeps("pi") && !keeps("clido"));
    archive.set_kept(&[], false).unwrap();
    assert!(!keeps("pi") && !keeps("clido"));
    let again = Archive::open_readable(folder.path()).unwrap().unwrap();
    assert_eq!(again.id(), archive.id());
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let above = tempfile::tempdir().unwrap();
    let folder = above.path().join("sessionary/archive");
    let archive = Archive::open_writable(&folder).unwrap();
    keep(&archive, "a", 0, b"a line\n");
    let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&folder), 0o700);
    for file in fs::read_dir(&folder).unwrap() {
        assert_eq!(mode(&file.unwrap().path()), 0o600);
    }
}

#[test]
fn a_foreign_file_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("archive.sqlite");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE t (a)").unwrap();
    let before = fs::read(&path).unwrap();
    assert!(matches!(
        Archive::open_writable(folder.path()),
        Err(Error::Foreign { .. })
    ));
    assert!(matches!(
        Archive::open_readable(folder.path()),
        Err(Error::Foreign { .. })
    ));
    assert_eq!(fs::read(&path).unwrap(), before);
}
