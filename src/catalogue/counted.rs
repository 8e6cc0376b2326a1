//! Which of the copies of an answer counts?
//!
//! A fork, a clone and a copied file repeat the answers of the session that they came from. Each is
//! counted once, in the session that began first: so `usage` adds up to what was spent. It depends
//! on what the sessions say alone, not on the order in which they were read.
//!
//! It is decided at the end of the transaction in which rows of an answer come or go, once for all
//! of them. A row that comes counts until then, so that it is compared with the one that has
//! counted; all copies are compared only where that one goes, or its session began at another time.
//! Which of the records of one answer counts that stand near each other is known before they come
//! (see [`Answers`]), and where no other counts nothing has to be decided.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};

use rusqlite::{Connection, params};
use serde_json::json;

use super::error::Error;
use super::open::Catalogue;
use super::read::numbers;
use super::usage_row::UsageRow;
use super::usage_row::counted::{CALLS_ALONE, NO, YES};
use super::usage_row::what::{self, ANSWER, REPEATED, STEP};
use super::write::{ARRIVAL_BITS, key_range};

/// Copies of one answer agree in these; entries that each record what was known of an answer so far
/// agree in the first two. Of others that have an id a copy may lack the model.
fn same() -> String {
    format!(
        "u.response_id, CASE WHEN u.what = {REPEATED} OR u.response_id IS NULL THEN u.model END,
    CASE WHEN u.what <> {REPEATED} THEN u.input END,
    CASE WHEN u.what <> {REPEATED} THEN u.output END, CASE WHEN u.what <> {REPEATED} THEN u.cost_total END"
    )
}

/// What they are ordered by: the first one counts, and one of this machine before those that came
/// from others. Within a session the first of its sources by path has it, and there the first. One
/// file may be below the roots of two agents.
/// Of several that record what was known so far, the last of those with the most output.
fn order() -> String {
    format!(
        "r.host <> '', coalesce(s.created_ms, 1 << 62), s.path, r.agent, CASE WHEN u.what = {REPEATED} THEN -coalesce(u.output, 0) END,
    f.relative, CASE WHEN u.what = {REPEATED} THEN -e.start END, e.start ROWS UNBOUNDED PRECEDING"
    )
}

/// Whether a row counts, as `_usage.counted` says it. One window function: each goes over all rows
/// once.
fn counts() -> String {
    format!(
        "CASE WHEN u.key = first_value(u.key) OVER w THEN {YES}
    WHEN u.what = {REPEATED} AND u.key >> {ARRIVAL_BITS} = first_value(u.key) OVER w >> {ARRIVAL_BITS} THEN {CALLS_ALONE} ELSE {NO} END"
    )
}

/// The rows that are compared. Rows of a session that is not completely read are not among them:
/// they count once it is, and are invisible before.
fn ranked() -> String {
    format!(
        "_usage u JOIN _sessions s ON s.session = u.key >> {ARRIVAL_BITS} AND s.path <> '' JOIN _roots r USING (root)
    JOIN _entries e ON e.key = u.key JOIN _sources f ON f.source = e.source"
    )
}

/// What becomes of some rows.
#[derive(Debug, Clone, Copy)]
pub(super) enum RowChange {
    /// They were added, or their session is all in.
    Come,
    /// They are about to be removed.
    Go,
    /// Their session may have begun at another time, or they count where they did not.
    Move,
}

/// What has to be decided before the transaction ends: the hashes of usage (see
/// [`UsageRow::said`]), and whether all copies are compared or only those that count.
pub(super) type PendingCounts = BTreeMap<i64, bool>;

/// The answers of a chunk that several entries have records of: which of them counts so far, by
/// the hash of the usage. It is the one that would, were there no others.
#[derive(Default)]
pub(super) struct Answers(HashMap<i64, CountedRecord>);

struct CountedRecord {
    output: i64,
    /// Where its row says that it counts.
    place: usize,
}

