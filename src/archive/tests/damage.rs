//! Damage is found, neither joined with what is whole nor seen where somebody writes.

use super::*;

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
