//! What does the index answer to what is typed just now?

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use sessionary::index::{ListScope, SearchScope, Snapshot};
use sessionary::model::{Cancel, Mask, SessionRow};
use sessionary::syntax::{self, Alternative, FilterValue, Now};
use sessionary::{Config, Error, Freshness, Index, with_causes};

use super::latest::Latest;
use super::message::{Answer, Key, Message, Order, Place, Question, Reason, Row};
use super::pins::{self, PinsProblem};
use super::{may_panic, start_thread};
use crate::command::status::WHAT_TO_DO;
use crate::here::Here;
use crate::not_read;
use crate::output::Screen;
use crate::output::time::Clock;
use crate::places;

/// Rows among which the session is looked for, at most, on which the selection stands.
const MOST_TO_KEEP: usize = 1000;
/// What has changed in the index is asked for after so long, at most.
const MOST_REST: Duration = Duration::from_secs(2);

/// Answers questions until there are no more, and calls off what was to announce each answer.
pub fn start(
    questions: &Arc<Latest<Question>>,
    hints: &Arc<Latest<Question>>,
    config: &Config,
    here: Option<&Here>,
    screen: &Screen,
    tell: &Sender<Message>,
) {
    let (questions, hints, tell) = (Arc::clone(questions), Arc::clone(hints), tell.clone());
    let mut asker = Asker {
        config: config.clone(),
        here: here.cloned(),
        mask: screen.mask(),
        clock: screen.clock,
        pins: pins::file(&places::surroundings()),
        looked_in: looked_in(config, screen),
        index: None,
    };
    start_thread("picker-asks", move || {
        let mut rested = Instant::now();
        while let Some((mut question, cancel)) = questions.take() {
            // Where the index changes all the time, half of the time is left to others.
            let rest = rested.saturating_duration_since(Instant::now());
            let is_patient = question.reason == Reason::Changed;
            if is_patient && questions.is_called_off_within(rest) {
                continue;
            }
            may_panic("picker-asks");
            let began = Instant::now();
            let mut answer = match asker.answer(&mut question, &cancel) {
                // Another question is waiting.
                Err(Error::Cancelled) => continue,
                Ok(answer) => answer,
                Err(error) => Answer {
                    notes: vec![with_causes(&error)],
                    ..Answer::default()
                },
            };
            answer.question = question;
            answer.took = began.elapsed();
            rested = Instant::now() + answer.took.min(MOST_REST);
            if !cancel.is_cancelled() {
                hints.call_off();
            }
            if tell.send(Message::Answered(Box::new(answer))).is_err() {
                return;
            }
        }
    });
}

struct Asker {
    config: Config,
    here: Option<Here>,
    mask: Option<Mask>,
    clock: Clock,
    /// The file of the pins.
    pins: Option<PathBuf>,
    /// What is said where there is no session at all.
    looked_in: Vec<String>,
    /// As its last writer left it: [`super::news`] keeps it current.
    index: Option<Index>,
}

impl Asker {
    /// Answers a question, with as many rows as it takes to keep the selection.
    fn answer(&mut self, question: &mut Question, cancel: &Cancel) -> Result<Answer, Error> {
        // One that was opened before its first scan has ended never says that all is read.
        let is_whole = |index: &Index| index.is_made() && index.is_complete();
        let is_fresh = !self.index.as_ref().is_some_and(is_whole);
        if is_fresh {
            self.open()?;
        }
        match self.ask_and_keep(question, cancel) {
            // It was built anew meanwhile.
            Err(error) if !is_fresh && !matches!(error, Error::Cancelled) => {
                self.open()?;
                self.ask_and_keep(question, cancel)
            }
            answered => answered,
        }
    }