impl Answers {
    /// Takes a record whose row says at `place` that it counts. Gives back where a row says so that
    /// does not: the calls of such a row count, its figures do not.
    pub(super) fn add(&mut self, usage: &UsageRow<'_>, place: usize) -> Option<usize> {
        if usage.what != what::REPEATED {
            return None;
        }
        let output = usage.usage.output.unwrap_or(0);
        let record = CountedRecord { output, place };
        match self.0.entry(usage.said) {
            Entry::Vacant(first) => {
                first.insert(record);
                None
            }
            Entry::Occupied(before) if output < before.get().output => Some(place),
            Entry::Occupied(mut before) => Some(before.insert(record).place),
        }
    }
}

/// clido's figures count from the start of its process: within a run they grow, and a fall is the
/// next run. What a turn cost is what they grew by.
pub(super) fn add_turns(
    c: &Connection,
    session: i64,
    first: i64,
    last: i64,
) -> rusqlite::Result<()> {
    c.prepare_cached(
        "INSERT INTO _usage (key, cost_total, what, said, time_ms, counted)
         SELECT key, cost - CASE WHEN before <= cost THEN before ELSE 0 END, ?4, hash, time_ms, ?5
         FROM (SELECT r.key, r.cost, e.hash, e.time_ms,
                      (SELECT p.cost FROM _runs p WHERE p.key BETWEEN ?3 AND r.key - 1 AND p.cost IS NOT NULL
                       ORDER BY p.key DESC LIMIT 1) AS before
               FROM _runs r JOIN _entries e USING (key)
               WHERE r.key BETWEEN ?1 AND ?2 AND r.cost IS NOT NULL)",
    )?
    .execute(params![
        first,
        last,
        key_range(session).0,
        what::TURN,
        YES
    ])?;
    Ok(())
}

impl Catalogue {
    /// A query for entries of these roots that count nowhere in them, because a copy in another
    /// root does, and would count if there were no other root: their `key`, and `counts` as in
    /// `_usage`. `None`: there are no sessions of other roots.
    pub(super) fn counted_elsewhere(&self, roots: &[i64]) -> Result<Option<String>, Error> {
        let roots = numbers(roots);
        let others = format!(
            "SELECT EXISTS (SELECT 1 FROM _roots r WHERE root NOT IN ({roots})
               AND EXISTS (SELECT 1 FROM _sessions s WHERE s.root = r.root))"
        );
        if !self.one(&others, [], |row| row.get::<_, bool>(0))? {
            return Ok(None);
        }
        let (counts, same, order) = (counts(), same(), order());
        // From sessions to their entries: the other way round every entry is read for each.
        let copies = format!(
            "SELECT key, counts FROM (
               SELECT u.key, {counts} AS counts
               FROM _sessions s CROSS JOIN _usage u INDEXED BY _usage_copies ON u.key BETWEEN s.session << {ARRIVAL_BITS} AND ((s.session + 1) << {ARRIVAL_BITS}) - 1
                 JOIN _roots r ON r.root = s.root JOIN _entries e ON e.key = u.key JOIN _sources f ON f.source = e.source
               WHERE s.path <> '' AND s.root IN ({roots}) AND u.counted = {NO}
                 AND NOT EXISTS (SELECT 1 FROM _usage c JOIN _sessions o ON o.session = c.key >> {ARRIVAL_BITS}
                                 WHERE c.said = u.said AND c.counted = {YES} AND o.path <> '' AND o.root IN ({roots}))
               WINDOW w AS (PARTITION BY u.said, {same} ORDER BY {order}))
             WHERE counts <> {NO}"
        );
        Ok(Some(copies))
    }

    /// Before the transaction ends, decide again which copy counts of each usage in these entries.
    pub(super) fn unsettle(
        &self,
        first: i64,
        last: i64,
        change: RowChange,
    ) -> rusqlite::Result<()> {
        let (which, other, all) = match change {
            // Of several records of one answer those that do not count are less than one that does.
            RowChange::Come => (
                format!("AND (a.what <> {REPEATED} OR a.counted = {YES})"),
                format!("AND (a.what <> {REPEATED} OR b.counted = {YES})"),
                false,
            ),
            // Where one goes that did not count, the one that does stays.
            RowChange::Go => (format!("AND a.counted = {YES}"), String::new(), true),
            RowChange::Move => (String::new(), String::new(), true),
        };
        let mut copied = self.connection.prepare_cached(&format!(
            "SELECT a.said, a.what = {REPEATED} FROM _usage a WHERE a.key BETWEEN ?1 AND ?2 {which}
               AND EXISTS (SELECT 1 FROM _usage b WHERE b.said = a.said AND b.key <> a.key {other})"
        ))?;
        let mut rows = copied.query([first, last])?;
        let mut unsettled = self.unsettled.borrow_mut();
        while let Some(row) = rows.next()? {
            // Of several records of one answer the one that counts says what the others are.
            *unsettled.entry(row.get(0)?).or_default() |= all || row.get(1)?;
        }
        Ok(())
    }

    /// Decide which copies count, for all usage that is pending.
    pub(super) fn settle(&self) -> rusqlite::Result<()> {
        let (all, counting): (PendingCounts, PendingCounts) =
            self.unsettled.take().into_iter().partition(|(_, all)| *all);
        let is_counting = format!("= {YES}");
        for (said, which) in [(all, "IS NOT NULL"), (counting, is_counting.as_str())] {
            if said.is_empty() {
                continue;
            }
            // One statement for all of them: beginning one costs more than comparing some rows.
            let (counts, ranked, same, order) = (counts(), ranked(), same(), order());
            let mut settle = self.connection.prepare_cached(&format!(
                "UPDATE _usage SET counted = w.counts
                 FROM (SELECT u.key, {counts} AS counts FROM {ranked}
                       WHERE u.said IN (SELECT value FROM json_each(?1)) AND u.counted {which}
                       WINDOW w AS (PARTITION BY u.said, {same} ORDER BY {order})) w
                 WHERE _usage.key = w.key AND _usage.counted <> w.counts RETURNING key"
            ))?;
            let said = json!(said.keys().collect::<Vec<_>>());
            let mut settled = settle.query([said.to_string()])?;
            while let Some(row) = settled.next()? {
                let key = row.get(0)?;
                self.touch(key, key);
            }
        }
        Ok(())
    }
}

