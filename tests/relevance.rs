//! Is what somebody has in mind found first, with nothing indexed, nearly everything and
//! everything?

use sessionary::index::SearchScope;
use sessionary::{Config, Freshness, Index, Indexer, RootSpec};

#[path = "../benches/relevance.rs"]
mod judged;
#[path = "../benches/remembered.rs"]
mod remembered;

/// What the queries reached when this was written, less a little for what is a matter of taste.
const NDCG: f64 = 0.90;
const MRR: f64 = 0.90;
const AGREEMENT: f64 = 0.95;

#[test]
fn judged_queries_find_their_target() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions");
    judged::write(&sessions).unwrap();
    let config = |name: &str| {
        let root = RootSpec::new("pi", sessions.clone());
        Config::new(folder.path().join(name), vec![root])
    };
    let states = judged::States::make(&sessions, config).unwrap();
    for (state, index) in [
        ("nothing indexed", &states.nothing),
        ("nearly everything indexed", &states.nearly_all),
        ("everything indexed", &states.all),
    ] {
        let figures = judged::measure(index, |query, found| {
            eprintln!("{state}: {query}: {found:?}");
        });
        let figures = figures.unwrap();
        eprintln!("{state}: {figures:?}");
        assert!(figures.queries >= 60);
        assert!(
            figures.ndcg >= NDCG && figures.mrr >= MRR,
            "{state}: {figures:?}"
        );
    }
    // What is asked of them says whether it is to be.
    let exact = |index: &Index| {
        let answer = index.search("the body", &SearchScope::default()).unwrap();
        (answer.outstanding > 0, answer.order_exact)
    };
    assert_eq!(exact(&states.nothing), (true, false));
    assert_eq!(exact(&states.nearly_all), (true, true));
    assert_eq!(exact(&states.all), (false, true));
    let agreement = judged::agreement(&states.nearly_all, &states.all).unwrap();
    eprintln!("agreement: {agreement}");
    assert!(agreement >= AGREEMENT, "{agreement}");
}

/// What the ranking reached when this was written: MRR.
const REMEMBERED: [(remembered::Kind, f64); 4] = [
    (remembered::Kind::Whole, 0.90),
    (remembered::Kind::Three, 0.88),
    (remembered::Kind::Word, 1.0),
    (remembered::Kind::Artefact, 1.0),
];

#[test]
fn a_few_remembered_words_find_the_session() {
    let folder = tempfile::tempdir().unwrap();
    let sessions = folder.path().join("sessions");
    let queries = remembered::write(&sessions).unwrap();
    assert!(queries.len() >= 150);
    let root = RootSpec::new("pi", sessions);
    let config = Config::new(folder.path().join("index"), vec![root]);
    Indexer::open(&config).unwrap().sync().unwrap();
    let index = Index::open(&config, Freshness::AsCommitted).unwrap();
    let figures = remembered::measure(&index, &queries).unwrap();
    eprintln!("{figures:#?}");
    for (kind, mrr) in REMEMBERED {
        assert!(figures[&kind].mrr >= mrr, "{kind:?}: {:?}", figures[&kind]);
    }
}