    fn ask_and_keep(&self, question: &mut Question, cancel: &Cancel) -> Result<Answer, Error> {
        let answer = self.ask(question, cancel)?;
        let Some(keep) = question.keep.clone() else {
            return Ok(answer);
        };
        let has = |answer: &Answer| answer.rows.iter().any(|row| row.key() == keep);
        if has(&answer) || !answer.has_more || self.is_gone(&keep)? {
            return Ok(answer);
        }
        let mut further = question.clone();
        while further.rows < MOST_TO_KEEP {
            further.rows = further.rows.saturating_mul(4).min(MOST_TO_KEEP);
            let answer = self.ask(&further, cancel)?;
            if has(&answer) {
                *question = further;
                return Ok(answer);
            }
            if !answer.has_more {
                break;
            }
        }
        Ok(answer)
    }

    /// Whether the index does not have it any more.
    fn is_gone(&self, (path, id): &Key) -> Result<bool, Error> {
        let Some(index) = &self.index else {
            return Ok(true);
        };
        let listing = index.list(&ListScope {
            ids: Some(vec![id.clone()]),
            ..ListScope::default()
        })?;
        // A copy of a session has its id.
        Ok(!listing.sessions.iter().any(|row| row.path == *path))
    }

    fn open(&mut self) -> Result<(), Error> {
        self.index = Some(Index::open(&self.config, Freshness::AsCommitted)?);
        Ok(())
    }

    fn ask(&self, question: &Question, cancel: &Cancel) -> Result<Answer, Error> {
        let Some(index) = &self.index else {
            return Ok(Answer::default());
        };
        let typed = syntax::parse_as_typed(&question.query, Now::utc(self.clock.now_ms()));
        let (pins, problem) = self.pinned();
        // One letter, or half a filter, asks for nothing yet.
        let asks_nothing = typed.alternatives == [Alternative::default()];
        let mut answer = match asks_nothing {
            true => Answer {
                notes: typed.notes,
                ..self.list(question, index, &pins)?
            },
            false => self.search(question, index, &typed.typed, cancel)?,
        };
        for row in &mut answer.rows {
            row.is_pinned = pins.contains(&row.key());
        }
        answer.notes.extend(problem);
        Ok(answer)
    }

    /// What is pinned, or why that is not known.
    fn pinned(&self) -> (HashSet<Key>, Option<String>) {
        let read = self.pins.as_deref().map_or(Ok(Vec::new()), pins::read);
        match read {
            Ok(pins) => (pins.into_iter().collect(), None),
            Err(PinsProblem::Damaged) => {
                let said = "what is pinned cannot be read: pins.json is damaged";
                (HashSet::new(), Some(said.to_owned()))
            }
            Err(PinsProblem::Unreadable(error)) => {
                (HashSet::new(), Some(format!("pins.json: {error}")))
            }
        }
    }

    /// Without a query: what is pinned, then the newest, those of this repository first.
    fn list(
        &self,
        question: &Question,
        index: &Index,
        pins: &HashSet<Key>,
    ) -> Result<Answer, Error> {
        let snapshot = index.snapshot()?;
        let all = ListScope {
            fold_subagents: true,
            mask: self.mask.clone(),
            limit: Some(question.rows + 1),
            ..ListScope::default()
        };
        let mut answer = Answer {
            total_exact: true,
            ..Answer::default()
        };
        let of_here = self.here.as_ref().map(|here| ListScope {
            at: here.scope(),
            ..all.clone()
        });
        let is_everywhere = question.place == Place::Everywhere || self.here.is_none();
        let everywhere = Some(&all).filter(|_| is_everywhere);
        answer.rows = pinned_rows(pins, of_here.as_ref(), everywhere, &snapshot)?;
        let mut known: HashSet<Key> = answer.rows.iter().map(Row::key).collect();
        if let Some(here) = of_here {
            let listing = snapshot.list(&ListScope {
                limit: Some(question.rows + 1 + known.len()),
                ..here
            })?;
            answer.total = listing.total;
            answer.all = listing.total + listing.elsewhere;
            answer.complete = listing.complete;
            let rows = listing.sessions.into_iter().map(here_row);
            let rows: Vec<Row> = rows.filter(|row| !known.contains(&row.key())).collect();
            known.extend(rows.iter().map(Row::key));
            answer.rows.extend(rows);
        }
        if is_everywhere {
            let missing = (question.rows + 1).saturating_sub(answer.rows.len());
            let listing = snapshot.list(&ListScope {
                limit: Some(missing + known.len()),
                ..all
            })?;
            (answer.total, answer.all) = (listing.total, listing.total);
            answer.complete = listing.complete;
            let others = listing.sessions.into_iter().map(row);
            let others = others.filter(|row| !known.contains(&row.key()));
            answer.rows.extend(others);
        }
        answer.has_more = answer.rows.len() > question.rows;
        answer.rows.truncate(question.rows);
        if answer.all == 0 && answer.complete {
            let others = not_read::others(&self.config);
            answer.not_found = others.iter().map(not_read::sentence).collect();
            answer.not_found.extend(self.looked_in.iter().cloned());
        }
        Ok(answer)
    }