impl Catalogue {
    /// agentuse writes tokens and cost both of a message and of its steps, which the message's own
    /// figures include. A message begins with zeros, which are no total yet; until they are
    /// replaced, its steps count.
    pub(super) fn settle_steps(&self, session: i64) -> rusqlite::Result<()> {
        let (first, last) = key_range(session);
        let (counting, stepped) = (counting(), stepped());
        for settle in [
            &format!(
                "UPDATE _usage SET counted = CASE WHEN w.counts THEN {YES} END FROM ({counting}) w
                 WHERE _usage.key = w.key AND (_usage.counted IS NOT NULL) <> w.counts RETURNING key"
            ),
            "DELETE FROM _stepped WHERE key BETWEEN ?1 AND ?2 RETURNING key",
            &format!("INSERT INTO _stepped {stepped} RETURNING key"),
        ] {
            let mut settle = self.connection.prepare_cached(settle)?;
            let mut settled = settle.query([first, last])?;
            while let Some(row) = settled.next()? {
                let key = row.get(0)?;
                self.touch(key, key);
            }
        }
        Ok(())
    }
}

/// Answers and steps, with the message that each is of, or is.
fn spent() -> String {
    format!(
        "SELECT u.*, u.what = {STEP} AS is_step, CASE WHEN u.what = {STEP} THEN e.parent ELSE e.id END AS message,
                0.0 + coalesce(u.input, 0) + coalesce(u.output, 0) + coalesce(u.cache_read, 0) + coalesce(u.cache_write, 0) AS tokens,
                coalesce(u.cost_total, 0) AS cost
         FROM _usage u JOIN _entries e USING (key) WHERE u.key BETWEEN ?1 AND ?2 AND u.what IN ({ANSWER}, {STEP})"
    )
}

/// Whether a row counts, if no copy of it does.
fn counting() -> String {
    format!(
        "SELECT key, NOT (is_step AND min(is_step) OVER (PARTITION BY key >> {ARRIVAL_BITS}, message) = 0) AS counts FROM ({})",
        spent()
    )
}

