//! Does nothing in a store write outside of the folder of its host?

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde_json::{Value, json};
use sessionary::settings::Surroundings;
use sessionary_team::block::{Key, Part, pack};
use sessionary_team::manifest::{Host, Place};
use sessionary_team::pull::{Pulled, pull};
use sessionary_team::settings::DataFolder;
use sessionary_team::store;

use crate::machine::{Folder, tree};

const KEY: Key = Key([1; 32]);

/// Writes what somebody else's program could write.
struct Forger<'a> {
    store: &'a Folder,
}

impl Forger<'_> {
    fn host(&self, folder: &str, says: &str) {
        let folder = self.store.path().join(folder);
        fs::create_dir_all(&folder).unwrap();
        let host = json!({"version": 1, "host": says, "id": "x"});
        fs::write(folder.join("host.json"), host.to_string()).unwrap();
    }

    /// A block that says this, by the id of what it should say.
    fn block(&self, host: &str, should: &[u8], packed: &[u8]) -> Part {
        let part = Part::of(should, &KEY);
        let id = part.id.as_str();
        let folder = self.store.path().join(host).join("blocks").join(&id[..2]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(format!("{id}.zst")), packed).unwrap();
        part
    }

    fn manifest(&self, host: &str, agent: &str, path: &str, part: &Part, change: &[(&str, Value)]) {
        let mut manifest = json!({"version": 1, "host": host, "agent": agent, "path": path,
            "session": "0a", "repository": "github.com/ada/boat", "cwd": "/work", "modified_ms": 1,
            "parts": [part], "source": {"bytes": 1, "form": "raw", "settled": true}});
        for (field, value) in change {
            manifest[field] = value.clone();
        }
        let place = Place {
            agent: manifest["agent"].as_str().unwrap_or_default().to_owned(),
            path: manifest["path"].as_str().unwrap_or_default().to_owned(),
        };
        let folder = self.store.path().join(host).join("files");
        fs::create_dir_all(&folder).unwrap();
        fs::write(
            folder.join(format!("{}.json", place.name())),
            manifest.to_string(),
        )
        .unwrap();
    }
}

/// A data folder within another folder, all of which is watched.
struct Reader {
    around: tempfile::TempDir,
}

impl Reader {
    fn new() -> Reader {
        let around = tempfile::tempdir().unwrap();
        fs::write(around.path().join("victim"), "as it was").unwrap();
        fs::create_dir(around.path().join("victims")).unwrap();
        fs::write(around.path().join("victims/one"), "as it was").unwrap();
        Reader { around }
    }

    fn data(&self) -> DataFolder {
        DataFolder::of(&self.around.path().join("data"))
    }

    fn folder(&self, host: &str) -> std::path::PathBuf {
        self.data().hosts().join(host)
    }

    fn pull(&self, store: &Folder) -> Pulled {
        let store = store::open(&store.address(), &Surroundings::default(), &|_| ()).unwrap();
        let reader = Host {
            version: 1,
            host: "reader".to_owned(),
            id: "r".to_owned(),
        };
        pull(store, &self.data(), &reader).unwrap()
    }

    /// All that is outside of the folders of these hosts.
    fn outside(&self, hosts: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let mut all = tree(self.around.path());
        let inside = |name: &str| {
            hosts
                .iter()
                .any(|host| name.starts_with(&format!("/data/sessionary/team/{host}/")))
        };
        all.retain(|name, _| !inside(name));
        all
    }
}

const BAD_PARTS: [&str; 14] = [
    "..",
    ".",
    "",
    "/",
    "\\",
    "..\\..",
    "C:",
    "a\0b",
    "nul",
    "\u{1b}[2J",
    "victims",
    "~",
    "a:b",
    "x.",
];