    fn search(
        &self,
        question: &Question,
        index: &Index,
        filters: &[FilterValue],
        cancel: &Cancel,
    ) -> Result<Answer, Error> {
        let here = self.here.as_ref().filter(|_| question.place == Place::Here);
        let found = index.search(
            &question.query,
            &SearchScope {
                at: here.map(Here::scope).unwrap_or_default(),
                as_typed: true,
                newest_first: question.order == Order::Newest,
                limit: Some(question.rows),
                per_session: Some(1),
                // A fork is a session too, even where it only repeats.
                every_copy: true,
                now_ms: Some(self.clock.now_ms()),
                cancel: cancel.clone(),
                mask: self.mask.clone(),
                ..SearchScope::default()
            },
        )?;
        let filters = filters.iter();
        let filters = filters.map(|one| format!("{}:{}", one.field, one.value));
        let named: Vec<Row> = found
            .named
            .into_iter()
            .map(|named| row(named.session))
            .collect();
        let is_named = |row: &Row| named.iter().any(|named| named.key() == row.key());
        let groups = found.sessions.into_iter().map(|group| Row {
            hits: group.hits,
            ..row(group.session)
        });
        let groups: Vec<Row> = groups.filter(|row| !is_named(row)).collect();
        Ok(Answer {
            rows: named.into_iter().chain(groups).collect(),
            total: found.total_sessions,
            total_exact: found.total_exact,
            has_more: found.cursor.is_some(),
            complete: found.complete,
            unindexed: found.outstanding_bytes,
            notes: found.notes,
            filters: filters.collect(),
            ..Answer::default()
        })
    }
}