/// What `_stepped` must hold.
fn stepped() -> String {
    format!(
        "SELECT key, CASE WHEN own_tokens <> 0 THEN input ELSE coalesce(step_input, input) END AS input,
            CASE WHEN own_tokens <> 0 THEN output ELSE coalesce(step_output, output) END AS output,
            CASE WHEN own_tokens <> 0 THEN cache_read ELSE coalesce(step_cache_read, cache_read) END AS cache_read,
            CASE WHEN own_tokens <> 0 THEN cache_write ELSE coalesce(step_cache_write, cache_write) END AS cache_write,
            CASE WHEN own_tokens <> 0 THEN reasoning ELSE coalesce(step_reasoning, reasoning) END AS reasoning,
            CASE WHEN own_cost <> 0 THEN cost_total ELSE coalesce(step_cost, cost_total) END AS cost_total
     FROM (SELECT r.*, sum((1 - is_step) * tokens) OVER w AS own_tokens, sum((1 - is_step) * cost) OVER w AS own_cost,
                  sum(is_step * tokens) OVER w AS step_tokens,
                  CAST(sum(CASE WHEN is_step THEN 1.0 * input END) OVER w AS INTEGER) AS step_input,
                  CAST(sum(CASE WHEN is_step THEN 1.0 * output END) OVER w AS INTEGER) AS step_output,
                  CAST(sum(CASE WHEN is_step THEN 1.0 * cache_read END) OVER w AS INTEGER) AS step_cache_read,
                  CAST(sum(CASE WHEN is_step THEN 1.0 * cache_write END) OVER w AS INTEGER) AS step_cache_write,
                  CAST(sum(CASE WHEN is_step THEN 1.0 * reasoning END) OVER w AS INTEGER) AS step_reasoning,
                  sum(CASE WHEN is_step THEN cost_total END) OVER w AS step_cost
           FROM ({}) r WINDOW w AS (PARTITION BY r.key >> {ARRIVAL_BITS}, r.message))
     WHERE NOT is_step AND (own_tokens = 0 AND step_tokens <> 0 OR own_cost = 0 AND step_cost <> 0)",
        spent()
    )
}

impl Catalogue {
    /// How many answers are counted where they should not be, or the other way round (for
    /// `verify`).
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn wrongly_counted(&self) -> Result<u64, Error> {
        let (counts, ranked, same, order) = (counts(), ranked(), same(), order());
        let (counting, stepped) = (counting(), stepped());
        self.with(|c| {
            let copies: i64 = c.query_row(
                &format!(
                    "SELECT count(*) FROM (
                       SELECT u.counted, {counts} AS counts FROM {ranked} WHERE u.counted IS NOT NULL
                       WINDOW w AS (PARTITION BY u.said, {same} ORDER BY {order}))
                     WHERE counted <> counts"
                ),
                [],
                |r| r.get(0),
            )?;
            let turns = c.query_row(
                "SELECT count(*) FROM (SELECT entry AS key, cost FROM runs WHERE cost IS NOT NULL) r
                   FULL JOIN (SELECT key, cost_total, provider, model, response_id, input, output, cache_read, cache_write,
                                     reasoning, total, cost_input, cost_output, cost_cache_read, cost_cache_write, said, time_ms
                              FROM _usage WHERE what = ?1) u USING (key)
                   LEFT JOIN _entries e USING (key)
                 WHERE r.cost IS NOT u.cost_total OR u.said IS NOT e.hash OR u.time_ms IS NOT e.time_ms
                   OR coalesce(provider, model, response_id, input, output, cache_read, cache_write, reasoning, total,
                               cost_input, cost_output, cost_cache_read, cost_cache_write) IS NOT NULL",
                [what::TURN],
                |r| r.get::<_, i64>(0),
            )?;
            let steps: i64 = c.query_row(
                &format!(
                    "SELECT count(*) FROM ({counting}) w JOIN _usage u USING (key) JOIN _sessions s ON s.session = u.key >> {ARRIVAL_BITS}
                     WHERE s.path <> '' AND (u.counted IS NOT NULL) <> w.counts"
                ),
                [0, i64::MAX],
                |r| r.get(0),
            )?;
            let stepped: i64 = c.query_row(
                &format!(
                    "SELECT count(*) FROM (SELECT * FROM _stepped EXCEPT {stepped})
                     UNION ALL SELECT count(*) FROM ({stepped} EXCEPT SELECT * FROM _stepped)
                     ORDER BY 1 DESC LIMIT 1"
                ),
                [0, i64::MAX],
                |r| r.get(0),
            )?;
            let steps = steps + stepped;
            Ok(copies + turns + steps)
        })
        .map(i64::cast_unsigned)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    use super::*;
    use crate::catalogue::write::{Chunk, Entries, EntryRow, EntryRows};
    use crate::format::pi::Dialect;
    use crate::model::{Facts, Fold, Header, SourcePart, Usage};
    use crate::source::checkpoint::Proof;
    use crate::source::identity::Identity;
    use crate::source::root::RootSpec;