#[test]
fn no_manifest_chooses_a_place_outside_of_its_hosts_folder() {
    let mut random = ChaCha8Rng::seed_from_u64(23);
    let reader = Reader::new();
    let before = reader.outside(&["ada"]);
    for _ in 0..60 {
        let store = Folder::new();
        let forger = Forger { store: &store };
        forger.host("ada", "ada");
        let part = forger.block("ada", b"evil", &pack(b"evil").unwrap());
        for _ in 0..12 {
            let parts = (0..random.random_range(1..6)).map(|_| match random.random_bool(0.6) {
                true => (*BAD_PARTS.choose(&mut random).unwrap()).to_owned(),
                false => "ok".to_owned(),
            });
            let path = parts.collect::<Vec<String>>().join("/");
            let agents = [
                "pi",
                "pi",
                "pi",
                "..",
                "../..",
                "/tmp",
                "pulled.json",
                "pi\\..",
                "",
            ];
            let agent = agents.choose(&mut random).unwrap();
            forger.manifest("ada", agent, &path, &part, &[]);
        }
        reader.pull(&store);
        assert_eq!(reader.outside(&["ada"]), before);
        for (name, _) in tree(&reader.folder("ada")) {
            let is_known = name == "/pulled.json" || name == "/repositories.json";
            assert!(is_known || name.starts_with("/pi/"), "{name:?}");
        }
    }
}

/// What is planted in the copies: links and names that lead elsewhere.
#[test]
#[cfg(unix)]
fn links_in_the_copies_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let reader = Reader::new();
    let before = reader.outside(&["ada"]);
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    let parts =
        [&b"first\n"[..], b"second\n"].map(|of| forger.block("ada", of, &pack(of).unwrap()));
    let paths = ["file.jsonl", "folder/file.jsonl", "linked.jsonl"];
    let write = |parts: &[Part]| {
        for path in paths {
            forger.manifest("ada", "pi", path, &parts[0], &[("parts", json!(parts))]);
        }
    };
    write(&parts[..1]);
    assert_eq!(reader.pull(&store).problems, []);

    let pi = reader.folder("ada").join("pi");
    let victims = reader.around.path().join("victims");
    fs::remove_file(pi.join("file.jsonl")).unwrap();
    symlink(reader.around.path().join("victim"), pi.join("file.jsonl")).unwrap();
    fs::remove_dir_all(pi.join("folder")).unwrap();
    symlink(&victims, pi.join("folder")).unwrap();
    // Another name of a file that stands elsewhere, which is what the copy was.
    fs::rename(pi.join("linked.jsonl"), reader.around.path().join("other")).unwrap();
    fs::hard_link(reader.around.path().join("other"), pi.join("linked.jsonl")).unwrap();
    symlink(&victims, pi.join("more")).unwrap();
    symlink(&victims, reader.folder("ada").join("claude")).unwrap();
    write(&parts);
    let mut expected = before;
    expected.insert("/other".to_owned(), b"first\n".to_vec());
    for _ in 0..2 {
        reader.pull(&store);
        assert_eq!(reader.outside(&["ada"]), expected);
    }
    // The plants are gone, and the copies are there.
    let copies = tree(&pi);
    assert_eq!(copies.len(), 3, "{:?}", copies.keys());
    assert!(copies.values().all(|of| of == b"first\nsecond\n"));
    assert!(!reader.folder("ada").join("claude").exists());
}

#[test]
fn a_folder_speaks_for_its_own_host_alone() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    forger.host("eve", "ada");
    forger.host("mallory", "mallory");
    fs::create_dir(store.path().join("..evil")).unwrap();
    fs::create_dir(store.path().join("UPPER")).unwrap();
    for host in ["ada", "eve", "mallory"] {
        let part = forger.block(host, b"said", &pack(b"said").unwrap());
        forger.manifest(host, "pi", "a.jsonl", &part, &[("host", json!("ada"))]);
    }
    let pulled = reader.pull(&store);
    let files = |host: &str| {
        tree(&reader.folder(host))
            .into_keys()
            .filter(|of| of.contains("pi/"))
            .count()
    };
    assert_eq!((files("ada"), files("eve"), files("mallory")), (1, 0, 0));
    assert_eq!(pulled.problems.len(), 2, "{:?}", pulled.problems);
    // A manifest under the name of another one's.
    let name = |path: &str| {
        let place = Place {
            agent: "pi".to_owned(),
            path: path.to_owned(),
        };
        store
            .path()
            .join(format!("ada/files/{}.json", place.name()))
    };
    fs::copy(name("a.jsonl"), name("b.jsonl")).unwrap();
    assert_eq!(reader.pull(&store).problems.len(), 3);
}

