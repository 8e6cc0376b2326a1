//! Is every word found that the files hold, and nothing else, whatever part of the words is
//! indexed?
//!
//! The oracle decodes lines with `serde_json::Value` (`text`), cuts text by the written rules
//! (`rules`) and looks words up in plain maps (`oracle`). Nothing of it is the library's own code.

mod draw;
mod first;
mod keys;
pub mod long_line;
mod missing_fields;
mod oracle;
mod reads;
#[allow(dead_code)]
#[path = "../src/words/tests/oracle.rs"]
mod rules;
mod signs;
mod states;
mod text;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use sessionary::index::SearchScope;
use sessionary::model::Class;
use sessionary::{Config, Index, RootSpec};

use oracle::Address;

/// A temporary folder with sessions of pi and clido, and an index beside them.
pub struct Place {
    folder: tempfile::TempDir,
}

impl Place {
    pub fn new() -> Place {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir_all(folder.path().join("pi")).unwrap();
        fs::create_dir_all(folder.path().join("clido")).unwrap();
        Place { folder }
    }

    pub fn root(&self, format: &str) -> PathBuf {
        self.folder.path().join(format)
    }

    pub fn index_dir(&self) -> PathBuf {
        self.folder.path().join("index")
    }

    pub fn config(&self) -> Config {
        let roots = ["pi", "clido"].map(|format| RootSpec::new(format, self.root(format)));
        Config::new(self.index_dir(), roots.to_vec())
    }

    /// Write a session of pi.
    pub fn write(&self, relative: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.root("pi").join(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    /// All session files with their format, in order.
    pub fn files(&self) -> Vec<(&'static str, PathBuf)> {
        let mut files = Vec::new();
        for format in ["pi", "clido"] {
            for entry in walkdir::WalkDir::new(self.root(format)).sort_by_file_name() {
                let entry = entry.unwrap();
                if entry.file_type().is_file() {
                    files.push((format, entry.into_path()));
                }
            }
        }
        files
    }

    /// What a search finds.
    pub fn search(&self, index: &Index, query: &str) -> BTreeSet<Address> {
        let scope = SearchScope {
            limit: Some(100_000),
            exact: true,
            every_copy: true,
            passages: true,
            ..SearchScope::default()
        };
        let answer = index
            .search(query, &scope)
            .unwrap_or_else(|error| panic!("{query:?}: {error}"));
        assert!(answer.complete, "{query:?} is answered in part");
        assert_eq!(answer.words_damage, None, "{query:?}: nothing is damaged");
        let mut found = BTreeSet::new();
        let mut count = 0;
        for group in &answer.sessions {
            for hit in &group.hits {
                count += 1;
                assert_eq!(hit.address, format!("{}:{}", group.session.id, hit.entry));
                found.insert((group.session.path.clone(), hit.entry.clone(), hit.class));
            }
        }
        assert_eq!(
            answer.total, count,
            "{query:?}: the total is not the number of hits"
        );
        found
    }
}

/// Copy the fixtures whose lines are plain JSON; the damaged ones are the subject of other tests.
pub fn copy_fixtures(place: &Place) {
    for format in ["pi", "clido"] {
        let from = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fixtures")
            .join(format);
        for entry in walkdir::WalkDir::new(&from).sort_by_file_name() {
            let entry = entry.unwrap();
            let path = entry.path();
            let name = path.to_string_lossy();
            // Of custom data only the first 16 KiB are words.
            if !name.ends_with(".jsonl") || name.contains("big-custom-data") {
                continue;
            }
            let bytes = fs::read(path).unwrap();
            let plain = bytes
                .split(|byte| *byte == b'\n')
                .filter(|line| !line.trim_ascii().is_empty())
                .all(|line| serde_json::from_slice::<serde_json::Value>(line).is_ok());
            if plain {
                let to = place.root(format).join(path.strip_prefix(&from).unwrap());
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::write(to, bytes).unwrap();
            }
        }
    }
}

/// The first lines of real sessions, on machines that have some.
pub fn copy_real(place: &Place, bytes: usize) {
    let folder = std::env::var_os("FINDABLE_REAL").map(PathBuf::from);
    let folder = folder
        .unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/corpus/pi-real"));
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let content = fs::read(entry.path()).unwrap();
        let end = content[..bytes.min(content.len())]
            .iter()
            .rposition(|byte| *byte == b'\n')
            .map_or(0, |at| at + 1);
        place.write(
            &format!("real/{}", entry.file_name().to_string_lossy()),
            &content[..end],
        );
    }
}

/// One class's letter, for messages.
pub fn class(class: Class) -> &'static str {
    match class {
        Class::Prose => "prose",
        _ => "output",
    }
}