    /// An answer: its entry's id, its response's id, and its tokens.
    fn answer(id: u64, response: Option<&str>, input: i64) -> Facts {
        Facts {
            id: Some(format!("{id:08x}")),
            time_ms: Some(1_767_600_000_000),
            usage: Some(Usage {
                response_id: response.map(str::to_owned),
                input: Some(input),
                ..Usage::default()
            }),
            ..Facts::default()
        }
    }

    fn root(catalogue: &Catalogue, agent: &str) -> i64 {
        let spec = RootSpec {
            flat: true,
            ..RootSpec::new(agent, "/sessions")
        };
        catalogue.ensure_root(&spec).unwrap()
    }

    /// Add these to a session that began then: its source.
    fn add(
        catalogue: &Catalogue,
        root: i64,
        name: &str,
        created_ms: i64,
        answers: impl IntoIterator<Item = Facts>,
    ) -> i64 {
        let mut entries = EntryRows::default();
        for (at, facts) in answers.into_iter().enumerate() {
            entries.add(EntryRow {
                start: at as u64 * 100,
                length: 99,
                line: at as u64 + 1,
                hash: at as u64,
                flags: 0,
                row: None,
                taken_ms: None,
                facts,
            });
        }
        let shown = Fold {
            header: Some(Header {
                created_ms: Some(created_ms),
                ..Header::default()
            }),
            ..Fold::default()
        };
        let chunk = Chunk {
            gone_ms: None,
            root,
            relative: name.to_owned(),
            session_key: name.to_owned(),
            part: SourcePart::Main,
            unlisted: None,
            forget_from: None,
            moved: None,
            entries,
            problems: Vec::new(),
            length: 0,
            identity: Identity::default(),
            racy: false,
            unproven: false,
            revision: 0,
            consumed: 0,
            proof: Proof::default(),
            fold: Fold::default(),
            shown,
            turn: None,
            last: true,
            source_bytes: 0,
        };
        catalogue.apply(&chunk, &Dialect::PI).unwrap();
        let state = catalogue.source_state(root, name).unwrap();
        state.map(|state| state.known.source).unwrap()
    }

    fn within<T>(catalogue: &Catalogue, work: impl FnOnce() -> T) -> T {
        catalogue.begin().unwrap();
        let done = work();
        catalogue.commit().unwrap();
        assert_eq!(catalogue.wrongly_counted().unwrap(), 0);
        done
    }

    /// An empty catalogue, and how many steps SQLite has taken in it, about.
    fn counting() -> (Catalogue, Arc<AtomicU64>) {
        let mut catalogue = Catalogue::in_memory().unwrap();
        let steps = Arc::new(AtomicU64::new(0));
        let step = Arc::clone(&steps);
        let count = move || {
            step.fetch_add(10, Ordering::Relaxed);
            false
        };
        let connection = &mut catalogue.connection;
        connection.progress_handler(10, Some(count)).unwrap();
        (catalogue, steps)
    }

    fn paths(catalogue: &Catalogue) -> Vec<(String, String)> {
        let mut owners = catalogue
            .connection
            .prepare("SELECT u.agent, s.path FROM usage u JOIN _sessions s USING (session) ORDER BY 1, 2")
            .unwrap();
        let rows = owners.query_map([], |r| Ok((r.get(0)?, r.get(1)?)));
        rows.unwrap().collect::<Result<_, _>>().unwrap()
    }

