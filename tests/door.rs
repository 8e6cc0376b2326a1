//! What does a program get that comes in by the library's front door?

use std::path::{Path, PathBuf};
use std::sync::mpsc::channel;
use std::sync::{Arc, LazyLock};
use std::time::Duration;
use std::{fs, io};

use serde_json::json;
use sessionary::index::{BacklogSize, ListScope, SearchScope, Snapshot, SqlPart};
use sessionary::model::Mask;
use sessionary::{Cancel, Config, Error, Event, Freshness, Index, Indexer, RootSpec, StoreFault};

use crate::histories::dump::{clean, root};
use crate::watching::{message, session};

/// An index of so many sessions with a hundred entries of some 500 bytes each.
fn config(place: &Path, sessions: u32) -> Config {
    let folder = place.join("pi/--a--");
    fs::create_dir_all(&folder).unwrap();
    for number in 0..sessions {
        let entry = |at| {
            message(
                at,
                &format!("walrus number{at} {}", "lorem ipsum ".repeat(30)),
            )
        };
        let entries: String = (1..100).map(entry).collect();
        let path = folder.join(format!("{number}.jsonl"));
        fs::write(path, session(number, "zanzibar") + &entries).unwrap();
    }
    Config::new(
        place.join("index"),
        vec![root("pi", "pi", &place.join("pi"))],
    )
}

#[test]
fn a_search_says_what_is_owed_and_only_paying_pays_it() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), 100);
    let mut index = Index::open(&config, Freshness::Check).unwrap();
    let search = |index: &Index| index.search("walrus", &SearchScope::default()).unwrap();
    let first = search(&index);
    assert_eq!(first.outstanding, 10_100);
    assert!(
        matches!(index.backlog_size().unwrap(), BacklogSize::Sync(bytes) if bytes >= first.outstanding_bytes)
    );
    // To search again, or to open again, pays nothing.
    assert_eq!(search(&index).outstanding, first.outstanding);
    let other = Index::open(&config, Freshness::Check).unwrap();
    assert_eq!(search(&other).outstanding, 10_100);
    // Little by little; what is left is told.
    let mut left = first.outstanding;
    while index.index_backlog(Duration::from_millis(200)).unwrap() != BacklogSize::Little {
        let now = search(&index);
        assert!(now.outstanding <= left, "{} of {left}", now.outstanding);
        assert_eq!((now.total, now.complete), (first.total, true));
        left = now.outstanding;
    }
    let paid = search(&index);
    assert!(paid.outstanding_bytes <= 128 << 10, "{paid:?}");
    assert_eq!((paid.total, paid.complete), (first.total, true));
    // Who opened it before sees that too.
    assert_eq!(search(&other).outstanding, paid.outstanding);
}

#[test]
fn a_search_is_ended_from_another_thread() {
    let place = tempfile::tempdir().unwrap();
    let mut config = config(place.path(), 40);
    let all = Cancel::default();
    config.cancel = all.clone();
    let index = Index::open(&config, Freshness::Check).unwrap();
    // All text is read for it.
    let query = "/number9[0-9]/";
    let ended_by = |cancel: &Cancel, scope: &SearchScope| {
        let (ask, asked) = channel::<()>();
        let (done, is_done) = channel();
        let cancel = cancel.clone();
        let other = std::thread::spawn(move || {
            asked.recv().unwrap();
            cancel.cancel();
            done.send(()).unwrap();
        });
        let mut begun = false;
        let answer = index.search_with(query, scope, &mut |event| {
            if matches!(event, Event::Scanned { .. }) && !begun {
                begun = true;
                ask.send(()).unwrap();
                is_done.recv().unwrap();
            }
        });
        other.join().unwrap();
        assert!(matches!(answer, Err(Error::Cancelled)), "{answer:?}");
    };
    let scope = SearchScope::default();
    ended_by(&scope.cancel, &scope);
    let again = index.search("walrus", &scope);
    assert!(matches!(again, Err(Error::Cancelled)), "{again:?}");
    // It was that search alone, and nothing is broken.
    let found = index.search(query, &SearchScope::default()).unwrap();
    assert_eq!((found.total, found.complete), (400, true));
    // Where the words are read too.
    Indexer::open(&Config {
        cancel: Cancel::default(),
        ..config.clone()
    })
    .unwrap()
    .sync()
    .unwrap();
    assert_eq!(
        index
            .search("walrus", &SearchScope::default())
            .unwrap()
            .total,
        3960
    );
    let ended = index.search("walrus", &scope);
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    ended_by(&all, &SearchScope::default());
}

