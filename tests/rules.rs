//! Do the rules of what is left out hold for every program that opens the index?

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use sessionary::index::{BacklogSize, SearchScope, WatchEnd, caught_up};
use sessionary::{Config, Error, Exclude, FollowLinks, Freshness, Index, Indexer, Rules};

use crate::exclusion::files_with;
use crate::histories::dump::{clean, root};
use crate::sandbox::Sandbox;
use crate::watching::watcher::{Watcher, until};
use crate::watching::{append, message, session};

/// An index that the command has made of two sessions, one of them in a folder that its user
/// excludes.
struct Place {
    home: Sandbox,
    secret: PathBuf,
}

impl Place {
    fn new() -> Self {
        let home = Sandbox::new();
        home.write(
            ".config/sessionary/config.toml",
            "exclude = [\"hush\", \"*.draft.jsonl\"]\n",
        );
        home.write(
            ".pi/agent/sessions/--a--/open.jsonl",
            &(session(1, "zanzibar") + &message(1, "walrus")),
        );
        let secret = home.write(
            ".pi/agent/sessions/hush/secret.jsonl",
            &(session(2, "quetzalcoatl") + &message(1, "quetzalcoatl")),
        );
        home.settle();
        let place = Self { home, secret };
        assert_eq!(place.by_command(), 1);
        place
    }

    fn index_dir(&self) -> PathBuf {
        self.home.home.join(".cache/sessionary")
    }

    fn rules(&self) -> PathBuf {
        self.index_dir().join("rules.json")
    }

    /// What a program says that knows of the folders alone.
    fn config(&self) -> Config {
        let sessions = self.home.home.join(".pi/agent/sessions");
        Config::new(self.index_dir(), vec![root("pi", "pi", &sessions)])
    }

    /// How many sessions the command lists.
    fn by_command(&self) -> usize {
        let list = self.home.json(&["list", "--all", "--json"]);
        list["sessions"].as_array().unwrap().len()
    }

    /// Nothing of what is excluded stands in the index, or is missed there.
    fn is_left_out(&self, when: &str) {
        let config = self.config();
        let index = Index::open(&config, Freshness::Check).unwrap();
        assert!(index.obstacle().is_none(), "{when}: {:?}", index.obstacle());
        let found = index.search("quetzalcoatl", &SearchScope::default());
        let found = found.unwrap();
        assert_eq!((found.total, found.complete), (0, true), "{when}");
        let status = index.status().unwrap();
        assert_eq!((status.sessions, status.roots[0].excluded), (1, 1));
        assert_eq!(index.backlog_size().unwrap(), BacklogSize::Little, "{when}");
        clean(&index, when);
        for text in ["quetzalcoatl", "secret.jsonl"] {
            assert_eq!(files_with(&self.index_dir(), text), 0, "{when}: {text}");
        }
    }
}

fn sync(config: &Config) {
    Indexer::open(config).unwrap().sync().unwrap();
}

#[test]
fn a_program_brings_nothing_back_that_the_command_excludes() {
    let place = Place::new();
    let config = place.config();
    place.is_left_out("opened");
    let mut indexer = Indexer::open(&config).unwrap();
    assert_eq!(indexer.sync().unwrap().files_changed, 0);
    append(&place.secret, &message(2, "quetzalcoatl"));
    let files = std::slice::from_ref(&place.secret);
    assert_eq!(indexer.sync_files(files).unwrap().files_changed, 0);
    drop(indexer);
    place.is_left_out("synced");
    let report = Indexer::open(&config).unwrap().rebuild();
    assert_eq!(report.unwrap().files_changed, 1);
    place.is_left_out("rebuilt");
    // The catalogue that knew by which rules it was made is no more.
    fs::write(place.index_dir().join("v5/catalogue.sqlite"), "damage").unwrap();
    let _ = fs::remove_file(place.index_dir().join("v5/catalogue.sqlite-wal"));
    sync(&config);
    place.is_left_out("begun again");
    fs::remove_dir_all(place.index_dir().join("v5")).unwrap();
    sync(&config);
    place.is_left_out("made by another version");
    assert_eq!(place.by_command(), 1);
}