/// Blocks of many files are asked for at once.
#[test]
fn a_block_that_cannot_be_read_or_is_missing_keeps_no_other_file_back() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    let said = |at: usize| format!("what file {at} says\n").into_bytes();
    for at in 0..9 {
        let part = forger.block("ada", &said(at), &pack(&said(at)).unwrap());
        forger.manifest("ada", "pi", &format!("{at}.jsonl"), &part, &[]);
        let id = part.id.as_str();
        let block = format!("ada/blocks/{}/{id}.zst", &id[..2]);
        let block = store.path().join(block);
        if at == 3 {
            fs::remove_file(&block).unwrap();
            fs::create_dir(&block).unwrap();
        } else if at == 5 {
            fs::remove_file(&block).unwrap();
        }
    }
    let pulled = reader.pull(&store);
    let host = &pulled.hosts[0];
    assert_eq!((host.written, host.waiting), (7, 1));
    let problems: Vec<&str> = pulled.problems.iter().map(|of| of.what.as_str()).collect();
    assert_eq!(problems, ["ada/pi/3.jsonl"]);
    let copies = tree(&reader.folder("ada").join("pi"));
    let expected = |at: &usize| *at != 3 && *at != 5;
    let expected = (0..9)
        .filter(expected)
        .map(|at| (format!("/{at}.jsonl"), said(at)));
    assert_eq!(copies, expected.collect());
    assert!(reader.pull(&store).hosts[0].written == 0);
}

/// More than is asked for at once, by its bytes and by its blocks; some of it for several files,
/// and some of it added to what is there.
#[test]
fn many_files_of_many_blocks_are_brought_as_they_are() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    let block = |bytes: &[u8]| forger.block("ada", bytes, &pack(bytes).unwrap());
    let shared = b"all begin so\n".repeat(9_000);
    let said = |file: usize| -> Vec<Vec<u8>> {
        let large = format!("what file {file} says\n")
            .repeat(40_000)
            .into_bytes();
        let small = (0..file * 7).map(|at| format!("{file} and {at}\n").into_bytes());
        [shared.clone(), large].into_iter().chain(small).collect()
    };
    let mut expected = BTreeMap::new();
    // First some, without their ends; then all of all.
    for (files, parts) in [(0..12, 9), (0..30, usize::MAX)] {
        let (mut written, mut appended) = (0, 0);
        for file in files {
            let said: Vec<Vec<u8>> = said(file).into_iter().take(parts).collect();
            let parts: Vec<Part> = said.iter().map(|bytes| block(bytes)).collect();
            let path = format!("{file}.jsonl");
            forger.manifest("ada", "pi", &path, &parts[0], &[("parts", json!(parts))]);
            match expected.insert(format!("/{path}"), said.concat()) {
                None => written += 1,
                Some(before) if before != said.concat() => appended += 1,
                Some(_) => {}
            }
        }
        let pulled = reader.pull(&store);
        assert_eq!(pulled.problems, []);
        let host = &pulled.hosts[0];
        assert_eq!((host.written, host.appended), (written, appended));
        assert!(tree(&reader.folder("ada").join("pi")) == expected);
    }
}