/// What helps where no session was found, and where was looked.
fn looked_in(config: &Config, screen: &Screen) -> Vec<String> {
    let mut places: Vec<String> = Vec::new();
    for root in &config.roots {
        let place = screen.path(&root.path);
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let mut said: Vec<String> = WHAT_TO_DO.lines().map(str::to_owned).collect();
    said.push(format!("Looked in {}", places.join(", ")));
    said
}

/// The sessions that are pinned, of this repository or of all; one that is gone is left out.
fn pinned_rows(
    pins: &HashSet<Key>,
    here: Option<&ListScope>,
    everywhere: Option<&ListScope>,
    snapshot: &Snapshot<'_>,
) -> Result<Vec<Row>, Error> {
    let mut rows: Vec<Row> = Vec::new();
    if pins.is_empty() {
        return Ok(rows);
    }
    let listed = |scope: &ListScope| {
        let mut ids: Vec<String> = pins.iter().map(|(_, id)| id.clone()).collect();
        ids.sort_unstable();
        ids.dedup();
        // A copy of a session has its id.
        let listing = snapshot.list(&ListScope {
            ids: Some(ids),
            limit: None,
            ..scope.clone()
        });
        let pinned = |row: &Row| pins.contains(&row.key());
        Ok::<_, Error>(listing?.sessions.into_iter().map(row).filter(pinned))
    };
    let is_here: HashSet<Key> = match here {
        Some(here) => listed(here)?.map(|row| row.key()).collect(),
        None => HashSet::new(),
    };
    for row in everywhere
        .or(here)
        .map(listed)
        .transpose()?
        .into_iter()
        .flatten()
    {
        rows.push(Row {
            is_here: is_here.contains(&row.key()),
            ..row
        });
    }
    Ok(rows)
}

/// A session of which nothing but itself was asked for.
pub fn row(session: SessionRow) -> Row {
    Row {
        session,
        hits: Vec::new(),
        is_here: false,
        is_pinned: false,
    }
}

fn here_row(session: SessionRow) -> Row {
    Row {
        is_here: true,
        ..row(session)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use sessionary::{Indexer, RootSpec};

    use super::*;

    /// Six sessions, the first the newest; the odd ones ran in `here`.
    fn asker(folder: &Path) -> Asker {
        let sessions = folder.join("pi/--w--");
        fs::create_dir_all(&sessions).expect("a folder");
        fs::create_dir_all(folder.join("here")).expect("a folder");
        for number in 0..6 {
            let cwd = if number % 2 == 1 { "here" } else { "elsewhere" };
            let cwd = folder.join(cwd);
            let at = format!("2026-01-0{}T09:00:00.000Z", 9 - number);
            let lines = [
                format!(
                    r#"{{"type":"session","version":3,"id":"s{number}","timestamp":"{at}","cwd":{cwd:?}}}"#
                ),
                format!(
                    r#"{{"type":"message","id":"a1","parentId":null,"timestamp":"{at}","message":{{"role":"user","content":"linker {number}"}}}}"#
                ),
            ];
            let file = sessions.join(format!("{number}.jsonl"));
            fs::write(file, lines.join("\n") + "\n").expect("a file");
        }
        let root = RootSpec::new("pi", folder.join("pi"));
        let config = Config::new(folder.join("index"), vec![root]);
        drop(Index::open(&config, Freshness::Check).expect("an index"));
        Asker {
            config,
            here: Some(Here::alone(folder.join("here"))),
            mask: None,
            clock: Clock(Some(0)),
            pins: Some(folder.join("pins.json")),
            looked_in: Vec::new(),
            index: None,
        }
    }

    fn ask(asker: &mut Asker, query: &str, place: Place, rows: usize) -> Answer {
        let mut question = Question {
            query: query.to_owned(),
            place,
            rows,
            ..Question::default()
        };
        let answered = asker.answer(&mut question, &Cancel::default());
        answered.expect("an answer")
    }

    #[test]
    fn what_is_recent_is_so_when_it_is_asked() {
        let folder = tempfile::tempdir().expect("a folder");
        let mut asker = asker(&folder.path().canonicalize().expect("a folder"));
        // An hour after the newest session, and three days after that.
        let noon: jiff::Timestamp = "2026-01-09T10:00:00Z".parse().expect("a moment");
        for (days, found) in [(0, "s0 s1"), (3, "")] {
            asker.clock = Clock(Some(noon.as_millisecond() + days * 86_400_000));
            let answer = ask(&mut asker, "linker since:2d", Place::Everywhere, 10);
            assert_eq!(shown(&answer), found);
        }
    }

    #[test]
    fn what_was_read_meanwhile_is_all_there() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a folder");
        let mut asker = asker(&folder);
        asker.config.index_dir = folder.join("another");
        let mut indexer = Indexer::open(&asker.config).expect("an index");
        let before = ask(&mut asker, "", Place::Everywhere, 10);
        assert_eq!((before.total, before.complete), (0, false));
        indexer.sync().expect("all is read");
        let after = ask(&mut asker, "", Place::Everywhere, 10);
        assert_eq!((after.total, after.complete), (6, true));
    }

    #[test]
    fn there_are_as_many_rows_as_it_takes_to_keep_the_selection() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a folder");
        let mut asker = asker(&folder);
        for (query, id, wanted, rows) in [
            // Six sessions; the third one is the first that does not fit.
            ("", "s1", "s1. s3.", 2),
            ("", "s5", "s1. s3. s5. s0 s2 s4", 8),
            ("linker", "s5", "s0 s1 s2 s3 s4 s5", 8),
            // It is there, and was not found.
            ("linker -4 -5", "s5", "s0 s1", 2),
            // It is gone: nothing is looked for.
            ("", "gone", "s1. s3.", 2),
        ] {
            let mut question = Question {
                query: query.to_owned(),
                rows: 2,
                order: Order::Newest,
                keep: Some((
                    folder.join(format!("pi/--w--/{}.jsonl", &id[1..])),
                    id.to_owned(),
                )),
                ..Question::default()
            };
            let answer = asker.answer(&mut question, &Cancel::default());
            assert_eq!(shown(&answer.expect("an answer")), wanted, "{query} {id}");
            assert_eq!(question.rows, rows, "{query} {id}");
        }
    }

    fn shown(answer: &Answer) -> String {
        let row = |row: &Row| {
            let pin = if row.is_pinned { "*" } else { "" };
            let here = if row.is_here { "." } else { "" };
            format!("{pin}{}{here}", row.session.id)
        };
        answer.rows.iter().map(row).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn pins_stand_first_while_nothing_is_typed() {
        let folder = tempfile::tempdir().expect("a folder");
        let folder = folder.path().canonicalize().expect("a folder");
        let mut asker = asker(&folder);
        let all = ask(&mut asker, "", Place::Everywhere, 10);
        assert_eq!(shown(&all), "s1. s3. s5. s0 s2 s4");
        let file = folder.join("pins.json");
        let key = |id: &str| {
            let mut rows = all.rows.iter();
            let row = rows.find(|row| row.session.id == id);
            row.map(Row::key).expect("it is listed")
        };
        let gone = (folder.join("pi/gone.jsonl"), "gone".to_owned());
        // It has the id of one that is there, and is another session.
        let copy = (folder.join("pi/copy.jsonl"), "s2".to_owned());
        pins::toggle(&[key("s4"), key("s5"), gone, copy], &file).expect("written");
        for (place, rows, wanted) in [
            (Place::Everywhere, 10, "*s4 *s5. s1. s3. s0 s2"),
            // They are older than all that fits, and nothing is there twice.
            (Place::Everywhere, 3, "*s4 *s5. s1."),
            (Place::Everywhere, 5, "*s4 *s5. s1. s3. s0"),
            (Place::Everywhere, 1, "*s4"),
            (Place::Here, 10, "*s5. s1. s3."),
            (Place::Here, 2, "*s5. s1."),
        ] {
            let answer = ask(&mut asker, "", place, rows);
            assert_eq!(shown(&answer), wanted, "{place:?} {rows}");
            let all = if place == Place::Here { 3 } else { 6 };
            assert_eq!(answer.has_more, rows < all);
            assert_eq!(answer.total, all as u64);
            assert!(answer.notes.is_empty(), "{:?}", answer.notes);
        }
        // What is found stands where its rank puts it.
        let found = ask(&mut asker, "linker", Place::Everywhere, 10);
        assert_eq!(found.rows.len(), 6);
        assert!(
            found
                .rows
                .iter()
                .all(|row| row.is_pinned == ["s4", "s5"].contains(&&*row.session.id))
        );
        fs::write(&file, "{").expect("damaged");
        let answer = ask(&mut asker, "", Place::Everywhere, 10);
        assert_eq!(shown(&answer), "s1. s3. s5. s0 s2 s4");
        assert!(
            answer.notes.iter().any(|note| note.contains("damaged")),
            "{:?}",
            answer.notes
        );
    }
}