/// Who says no moment asks now, not at the beginning of time.
#[test]
fn two_weeks_are_the_last_two() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), 0);
    let long_ago = (session(1, "zanzibar") + &message(1, "zanzibar")).replace("2026-", "2001-");
    fs::write(place.path().join("pi/--a--/one.jsonl"), long_ago).unwrap();
    let index = Index::open(&config, Freshness::Check).unwrap();
    for (query, total) in [("zanzibar since:2w", 0), ("zanzibar until:2w", 2)] {
        let scope = SearchScope::default();
        assert_eq!(index.search(query, &scope).unwrap().total, total, "{query}");
    }
}

/// Also when all that is shown is read, and the rest is being counted.
#[test]
fn a_search_is_ended_while_it_counts() {
    static CANCEL: LazyLock<Cancel> = LazyLock::new(Cancel::default);
    let place = tempfile::tempdir().unwrap();
    let index = Index::open(&config(place.path(), 1), Freshness::Check).unwrap();
    let scope = |cancel: Cancel| SearchScope {
        cancel,
        facets: true,
        exact: true,
        // Called where the only hit is cut to a snippet.
        mask: Some(Mask::new(|_| {
            CANCEL.cancel();
            None
        })),
        ..SearchScope::default()
    };
    let ended = index.search("zanzibar", &scope(CANCEL.clone()));
    assert!(matches!(ended, Err(Error::Cancelled)), "{ended:?}");
    let found = index.search("zanzibar", &scope(Cancel::default()));
    assert_eq!(found.unwrap().total, 1);
}

#[test]
fn sessions_are_listed_by_their_ids() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), 5);
    let index = Index::open(&config, Freshness::Check).unwrap();
    let all = index.list(&ListScope::default()).unwrap().sessions;
    let ids = |rows: &[sessionary::model::SessionRow]| {
        rows.iter().map(|row| row.id.clone()).collect::<Vec<_>>()
    };
    let of = |ids: &[&str]| {
        let listed = index.list(&ListScope {
            ids: Some(ids.iter().map(|id| (*id).to_owned()).collect()),
            limit: Some(2),
            ..ListScope::default()
        });
        listed.unwrap()
    };
    let wanted = [&*all[3].id, "is not there", &all[1].id, "' OR 1 --"];
    let some = of(&wanted);
    // In the order of the list, and only in it.
    assert_eq!(some.sessions, [all[1].clone(), all[3].clone()]);
    assert_eq!((some.total, some.elsewhere), (2, 0));
    let every: Vec<String> = ids(&all);
    let every: Vec<&str> = every.iter().map(String::as_str).collect();
    assert_eq!(of(&every).total, 5);
    assert_eq!(of(&[]).total, 0, "none is none");
}

/// What nobody can be told of now is not complete.
#[test]
fn a_list_with_text_says_what_it_lacks() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), 1);
    drop(Index::open(&config, Freshness::Check).unwrap());
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let scope = ListScope {
        with_text: true,
        ..ListScope::default()
    };
    assert!(index.list(&scope).unwrap().complete);
    let file = place.path().join("pi/--a--/0.jsonl");
    fs::write(&file, session(0, "zanzibar") + &message(1, "other")).unwrap();
    let listed = index.list(&scope).unwrap();
    assert!(!listed.complete, "{listed:?}");
    let mut written = Vec::new();
    let (list, _) = index
        .stream(|snapshot| snapshot.write_page(&snapshot.page(&scope)?, &mut written))
        .unwrap();
    assert!(!list.complete);
    assert_eq!(serde_json::to_vec(&listed).unwrap(), written);
}