    #[test]
    fn a_copy_costs_as_much_however_many_there_are() {
        let one_more = |copies: i64| {
            let (catalogue, steps) = counting();
            let root = root(&catalogue, "pi");
            let copy = |at: i64| {
                let answers = (0..50).map(|id| answer(id, None, 7));
                add(&catalogue, root, &format!("{at:04}.jsonl"), at, answers)
            };
            within(&catalogue, || (0..copies).map(copy).for_each(drop));
            steps.store(0, Ordering::Relaxed);
            catalogue.begin().unwrap();
            copy(copies);
            catalogue.commit().unwrap();
            steps.load(Ordering::Relaxed)
        };
        let (few, many) = (one_more(4), one_more(200));
        assert!(many < 2 * few, "{few} steps, then {many}");
    }

    #[test]
    fn copies_that_go_together_cost_as_much_as_they_are() {
        let all_go = |copies: i64| {
            let (catalogue, steps) = counting();
            let root = root(&catalogue, "pi");
            let copy = |at: i64| {
                let answers = (0..20).map(|id| answer(id, None, 7));
                add(&catalogue, root, &format!("{at:04}.jsonl"), at, answers)
            };
            let sources: Vec<i64> = within(&catalogue, || (0..=copies).map(copy).collect());
            steps.store(0, Ordering::Relaxed);
            catalogue.begin().unwrap();
            for source in &sources[..sources.len() - 1] {
                catalogue.remove_source(*source).unwrap();
            }
            catalogue.commit().unwrap();
            let steps = steps.load(Ordering::Relaxed);
            assert_eq!(catalogue.wrongly_counted().unwrap(), 0);
            let last = paths(&catalogue);
            assert_eq!(last.len(), 20);
            let name = format!("/sessions/{copies:04}.jsonl");
            assert!(last.iter().all(|(_, path)| *path == name), "{last:?}");
            steps / copies.cast_unsigned()
        };
        let (few, many) = (all_go(5), all_go(200));
        assert!(many < 2 * few, "{few} steps each, then {many}");
    }

    #[test]
    fn a_server_may_give_one_id_to_all_that_it_says() {
        let one_more = |answers: i64| {
            let (catalogue, steps) = counting();
            let root = root(&catalogue, "pi");
            let said = |at: i64| answer(at.cast_unsigned(), Some("chatcmpl-0"), at);
            within(&catalogue, || {
                add(&catalogue, root, "a.jsonl", 0, (0..answers).map(said))
            });
            steps.store(0, Ordering::Relaxed);
            catalogue.begin().unwrap();
            add(&catalogue, root, "b.jsonl", 1, [said(answers)]);
            catalogue.commit().unwrap();
            let more = steps.swap(0, Ordering::Relaxed);
            let records = "SELECT sum(records) FROM usage";
            let ask = catalogue.connection.query_row(records, [], |r| r.get(0));
            assert_eq!(ask, Ok(answers + 1));
            [
                more,
                steps.load(Ordering::Relaxed) / answers.cast_unsigned(),
            ]
        };
        let (few, many) = (one_more(50), one_more(1000));
        for (few, many) in few.into_iter().zip(many) {
            assert!(many < 2 * few, "{few} steps, then {many}");
        }
    }

    #[test]
    fn a_file_below_the_roots_of_two_agents_counts_for_one_whichever_was_read_first() {
        let counts = |agents: [&str; 2]| {
            let catalogue = Catalogue::in_memory().unwrap();
            for agent in agents {
                let root = root(&catalogue, agent);
                within(&catalogue, || {
                    add(&catalogue, root, "a.jsonl", 0, [answer(1, None, 7)])
                });
            }
            paths(&catalogue)
        };
        let one = vec![("indusagi".to_owned(), "/sessions/a.jsonl".to_owned())];
        assert_eq!(counts(["indusagi", "pi"]), one);
        assert_eq!(counts(["pi", "indusagi"]), one);
    }
}