#[test]
fn a_program_that_watches_brings_nothing_back() {
    let place = Place::new();
    let config = place.config();
    let watcher = Watcher::start(&config);
    append(&place.secret, &message(2, "quetzalcoatl"));
    let open = place.secret.with_file_name("../--a--/open.jsonl");
    append(&open, &message(2, "more"));
    until("the change is taken in", || {
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let found = index.search("more", &SearchScope::default()).unwrap();
        found.total == 1
    });
    until("its word counts", || {
        caught_up(&config, Duration::from_secs(60)).is_some()
    });
    watcher.stop();
    sync(&config);
    place.is_left_out("watched");
    // The command changes the rules while a program watches: that one ends, and is started again.
    let watcher = Watcher::start(&config);
    place.home.write(".config/sessionary/config.toml", "");
    assert_eq!(place.by_command(), 2);
    append(&open, &message(3, "yet more"));
    assert_eq!(watcher.ended(), WatchEnd::Reconfigured);
    let index = Index::open(&config, Freshness::Check).unwrap();
    let found = index.search("quetzalcoatl", &SearchScope::default());
    assert_eq!(found.unwrap().total, 3);
}

#[test]
fn only_who_sets_rules_changes_them() {
    let place = tempfile::tempdir().unwrap();
    let at = |name: &str| place.path().join(name);
    let sessions = at("pi/--a--");
    fs::create_dir_all(&sessions).unwrap();
    for (number, name) in [(1, "one.jsonl"), (2, "two.jsonl"), (3, "three.jsonl")] {
        fs::write(sessions.join(name), session(number, name)).unwrap();
    }
    let said = |rules: Rules| Config {
        rules,
        ..Config::new(at("index"), vec![root("pi", "pi", &at("pi"))])
    };
    let without = |name: &str| Exclude::new(&[name]).unwrap();
    let count = |rules: Rules| {
        let index = Index::open(&said(rules), Freshness::Check).unwrap();
        clean(&index, "opened");
        index.status().unwrap().sessions
    };
    assert_eq!(count(Rules::stored()), 3);
    assert!(!at("index/rules.json").exists(), "nothing was said");
    // The first who says something is heard, whoever it is; after that only who sets rules is.
    assert_eq!(
        count(Rules::at_first(
            without("one.jsonl"),
            FollowLinks::WithinRoots
        )),
        2
    );
    assert_eq!(
        count(Rules::at_first(Exclude::default(), FollowLinks::Everywhere)),
        2
    );
    assert_eq!(count(Rules::stored()), 2);
    let none = Exclude::new(&["one.jsonl", "two.jsonl", "three.jsonl"]).unwrap();
    assert_eq!(count(Rules::set(none, FollowLinks::WithinRoots)), 0);
    assert_eq!(count(Rules::stored()), 0);
    assert_eq!(
        count(Rules::set(Exclude::default(), FollowLinks::WithinRoots)),
        3
    );
    assert_eq!(
        count(Rules::at_first(
            without("one.jsonl"),
            FollowLinks::WithinRoots
        )),
        3
    );
    let index = Index::open(&said(Rules::stored()), Freshness::AsCommitted).unwrap();
    assert!(index.config().rules.exclude().is_empty());
}