#[test]
fn blocks_that_are_not_what_they_should_be_are_not_written() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    let bomb = pack(&vec![b'x'; 256 << 20]).unwrap();
    assert!(bomb.len() < 64 << 10);
    let blocks = [
        ("other", forger.block("ada", b"one", &pack(b"0ne").unwrap())),
        (
            "longer",
            forger.block("ada", b"two", &pack(b"two and more").unwrap()),
        ),
        ("noise", forger.block("ada", b"three", b"no zstd at all")),
        ("bomb", forger.block("ada", b"four", &bomb)),
        ("empty", forger.block("ada", b"five", b"")),
    ];
    for (name, part) in &blocks {
        forger.manifest("ada", "pi", name, part, &[]);
    }
    // A part that says of itself that it is long.
    let mut long = serde_json::to_value(&blocks[3].1).unwrap();
    long["bytes"] = json!(256 << 20);
    forger.manifest(
        "ada",
        "pi",
        "long",
        &blocks[3].1,
        &[("parts", json!([long]))],
    );
    // Ids that are paths.
    let mut path = serde_json::to_value(&blocks[0].1).unwrap();
    path["id"] = json!("../../../../../../etc/passwd");
    forger.manifest(
        "ada",
        "pi",
        "path",
        &blocks[0].1,
        &[("parts", json!([path]))],
    );
    // One block over and over, for ever.
    let million = vec![b'x'; 1 << 20];
    let block = forger.block("ada", &million, &pack(&million).unwrap());
    let many = [("parts", json!(vec![block.clone(); 4097]))];
    forger.manifest("ada", "pi", "many", &block, &many);
    let good = forger.block("ada", b"good", &pack(b"good").unwrap());
    forger.manifest("ada", "pi", "good", &good, &[]);
    let many = [("parts", json!(vec![good.clone(); 17_000]))];
    forger.manifest("ada", "pi", "pieces", &good, &many);

    let pulled = reader.pull(&store);
    assert_eq!(pulled.problems.len(), 9, "{:?}", pulled.problems);
    let written: Vec<String> = tree(&reader.folder("ada").join("pi")).into_keys().collect();
    assert_eq!(written, ["/good"]);

    // A block that has not come yet is waited for, and what was there stays.
    let missing = Part::of(b"not here", &KEY);
    forger.manifest(
        "ada",
        "pi",
        "good",
        &good,
        &[("parts", json!([good, good, missing]))],
    );
    let pulled = reader.pull(&store);
    assert_eq!(pulled.hosts[0].waiting, 1);
    assert_eq!(
        fs::read(reader.folder("ada").join("pi/good")).unwrap(),
        b"good"
    );
    forger.block("ada", b"not here", &pack(b"not here").unwrap());
    reader.pull(&store);
    assert_eq!(
        fs::read(reader.folder("ada").join("pi/good")).unwrap(),
        b"goodgoodnot here"
    );
}

/// Of a version that knows more than this one.
#[test]
fn a_manifest_of_a_later_version_takes_nothing_away() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    let part = forger.block("ada", b"said", &pack(b"said").unwrap());
    forger.manifest("ada", "pi", "a.jsonl", &part, &[]);
    forger.manifest("ada", "pi", "b.jsonl", &part, &[]);
    assert_eq!(reader.pull(&store).problems, []);
    forger.manifest("ada", "pi", "a.jsonl", &part, &[("version", json!(2))]);
    let pulled = reader.pull(&store);
    assert!(
        pulled.problems[0].why.contains("layout 2"),
        "{:?}",
        pulled.problems
    );
    assert_eq!(tree(&reader.folder("ada").join("pi")).len(), 2);
}

/// It would be held in memory, and so would each of many.
#[test]
fn a_manifest_that_is_too_long_is_not_read() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    let part = forger.block("ada", b"said", &pack(b"said").unwrap());
    forger.manifest("ada", "pi", "a.jsonl", &part, &[]);
    let cwd = "x".repeat(9 << 20);
    forger.manifest("ada", "pi", "b.jsonl", &part, &[("cwd", json!(cwd))]);
    let pulled = reader.pull(&store);
    assert_eq!(pulled.problems.len(), 1, "{:?}", pulled.problems);
    assert!(pulled.problems[0].why.contains("longer"));
    assert_eq!(tree(&reader.folder("ada").join("pi")).len(), 1);
}

/// They would all be held in memory.
#[test]
fn of_more_manifests_than_anybody_has_the_first_are_read() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    let part = forger.block("ada", b"said", &pack(b"said").unwrap());
    let cwd = [("cwd", json!("x".repeat(7 << 20)))];
    for at in 0..40 {
        forger.manifest("ada", "pi", &format!("{at}.jsonl"), &part, &cwd);
    }
    let pulled = reader.pull(&store);
    assert_eq!(pulled.problems.len(), 1, "{:?}", pulled.problems);
    assert!(pulled.problems[0].why.contains("more than 256 MiB"));
    assert_eq!(pulled.hosts[0].written, 36);
}

