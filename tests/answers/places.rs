//! Where does a hit stand in its session and in its file?

use std::collections::BTreeSet;

use serde_json::Value;
use sessionary::index::{SearchScope, ShowScope};
use sessionary::model::{BranchPlace, EntryPlace};

use super::{World, ask, entries, hits, said, scope, tree};

#[test]
fn a_hit_tells_its_place_and_what_is_beside_it() {
    tree().both(|index| {
        let answer = ask(
            index,
            "piston",
            &SearchScope {
                context: 1,
                ..scope()
            },
        );
        let found = hits(&answer);
        let place = |entry: &str| found.iter().find(|hit| hit.entry == entry).unwrap().place;
        assert_eq!(
            ["r", "a", "b", "c", "d", "e"].map(place),
            [
                BranchPlace::Compacted,
                BranchPlace::Abandoned,
                BranchPlace::Abandoned,
                BranchPlace::Compacted,
                BranchPlace::Active,
                BranchPlace::Active
            ]
            .map(Some)
        );
        let beside = |entry: &str| -> Vec<(&str, bool)> {
            let hit = found.iter().find(|hit| hit.entry == entry).unwrap();
            hit.context
                .iter()
                .map(|one| (one.entry.as_str(), one.after))
                .collect()
        };
        // Along the branch: c follows r, though a stands behind it in the file.
        assert_eq!(beside("r"), [("c", true)]);
        assert_eq!(beside("c"), [("r", false), ("d", true)]);
        assert_eq!(beside("a"), [("r", false), ("b", true)]);
        assert_eq!(beside("b"), [("a", false)]);
        // What is shown around an entry is what is found beside it.
        for hit in &found {
            let around = ShowScope {
                entry: Some(hit.entry.clone()),
                context: 1,
                ..ShowScope::default()
            };
            let shown = index.show(&answer.sessions[0].session, &around).unwrap();
            let shown: Vec<_> = shown.entries.iter().map(|one| one.id.as_str()).collect();
            let context = |after| hit.context.iter().filter(move |one| one.after == after);
            let before = context(false).map(|one| one.entry.as_str());
            let after = context(true).map(|one| one.entry.as_str());
            let both: Vec<_> = before.chain([hit.entry.as_str()]).chain(after).collect();
            assert_eq!(shown, both, "{}", hit.entry);
        }
        let branch = ask(index, "piston is:branch", &scope());
        assert_eq!(
            entries(&branch).into_iter().collect::<BTreeSet<_>>(),
            BTreeSet::from(["a", "b"])
        );
        assert_eq!(ask(index, "piston -is:branch", &scope()).total, 4);
    });
}

#[test]
fn a_hit_says_where_its_bytes_are_and_what_its_session_is_called() {
    let world = World::new(&[(
        "one",
        said(
            "one",
            &[
                "/clear".into(),
                "<skill name=\"x\">long</skill>\nFind the walrus".into(),
            ],
        ),
    )]);
    world.both(|index| {
        let answer = ask(index, "walrus", &scope());
        let group = &answer.sessions[0];
        assert_eq!(group.session.title, "Find the walrus");
        assert_eq!(group.session.first_message.as_deref(), Some("/clear"));
        assert_eq!(group.matches, None);
        let EntryPlace::Bytes {
            file,
            line: number,
            start,
            length,
        } = &group.hits[0].at
        else {
            panic!("{:?}", group.hits[0].at)
        };
        let bytes = std::fs::read(file).unwrap();
        let line = &bytes[*start as usize..(start + length) as usize];
        let entry: Value = serde_json::from_slice(line).unwrap();
        assert_eq!((entry["id"].as_str(), *number), (Some("one001"), 3));
    });
}