/// Who cannot know what is to be left out stores nothing.
#[test]
fn rules_that_cannot_be_read_are_no_rules_that_are_missing() {
    let place = Place::new();
    let refused = |config: &Config| {
        let indexer = Indexer::open(config).and_then(|mut indexer| indexer.sync());
        let error = indexer.unwrap_err();
        assert!(matches!(error, Error::Rules { .. }), "{error:?}");
        let index = Index::open(config, Freshness::Check).map(drop);
        assert!(matches!(index, Err(Error::Rules { .. })), "{index:?}");
        error.to_string()
    };
    fs::write(place.rules(), "{").unwrap();
    let said = refused(&place.config());
    assert!(said.contains("sessionary sync"), "{said}");
    // The command says them again.
    assert_eq!(place.by_command(), 1);
    place.is_left_out("written anew");
    fs::remove_file(place.rules()).unwrap();
    refused(&place.config());
    assert_eq!(place.by_command(), 1);
    place.is_left_out("said again");
}

/// Who says what is to be left out at first does not bring back what the catalogue was made
/// without.
#[test]
fn rules_that_are_lost_are_not_said_at_first() {
    let place = Place::new();
    fs::remove_file(place.rules()).unwrap();
    let said = |globs: &[&str]| Config {
        rules: Rules::at_first(Exclude::new(globs).unwrap(), FollowLinks::WithinRoots),
        ..place.config()
    };
    for other in [said(&[]), said(&["hush"])] {
        let error = Index::open(&other, Freshness::Check).map(drop);
        assert!(matches!(error, Err(Error::Rules { .. })), "{error:?}");
    }
    assert!(!place.rules().exists());
    // The same rules are no others.
    let same = said(&["hush", "*.draft.jsonl"]);
    drop(Index::open(&same, Freshness::Check).unwrap());
    assert!(place.rules().exists());
    place.is_left_out("said again");
}

/// A newer version may leave out more than this one understands.
#[test]
fn rules_of_a_newer_version_are_not_read_in_part() {
    let place = Place::new();
    let text = fs::read_to_string(place.rules()).unwrap();
    let newer = text.replacen('{', "{\"exclude_text\":[\"walrus\"],", 1);
    for unknown in [&newer, ""] {
        fs::write(place.rules(), unknown).unwrap();
        let error = Index::open(&place.config(), Freshness::Check).map(drop);
        assert!(matches!(error, Err(Error::Rules { .. })), "{error:?}");
    }
    assert_eq!(place.by_command(), 1);
    assert_eq!(fs::read_to_string(place.rules()).unwrap(), text);
}

/// `--follow-links` is of the command it is typed with; what stands in the configuration file is
/// stored.
#[cfg(unix)]
#[test]
fn a_flag_changes_no_rules_for_others() {
    let place = Place::new();
    let beside = place.home.write("beside/two.jsonl", &session(3, "quagga"));
    let link = place.secret.with_file_name("../--out--");
    std::os::unix::fs::symlink(beside.parent().unwrap(), link).unwrap();
    place.home.settle();
    let stored = || fs::read_to_string(place.rules()).unwrap();
    let before = stored();
    let by_flag = || {
        let list = ["list", "--all", "--json", "--follow-links"];
        place.home.json(&list)["sessions"].as_array().unwrap().len()
    };
    assert_eq!(by_flag(), 2);
    assert_eq!(stored(), before);
    // So a program finds what the command without it finds.
    let index = Index::open(&place.config(), Freshness::Check).unwrap();
    assert!(!index.config().rules.follow_links());
    clean(&index, "without the flag");
    place.is_left_out("without the flag");
    assert_eq!((by_flag(), place.by_command()), (2, 1));
    place.home.write(
        ".config/sessionary/config.toml",
        "follow_links = true\nexclude = [\"hush\"]\n",
    );
    assert_eq!(by_flag(), 2);
    let index = Index::open(&place.config(), Freshness::Check).unwrap();
    assert!(index.config().rules.follow_links());
    assert_eq!(index.status().unwrap().sessions, 2);
}

