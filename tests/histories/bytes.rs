//! Does an index that saw a file grow byte by byte equal one that saw it whole?

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::Path;

use sessionary::{Config, Freshness, Index, Indexer};

use super::dump::{catalogue, clean, dump, fresh, root, same};

const FIXTURES: [(&str, &[&str]); 3] = [
    (
        "pi",
        &[
            "fused",
            "crlf",
            "torn-tail",
            "labels",
            "nul-run",
            "lone-surrogates",
            "bom",
            "no-final-newline",
            "fused-compaction",
        ],
    ),
    (
        "clido",
        &[
            "fused",
            "several-results-and-titles",
            "torn-tail",
            "crlf-blank-lines-no-final-newline",
            "run-once",
        ],
    ),
    ("claude", &["damage", "several-ids"]),
];

const BY_HAND: &[u8] = "{\"type\":\"session\",\"version\":3,\"id\":\"héllo\",\"cwd\":\"/w\"}\r\n{\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"日本語 😀 \\ud83d\\ude00 naïve\"}}{\"type\":\"message\",\"id\":\"b\",\"parentId\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"fused\"}}\n\n 17 \n{\"type\":\"mess\n[1]\n{\"type\":\"custom\",\"id\":\"c\",\"data\":1}\n\0\0\0{\"type\":\"label\",\"id\":\"d\",\"targetId\":\"a\",\"label\":\"ü\"}\n{\"torn\":\"ü"
    .as_bytes();

#[test]
fn growing_by_single_bytes_gives_the_same_index() {
    let place = tempfile::tempdir().unwrap();
    let fixtures = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut files = Vec::new();
    for (format, names) in FIXTURES {
        for name in names {
            let folder = fixtures.join(format).join(name);
            let session = fs::read_dir(&folder)
                .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
                .map(|entry| entry.unwrap().path())
                .find(|path| path.extension().is_some_and(|e| e == "jsonl"))
                .unwrap();
            files.push((
                place.path().join(format).join(name).join("session.jsonl"),
                fs::read(session).unwrap(),
            ));
        }
    }
    files.push((
        place.path().join("pi/by-hand/session.jsonl"),
        BY_HAND.to_vec(),
    ));
    for (path, _) in &files {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
    }
    let roots =
        ["pi", "clido", "claude"].map(|format| root(format, format, &place.path().join(format)));
    let config = Config::new(place.path().join("index"), roots.to_vec());
    let mut indexer = Indexer::open(&config).unwrap();
    let longest = files.iter().map(|(_, bytes)| bytes.len()).max().unwrap();
    assert!(longest > 1000);
    for at in 0..longest {
        for (path, bytes) in files.iter().filter(|(_, bytes)| at < bytes.len()) {
            OpenOptions::new()
                .append(true)
                .create(true)
                .open(path)
                .unwrap()
                .write_all(&bytes[at..=at])
                .unwrap();
        }
        indexer.sync_catalogue(&mut |_| {}).unwrap();
        if at % 101 == 0 {
            indexer.sync().unwrap();
        }
        if at % 307 == 0 {
            let index = Index::open(&config, Freshness::AsCommitted).unwrap();
            let expected = fresh(&config, &place.path().join(format!("fresh{at}")));
            same(
                &catalogue(&index),
                &catalogue(&expected),
                &format!("{at} bytes"),
            );
        }
    }
    indexer.sync().unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    same(
        &dump(&index),
        &dump(&fresh(&config, &place.path().join("fresh"))),
        "at the end",
    );
    clean(&index, "at the end");
}