/// As the last writer left it: not yet looked at, or not to its end.
#[test]
fn what_was_never_looked_at_as_a_whole_is_not_complete() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), 3);
    let is_complete = || {
        let index = Index::open(&config, Freshness::AsCommitted).unwrap();
        let answer = index.search("walrus", &SearchScope::default()).unwrap();
        assert_eq!(index.is_complete(), answer.complete);
        assert_eq!(
            index.list(&ListScope::default()).unwrap().complete,
            answer.complete
        );
        answer.complete
    };
    assert!(!is_complete(), "there is no index");
    let one = place.path().join("pi/--a--/0.jsonl");
    let mut indexer = Indexer::open(&config).unwrap();
    indexer.sync_files(&[one]).unwrap();
    assert!(!is_complete(), "of one file alone");
    indexer.sync_catalogue(&mut |_| {}).unwrap();
    assert!(is_complete());
}

/// One folder is one root, whatever its names and whoever names it.
#[cfg(unix)]
#[test]
fn a_folder_of_several_names_is_stored_once() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), 2);
    let folder = place.path().join("pi");
    std::os::unix::fs::symlink(&folder, place.path().join("link")).unwrap();
    let names = ["pi/", "./pi", "pi/--a--/..", "link", "link/", "pi"];
    let named = |name: &str| root("pi", "pi", &place.path().join(name));
    let project = place.path().join("link/../link");
    let all = Config {
        roots: names.map(named).to_vec(),
        project_roots: Some(Arc::new(move |_| vec![root("pi", "pi", &project)])),
        ..config.clone()
    };
    for config in [&all, &config, &all] {
        let index = Index::open(config, Freshness::Check).unwrap();
        let listed = index.list(&ListScope::default()).unwrap();
        assert_eq!((listed.total, index.config().roots.len()), (2, 1));
        assert_eq!(
            index
                .sql("SELECT path FROM _roots", &[])
                .unwrap()
                .rows
                .len(),
            1
        );
        clean(&index, "one root");
    }
    // Whoever writes a file may name it by any path.
    fs::write(folder.join("--a--/new.jsonl"), session(7, "quagga")).unwrap();
    let mut indexer = Indexer::open(&config).unwrap();
    let file = folder.join("--a--/../--a--/new.jsonl");
    assert_eq!(indexer.sync_files(&[file]).unwrap().files_changed, 1);
    drop(indexer);
    fs::remove_file(folder.join("--a--/new.jsonl")).unwrap();
    // What is no folder is not waited for.
    let mut make = std::process::Command::new("mkfifo");
    if make
        .arg(place.path().join("fifo"))
        .status()
        .is_ok_and(|made| made.success())
    {
        let fifo = place.path().join("fifo");
        let with_fifo = Config {
            project_roots: Some(Arc::new(move |_| vec![root("pi", "pi", &fifo)])),
            ..config.clone()
        };
        let index = Index::open(&with_fifo, Freshness::Check).unwrap();
        assert_eq!(index.list(&ListScope::default()).unwrap().total, 2);
    }
    // A relative one is that of the directory where the program runs.
    let relative = Config::new(place.path().join("other"), vec![named("pi")]);
    let up: PathBuf = std::env::current_dir()
        .unwrap()
        .components()
        .skip(1)
        .map(|_| "..")
        .collect();
    let path = up.join(folder.strip_prefix("/").unwrap());
    let spec = RootSpec {
        path,
        ..named("pi")
    };
    for roots in [vec![spec], relative.roots.clone()] {
        let index = Index::open(
            &Config {
                roots,
                ..relative.clone()
            },
            Freshness::Check,
        )
        .unwrap();
        assert_eq!(
            index
                .sql("SELECT path FROM _roots", &[])
                .unwrap()
                .rows
                .len(),
            1
        );
    }
}

