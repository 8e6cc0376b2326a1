//! What does a program get that comes in by the library's front door?

use std::fs;
use std::path::Path;
use std::sync::mpsc::channel;
use std::time::Duration;

use sessionary::index::{Debt, Event, SearchScope, Snapshot};
use sessionary::{Cancel, Config, Error, Freshness, Index, Indexer};

use crate::histories::dump::root;
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
        matches!(index.words_debt().unwrap(), Debt::Sync(bytes) if bytes >= first.outstanding_bytes)
    );
    // To search again, or to open again, pays nothing.
    assert_eq!(search(&index).outstanding, first.outstanding);
    let other = Index::open(&config, Freshness::Check).unwrap();
    assert_eq!(search(&other).outstanding, 10_100);
    // Little by little; what is left is told.
    let mut left = first.outstanding;
    while index.pay(Duration::from_millis(200)).unwrap() != Debt::Little {
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
    .sync(&mut |_| {})
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
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let files = walkdir::WalkDir::new(&source)
        .into_iter()
        .map(Result::unwrap);
    let mut read = 0;
    for file in files.filter(|file| file.path().extension().is_some_and(|of| of == "rs")) {
        let below = file.path().strip_prefix(&source).unwrap();
        if below.starts_with("cli") || below == Path::new("fuzzing.rs") {
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
    assert!(read > 100, "{read}");
}
