//! What is kept is there, whatever happens to the file; what is forgotten is not.

use std::fs;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::time::Duration;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::*;

mod damage;
mod wiping;

fn place(name: &str) -> SourcePath {
    SourcePath {
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

fn keep_at(
    archive: &Archive,
    place: &SourcePath,
    from: usize,
    bytes: &[u8],
    mtime_ns: i64,
) -> bool {
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
        let place = SourcePath {
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
    let place = |relative: &str| SourcePath {
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
        let refused = crate::causes::with_causes(&restore(relative).unwrap_err());
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

#[test]
fn whose_sessions_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    assert!(!Archive::exists(folder.path()));
    assert!(Archive::open_readable(folder.path()).unwrap().is_none());
    let archive = Archive::open_writable(folder.path()).unwrap();
    let keeps = |agent: &str| archive.keeps(agent, true).unwrap();
    let asked = |agent: &str| archive.asked_of(agent, true).unwrap();
    assert!(!keeps("pi"));
    assert_eq!(asked("pi"), None);
    archive.set_kept(&["pi".into()], true).unwrap();
    assert!(keeps("pi") && !keeps("clido"));
    archive.set_kept(&[], true).unwrap();
    archive.set_kept(&["clido".into()], false).unwrap();
    assert!(keeps("pi") && !keeps("clido"));
    assert_eq!((asked("pi"), asked("clido")), (Some(true), Some(false)));
    archive.set_kept(&[], false).unwrap();
    assert!(!keeps("pi") && !keeps("clido"));
    assert_eq!(asked("pi"), Some(false));
    assert_eq!(archive.asked_of("pi", false).unwrap(), None);
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