/// What the index holds of folders that this program has not named is not told to it.
#[test]
fn an_id_names_no_entry_of_other_roots() {
    let place = tempfile::tempdir().unwrap();
    let ours = config(place.path(), 1);
    let theirs = root("pi", "pi", &place.path().join("theirs"));
    fs::create_dir_all(theirs.path.join("--b--")).unwrap();
    let line = message(1, "hush").replace("e0000001", "beef0001");
    fs::write(
        theirs.path.join("--b--/x.jsonl"),
        session(9, "hush") + &line,
    )
    .unwrap();
    let mut both = ours.clone();
    both.roots.push(theirs);
    let named = |config: &Config| {
        let index = Index::open(config, Freshness::Check).unwrap();
        let answer = index.search("beef0001", &SearchScope::default()).unwrap();
        (answer.named.len(), answer.named_total)
    };
    assert_eq!(named(&both), (1, 1));
    assert_eq!(named(&ours), (0, 0));
}

/// What somebody has removed stays removed.
#[test]
fn an_index_that_is_gone_is_not_made_again_to_be_paid() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), 20);
    let mut index = Index::open(&config, Freshness::Check).unwrap();
    let owed = index.backlog_size().unwrap();
    assert_ne!(owed, BacklogSize::Little);
    fs::remove_dir_all(&config.index_dir).unwrap();
    assert_eq!(index.index_backlog(Duration::ZERO).unwrap(), owed);
    assert!(!config.index_dir.exists());
}

/// Its index is in memory, and the words of another one are not its own.
#[test]
fn an_index_of_one_file_pays_for_no_other() {
    let place = tempfile::tempdir().unwrap();
    let config = config(place.path(), 20);
    let index = Index::open(&config, Freshness::Check).unwrap();
    let owed = index.backlog_size().unwrap();
    assert_ne!(owed, BacklogSize::Little);
    let file = place.path().join("pi/--a--/0.jsonl");
    let mut beside = Index::of_file(&config, &file).unwrap();
    assert_eq!(
        beside.index_backlog(Duration::ZERO).unwrap(),
        BacklogSize::Little
    );
    assert_eq!(index.backlog_size().unwrap(), owed);
    let found = beside.search("walrus", &SearchScope::default()).unwrap();
    assert_eq!((found.total, found.complete), (99, true));
}

/// An index may go to another thread; two threads at a time open one each.
#[test]
fn an_index_is_of_one_thread_at_a_time() {
    fn goes<T: Send>() {}
    fn is_shared<T: Send + Sync>() {}
    goes::<Index>();
    goes::<Indexer>();
    is_shared::<Config>();
    is_shared::<Cancel>();
    // Ambiguous, and no program, if it could be shared.
    trait IsShared<A> {
        fn is_not() {}
    }
    impl<T: ?Sized> IsShared<()> for T {}
    struct Shared;
    impl<T: ?Sized + Sync> IsShared<Shared> for T {}
    <Index as IsShared<_>>::is_not();
    <Snapshot<'_> as IsShared<_>>::is_not();
}

/// The library starts no process and looks at no variable: only the command does, and tests do.
#[test]
fn the_library_starts_nothing_and_reads_no_environment() {
    let project = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut read = 0;
    for source in ["src", "crates"] {
        let source = project.join(source);
        let files = walkdir::WalkDir::new(&source)
            .into_iter()
            .map(Result::unwrap);
        for file in files.filter(|file| file.path().extension().is_some_and(|of| of == "rs")) {
            let below = file.path().strip_prefix(&source).unwrap();
            // The commands of both programs, and tests.
            let other = ["cli", "team/src/cli", "team/tests", "fuzzing.rs"];
            if other.iter().any(|other| below.starts_with(other)) {
                continue;
            }
            let text = fs::read_to_string(file.path()).unwrap();
            let code = text
                .lines()
                .filter(|line| !line.trim_start().starts_with("//"));
            for line in code {
                let of_process = ["process::Command", "Command::new", "env::var", "dirs::"];
                for word in of_process {
                    assert!(!line.contains(word), "{}: {line}", below.display());
                }
            }
            read += 1;
        }
    }
    assert!(read > 200, "{read}");
}

/// The disk of whoever asks is full.
struct Full;

