//! What is forgotten is in no file any more, once it is wiped, and who uses the archive is no
//! error.

use super::*;

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
    assert!(!open().is_wipe_requested().unwrap());
    age();
    assert!(
        !open().is_wipe_requested().unwrap(),
        "nothing was ever kept in it"
    );
    let archive = open();
    keep(&archive, "a", 0, &vec![7; 100_000]);
    let forgotten = archive.transaction(|| archive.forget(&place("a"), false));
    assert!(forgotten.unwrap());
    drop(archive);
    age();
    assert!(Archive::open_readable(folder.path()).unwrap().is_some());
    let archive = open();
    assert!(archive.is_wipe_requested().unwrap() && archive.wipe(PATIENCE).unwrap());
    assert!(!archive.is_wipe_requested().unwrap());
    drop(archive);
    assert!(!open().is_wipe_requested().unwrap());
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
        assert!(other.is_wipe_requested().unwrap());
        assert!(!one.wipe(Duration::ZERO).unwrap(), "{begin}");
        assert!(one.is_wipe_requested().unwrap(), "{begin}");
        other.rollback();
    }
    // Whatever it does next waits as long as ever.
    let patience: i64 = one.one("PRAGMA busy_timeout", [], |r| r.get(0)).unwrap();
    assert_eq!(patience, PATIENCE.as_millis() as i64);
    assert!(one.wipe(Duration::ZERO).unwrap() && !one.is_wipe_requested().unwrap());
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
    assert!(other.is_wipe_requested().unwrap());
    assert!(other.wipe(PATIENCE).unwrap() && !one.is_wipe_requested().unwrap());
}