/// A block of a megabyte, named again and again, takes as good as nothing in the store.
#[test]
#[cfg(unix)]
fn what_would_fill_the_disk_is_not_brought() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    for host in ["ada", "bob"] {
        forger.host(host, host);
        let part = forger.block(host, b"said", &pack(b"said").unwrap());
        forger.manifest(host, "pi", "a.jsonl", &part, &[]);
    }
    assert_eq!(reader.pull(&store).problems, []);
    let system = rustix::fs::statvfs(reader.around.path()).unwrap();
    let files = system.f_bavail * system.f_frsize / (4 << 30) + 1;
    if files > 200 {
        eprintln!("SKIPPED: the disk is too large to be filled by manifests of a test");
        return;
    }
    // Its block is not there: whoever does not look at the room waits for it, and writes nothing.
    let part = Part::of(&vec![0; 1 << 20], &KEY);
    let parts = [("parts", json!(vec![&part; 4096]))];
    for at in 0..files {
        forger.manifest("ada", "pi", &format!("{at}.jsonl"), &part, &parts);
    }
    fs::remove_dir_all(store.path().join("ada/blocks")).unwrap();
    let old = Place {
        agent: "pi".to_owned(),
        path: "a.jsonl".to_owned(),
    };
    let old = format!("ada/files/{}.json", old.name());
    fs::remove_file(store.path().join(old)).unwrap();
    let part = forger.block("bob", b"more", &pack(b"more").unwrap());
    forger.manifest("bob", "pi", "b.jsonl", &part, &[]);
    let pulled = reader.pull(&store);
    let [ada, bob] = &pulled.hosts[..] else {
        panic!("{:?}", pulled.hosts);
    };
    let problems: Vec<&str> = pulled.problems.iter().map(|of| of.what.as_str()).collect();
    assert_eq!(problems, ["ada"]);
    assert!(
        pulled.problems[0].why.contains("MiB are free"),
        "{:?}",
        pulled.problems
    );
    // What it took back has gone all the same, and what others share has come.
    assert_eq!((ada.waiting, ada.removed, bob.written), (0, 1, 1));
}

/// On Windows and macOS the one would be written over the other.
#[test]
fn of_two_paths_that_differ_by_case_alone_one_is_brought() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    let part = forger.block("ada", b"said", &pack(b"said").unwrap());
    for path in ["Folder/a.jsonl", "folder/A.jsonl", "folder/b.jsonl"] {
        forger.manifest("ada", "pi", path, &part, &[]);
    }
    assert_eq!(reader.pull(&store).problems.len(), 1);
    assert_eq!(tree(&reader.folder("ada").join("pi")).len(), 2);
}

/// What stands where a store has files: fifos, folders, links.
#[test]
#[cfg(unix)]
fn a_store_of_odd_files_is_read_to_its_end() {
    let reader = Reader::new();
    let store = Folder::new();
    let forger = Forger { store: &store };
    forger.host("ada", "ada");
    let part = forger.block("ada", b"said", &pack(b"said").unwrap());
    forger.manifest("ada", "pi", "a.jsonl", &part, &[]);
    let files = store.path().join("ada/files");
    let named = |digit: &str| files.join(format!("{}.json", digit.repeat(64)));
    let fifo = std::process::Command::new("mkfifo")
        .arg(named("f"))
        .status();
    assert!(fifo.unwrap().success());
    fs::create_dir(named("d")).unwrap();
    std::os::unix::fs::symlink("/dev/zero", named("1")).unwrap();
    fs::write(named("2"), "[]").unwrap();
    let pulled = reader.pull(&store);
    assert_eq!(pulled.problems.len(), 4, "{:?}", pulled.problems);
    assert!(Path::new(&reader.folder("ada").join("pi/a.jsonl")).exists());
}