impl io::Write for Full {
    fn write(&mut self, _: &[u8]) -> io::Result<usize> {
        Err(io::ErrorKind::StorageFull.into())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn what_the_callers_own_writer_says_is_no_error_of_a_session() {
    let place = tempfile::tempdir().unwrap();
    let index = Index::open(&config(place.path(), 1), Freshness::Check).unwrap();
    let page = index
        .ask(|snapshot| snapshot.page(&ListScope::default()))
        .unwrap();
    let row = index
        .list(&ListScope::default())
        .unwrap()
        .sessions
        .remove(0);
    for told in [
        index.copy_raw(&row, None, &mut Full),
        index.copy_raw(&row, Some("L2"), &mut Full),
        index
            .stream(|snapshot| snapshot.copy_branch(&row, None, &mut Full))
            .map(drop),
        index
            .stream(|snapshot| snapshot.write_page(&page, &mut Full))
            .map(drop),
        index
            .stream(|snapshot| snapshot.write_page_lines(&page, &mut Full))
            .map(drop),
    ] {
        let Err(error) = &told else {
            panic!("it was written");
        };
        assert!(matches!(error, Error::Output { .. }), "{error:?}");
        let cause = std::error::Error::source(error).expect("a cause");
        let cause = cause.downcast_ref::<io::Error>().expect("of the system");
        assert_eq!(cause.kind(), io::ErrorKind::StorageFull);
    }
    // A file that cannot be read is another matter.
    fs::remove_file(&row.path).unwrap();
    let told = index.copy_raw(&row, None, &mut io::sink());
    assert!(
        !matches!(told, Ok(()) | Err(Error::Output { .. })),
        "{told:?}"
    );
}

#[test]
fn rows_of_sql_are_taken_until_the_taker_has_enough() {
    enum Mine {
        Enough,
        Index(Error),
    }
    impl From<Error> for Mine {
        fn from(error: Error) -> Mine {
            Mine::Index(error)
        }
    }
    let place = tempfile::tempdir().unwrap();
    let index = Index::open(&config(place.path(), 1), Freshness::Check).unwrap();
    let ask = |query: &str| {
        let mut rows = 0;
        let ended = index.sql_each(query, &[], None, &mut |part| match part {
            SqlPart::Row(_) if rows == 3 => Err(Mine::Enough),
            SqlPart::Row(_) => {
                rows += 1;
                Ok(())
            }
            _ => Ok(()),
        });
        (rows, ended.map(drop))
    };
    let (rows, ended) = ask("SELECT start FROM entries");
    assert!(rows == 3 && matches!(ended, Err(Mine::Enough)));
    let (_, ended) = ask("DELETE FROM entries");
    let Err(Mine::Index(error)) = ended else {
        panic!("it only reads");
    };
    assert_eq!(error.fault(), Some(StoreFault::Query));
}

#[test]
fn values_of_sql_are_given_beside_it_and_a_missing_one_is_a_fault_of_the_query() {
    let place = tempfile::tempdir().unwrap();
    let index = Index::open(&config(place.path(), 1), Freshness::Check).unwrap();
    let given =
        "SELECT ?1, typeof(?2), typeof(?3), typeof(?4), ?5, (SELECT sum(value) FROM json_each(?6))";
    let (quoted, all) = ("Ada's \"boat\"", json!([1, 2]));
    let values = [
        quoted.into(),
        7.into(),
        0.5.into(),
        json!(null),
        true.into(),
        all,
    ];
    let rows = index.sql(given, &values).unwrap().rows;
    assert_eq!(
        json!(rows),
        json!([[quoted, "integer", "real", "null", 1, 3]])
    );
    let id = &index.list(&ListScope::default()).unwrap().sessions[0].id;
    let named = "SELECT id FROM sessions WHERE id = ?";
    let rows = index.sql(named, &[id.as_str().into()]).unwrap().rows;
    assert_eq!(rows, [[json!(id)]]);
    for (query, values) in [
        (named, vec![]),
        (named, vec![json!(1), json!(2)]),
        ("SELECT 1", vec![json!(1)]),
        ("SELECT 1 LIMIT ?", vec![json!("many")]),
    ] {
        let error = index.sql(query, &values).unwrap_err();
        assert_eq!(error.fault(), Some(StoreFault::Query), "{error}");
        assert!(!error.to_string().contains("catalogue.sqlite"), "{error}");
    }
}
