//! Can a format of whole documents, several files a session, be added through the public API alone?

use std::fs;
use std::path::Path;

use serde_json::Value;
use sessionary::format::{About, Format, Shape, SourceFacts, WriteMode};
use sessionary::index::{ListScope, SearchScope, ShowScope};
use sessionary::model::{Class, Facts, Fold, Passage, Placement, SessionFacts, SourcePart};
use sessionary::{Config, Freshness, Index, Indexer};

use super::dump::{clean, dump, fresh, root, same};

/// A folder a session: `session.json` says what it is, `messages/*.json` are its messages.
#[derive(Debug)]
struct FolderFormat;

static FOLDER_FORMAT: FolderFormat = FolderFormat;

impl Format for FolderFormat {
    fn about(&self) -> About {
        About {
            revision: 1,
            shape: Shape::Document,
            write_mode: WriteMode::Rename,
            ..About::of("mine")
        }
    }
    fn place(&self, relative: &Path, _flat: bool) -> Placement {
        if relative.extension().is_none_or(|e| e != "json") {
            return Placement::Ignore("no document");
        }
        let Some(session) = relative.components().next() else {
            return Placement::Ignore("a folder");
        };
        let part = if relative.ends_with("session.json") {
            SourcePart::Main
        } else {
            SourcePart::Side
        };
        Placement::Source {
            session: session.as_os_str().to_string_lossy().into_owned(),
            part,
            unlisted: None,
        }
    }
    fn facts(&self, record: &[u8]) -> Facts {
        let value: Value = serde_json::from_slice(record).unwrap_or_default();
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        Facts {
            kind: text("kind").unwrap_or_default(),
            role: text("role"),
            id: text("id"),
            agent_sees: true,
            is_message: value["text"].is_string(),
            user_text: text("text"),
            name: text("name"),
            ..Facts::default()
        }
    }
    fn passages(&self, record: &[u8]) -> Vec<Passage> {
        let value: Value = serde_json::from_slice(record).unwrap_or_default();
        let text = value["text"].as_str().or(value["name"].as_str());
        text.map(|text| Passage {
            class: Class::Prose,
            pieces: vec![text.to_owned()],
        })
        .into_iter()
        .collect()
    }
    fn fold(&self, fold: &mut Fold, facts: &Facts) {
        fold.entries += 1;
        fold.messages += u64::from(facts.is_message);
        fold.name = facts.name.clone().or(fold.name.take());
        fold.first_message = fold.first_message.take().or(facts.user_text.clone());
        fold.leaf = facts.id.clone();
    }
    fn session(&self, sources: &[SourceFacts<'_>]) -> SessionFacts {
        let main = sources.iter().find(|s| s.part == SourcePart::Main);
        let id = main
            .or(sources.first())
            .and_then(|s| s.relative.components().next());
        SessionFacts {
            id: id
                .map(|id| id.as_os_str().to_string_lossy().into_owned())
                .unwrap_or_default(),
            cwd: "/w".into(),
            name: main.and_then(|s| s.fold.name.clone()),
            modified_ms: sources.iter().map(|s| s.mtime_ms).max().unwrap_or_default(),
            message_count: sources.iter().map(|s| s.fold.messages).sum(),
            first_message: sources.iter().find_map(|s| s.fold.first_message.clone()),
            entry_count: sources.iter().map(|s| s.fold.entries).sum(),
            leaf: sources.iter().rev().find_map(|s| s.fold.leaf.clone()),
            hidden: main.is_none().then(|| "no session.json".to_owned()),
            ..SessionFacts::default()
        }
    }
}

#[test]
fn a_fourth_format_needs_the_public_api_alone() {
    let place = tempfile::tempdir().unwrap();
    let base = place.path().join("mine");
    // As the agent writes: beside it, then renamed into place.
    let put = |path: &str, text: &str| {
        let (to, beside) = (base.join(path), place.path().join("beside"));
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::write(&beside, text).unwrap();
        fs::rename(&beside, &to).unwrap();
    };
    let message = |id: &str, text: &str| {
        serde_json::to_string_pretty(
            &serde_json::json!({ "kind": "message", "role": "user", "id": id, "text": text }),
        )
        .unwrap()
    };
    for session in ["one", "two"] {
        put(
            &format!("{session}/session.json"),
            &format!("{{\"kind\":\"session\",\n \"name\":\"called {session}\"}}\n"),
        );
        put(
            &format!("{session}/messages/1.json"),
            &message("m1", &format!("the walrus of {session}")),
        );
        put(
            &format!("{session}/messages/2.json"),
            &message("m2", "plain speech"),
        );
    }
    put("one/messages/draft.tmp", "half");
    put("two/messages/3.json", "{\"kind\":\"mess");
    let config = Config::new(
        place.path().join("index"),
        vec![root("mine", "mine", &base)],
    )
    .with_format(&FOLDER_FORMAT);

    let mut checks = 0;
    let mut check = |words: &[(&str, u64)], sessions: usize| {
        checks += 1;
        let when = format!("check {checks}");
        // The overlay answers first, then the words.
        let index = Index::open(&config, Freshness::Check).unwrap();
        let scope = SearchScope {
            exact: true,
            every_copy: true,
            ..SearchScope::default()
        };
        for (word, total) in words {
            assert_eq!(
                index.search(word, &scope).unwrap().total,
                *total,
                "{when}: {word}, overlay"
            );
        }
        Indexer::open(&config).unwrap().sync().unwrap();
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        for (word, total) in words {
            assert_eq!(
                index.search(word, &scope).unwrap().total,
                *total,
                "{when}: {word}, words"
            );
        }
        clean(&index, &when);
        same(
            &dump(&index),
            &dump(&fresh(&config, &place.path().join(&when))),
            &when,
        );
        let listing = index.list(&ListScope::default()).unwrap();
        assert_eq!(listing.sessions.len(), sessions, "{when}: {listing:?}");
        index
    };

    let index = check(&[("walrus", 2), ("\"plain speech\"", 2), ("called", 2)], 2);
    let rows = index.list(&ListScope::default()).unwrap().sessions;
    let one = rows.iter().find(|row| row.id == "one").unwrap();
    assert_eq!(
        (one.message_count, one.entries, one.name.as_deref()),
        (2, 3, Some("called one"))
    );
    assert_eq!(rows.iter().find(|row| row.id == "two").unwrap().problems, 1);
    let shown = index
        .show(
            one,
            &ShowScope {
                all: true,
                ..ShowScope::default()
            },
        )
        .unwrap();
    let said: Vec<&str> = shown
        .entries
        .iter()
        .flat_map(|e| &e.text)
        .flat_map(|(_, pieces)| pieces)
        .map(String::as_str)
        .collect();
    assert_eq!(said.len(), 3, "{shown:?}");
    assert!(said.contains(&"the walrus of one"), "{said:?}");

    put("one/messages/1.json", &message("m1", "the ottter of one"));
    check(&[("walrus", 1), ("ottter", 1)], 2);
    put("one/messages/4.json", &message("m4", "a late walrus"));
    fs::remove_file(base.join("one/messages/2.json")).unwrap();
    check(&[("walrus", 2), ("\"plain speech\"", 1)], 2);
    fs::remove_file(base.join("two/session.json")).unwrap();
    check(&[("called", 1)], 2);
    fs::remove_dir_all(base.join("two")).unwrap();
    check(&[("walrus", 1), ("\"plain speech\"", 0)], 1);
}