/// Where nothing is stored, nothing is either by a program that follows links once.
#[test]
fn a_program_that_follows_links_once_takes_no_rules_away() {
    let place = tempfile::tempdir().unwrap();
    let sessions = place.path().join("pi");
    fs::create_dir_all(&sessions).unwrap();
    let config = Config::new(
        place.path().join("index"),
        vec![root("pi", "pi", &sessions)],
    );
    let once = Config {
        rules: Rules::stored().following_links(),
        ..config.clone()
    };
    for config in [&once, &config, &once, &config] {
        let index = Index::open(config, Freshness::Check).unwrap();
        let follows = config.rules.follow_links();
        assert_eq!(index.config().rules.follow_links(), follows);
    }
}

/// While somebody else writes, other rules cannot be taken in.
#[test]
fn an_answer_by_other_rules_is_not_complete() {
    let place = tempfile::tempdir().unwrap();
    let sessions = place.path().join("pi");
    fs::create_dir_all(&sessions).unwrap();
    for (number, name) in [(1, "one"), (2, "two")] {
        let text = session(number, name).replace("\"/w\"", &format!("\"/{name}\""));
        fs::write(sessions.join(format!("{name}.jsonl")), text).unwrap();
    }
    std::thread::sleep(Duration::from_millis(100));
    let without = |globs: &[&str]| Config {
        rules: Rules::set(Exclude::new(globs).unwrap(), FollowLinks::WithinRoots),
        ..Config::new(
            place.path().join("index"),
            vec![root("pi", "pi", &sessions)],
        )
    };
    sync(&without(&["/one"]));
    let writer = Indexer::open(&without(&["/one"])).unwrap();
    for (globs, complete) in [(["/one"], true), (["/other"], false), (["/two"], false)] {
        let index = Index::open(&without(&globs), Freshness::Check).unwrap();
        assert!(matches!(index.obstacle(), Some(Error::Busy { .. })));
        assert_eq!(index.is_complete(), complete, "{globs:?}");
        let found = index.search("one", &SearchScope::default()).unwrap();
        assert_eq!((found.total, found.complete), (0, complete), "{globs:?}");
    }
    drop(writer);
    let index = Index::open(&without(&["/other"]), Freshness::Check).unwrap();
    assert!(index.is_complete());
    assert_eq!(index.status().unwrap().sessions, 2);
    let index = Index::open(&without(&["/two"]), Freshness::Check).unwrap();
    let said = "1 file is excluded now: what was stored of it is removed";
    assert_eq!(index.report().unwrap().notes, [said]);
}

#[test]
fn a_root_of_an_unknown_format_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let vim = root("vim", "vim", &place.path().join("vim"));
    let config = Config::new(place.path().join("index"), vec![vim]);
    let opened = [
        Index::open(&config, Freshness::Check).map(drop),
        Index::open(&config, Freshness::AsCommitted).map(drop),
        Indexer::open(&config).map(drop),
        Indexer::try_open(&config).map(drop),
    ];
    for refused in opened {
        let error = refused.unwrap_err();
        assert!(matches!(error, Error::UnknownFormat { .. }), "{error:?}");
        let said = "vim: no format is called `vim`; known are pi, indusagi, pindusagi, clido, agentuse, claude, codex, copilot, cursor, gemini, induscode, openclaw, opencode, qwen";
        assert!(error.to_string().ends_with(said), "{error}");
    }
    assert!(
        !Path::new(&config.index_dir)
            .join("v5/catalogue.sqlite")
            .exists()
    );
    // One that follows from a session is one too.
    let known = root("pi", "pi", &place.path().join("pi"));
    fs::create_dir_all(&known.path).unwrap();
    fs::write(known.path.join("one.jsonl"), session(1, "one")).unwrap();
    let elsewhere = root("vim", "vim", &place.path().join("vim"));
    let config = Config {
        roots: vec![known],
        project_roots: Some(std::sync::Arc::new(move |_| vec![elsewhere.clone()])),
        ..config
    };
    let error = Index::open(&config, Freshness::Check).map(drop);
    assert!(
        matches!(error, Err(Error::UnknownFormat { .. })),
        "{error:?}"
    );
}
