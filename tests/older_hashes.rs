//! The numbers by which an older version knew files, folders and rows again may be other ones than
//! today's. What they are of is looked at again, and nothing is lost or there twice.

use rusqlite::Connection;

use crate::store::{Store, rows};

#[test]
fn what_is_known_by_other_numbers_is_looked_at_again() {
    for agent in ["agentuse", "codex"] {
        for case in Store::cases(agent) {
            let store = Store::of(agent, &case);
            let before = rows(&store.index());
            let catalogue = Connection::open(store.catalogue()).unwrap();
            catalogue
                .execute_batch(
                    "UPDATE _folders SET seal = seal + 1;
                     UPDATE _sources SET ctime_ns = ctime_ns + 1",
                )
                .unwrap();
            drop(catalogue);
            let when = format!("{agent}, {case}");
            store.check(&when);
            assert_eq!(rows(&store.index()), before, "{when}");
        }
    }
}
