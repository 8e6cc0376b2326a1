//! What does one thread answer, and by which index? Each has an index of its own, open from one
//! request to the next.

use std::path::Path;
use std::time::Duration;

use sessionary::index::{
    ListScope, NameScope, SearchScope, ShowScope, TitleMatch, TreeScope, caught_up,
};
use sessionary::model::{Cancel, SessionRow, Sort};
use sessionary::{Config, Error, Freshness, Index};

use super::first_look::FirstLook;
use super::params::{Bounds, List, Resume, Search, Show, Tree};
use crate::background::go_on;
use crate::command::address::{before_colon, bounded};
use crate::command::naming::MOST_CANDIDATES;
use crate::command::{current_directory, list, resume, show, tree};
use crate::failure::{Failure, Kind};
use crate::here::Here;
use crate::output::bounded::{Page, PageArgs};
use crate::output::cursor::question;
use crate::output::fields::Fields;
use crate::output::{SafeJson, Screen};
use crate::places;
use crate::rpc::ServedIndex;

/// A watcher that has not seen everything by then is busy: then the files are looked at here.
const PATIENCE: Duration = Duration::from_millis(50);

/// What every answerer asks by.
#[derive(Clone)]
pub struct Asker {
    served: ServedIndex,
    screen: Screen,
    first_look: FirstLook,
}

impl Asker {
    pub fn new(config: &Config, screen: &Screen, first_look: FirstLook) -> Self {
        Self {
            served: ServedIndex::new(config),
            screen: screen.clone(),
            first_look,
        }
    }
}

/// One thread's index, and how it is asked.
pub struct Answerer {
    asker: Asker,
    index: Option<Index>,
}

impl Answerer {
    pub fn new(asker: Asker) -> Self {
        Self { asker, index: None }
    }

    /// Sees to it that there is an index.
    pub fn made(&mut self) -> Result<(), Failure> {
        self.current(false).map(drop)
    }

    /// Which sessions there are, as `list --json` prints it.
    pub fn list(&mut self, asked: &List, cancel: &Cancel) -> Result<String, Failure> {
        let mut scope = self.list_scope(asked)?;
        let is_part = bounds(&asked.page).is_asked();
        // Where pages go on by a cursor, what earlier ones have shown comes before the limit.
        let limit = scope.limit.take_if(|_| is_part);
        let most = limit.unwrap_or(usize::MAX);
        self.ask(asked.page.as_committed, |index, _| {
            let snapshot = index.snapshot()?;
            let page = snapshot.page(&scope)?;
            if !is_part {
                let mut out = Vec::new();
                snapshot.write_page(&page, &mut SafeJson(&mut out))?;
                return Ok(String::from_utf8_lossy(&out).into_owned());
            }
            let flags = (asked.named, asked.only_live, asked.errors, asked.subagents);
            let places = (&asked.here, &asked.agent, &asked.project, &asked.model);
            let times = (&asked.since, &asked.until, asked.cost.map(f64::to_bits));
            let order = (asked.sort, asked.reverse, asked.with_text);
            let question = question(("list", flags, places, times, order, asked.offset));
            let mut bounded = page_of(&asked.page, question)?.of_items(most);
            let mut failed = Ok(());
            let list = snapshot.each_row(&page, |row| {
                if failed.is_ok() {
                    failed = bounded.offer(row);
                }
                go_on(cancel)
            })?;
            failed?;
            bounded.print(list.head(&scope), "sessions", |_| Vec::new())
        })
    }

    fn list_scope(&self, asked: &List) -> Result<ListScope, Failure> {
        let screen = self.screen();
        let here = asked.here.as_deref().map(around).transpose()?;
        let here = here.as_ref();
        let since = list::moment_called("since", "since", asked.since.as_deref(), &screen)?;
        let until = list::moment_called("until", "until", asked.until.as_deref(), &screen)?;
        Ok(ListScope {
            at: here.map(Here::scope).unwrap_or_default(),
            agent: list::known_agent(asked.agent.as_deref(), &self.asker.served.config())?,
            project: asked.project.as_deref().map(list::project),
            model: asked.model.clone(),
            ids: None,
            numbers: None,
            named: asked.named,
            only_live: asked.only_live,
            only_own: false,
            errors: asked.errors,
            cost: asked.cost,
            since_ms: since.since_ms,
            until_ms: until.until_ms,
            fold_subagents: !asked.subagents,
            sort: asked.sort.map_or(Sort::Agents, Sort::from),
            reverse: asked.reverse,
            with_text: asked.with_text,
            offset: asked.offset,
            limit: asked.limit.filter(|limit| *limit > 0),
            mask: screen.mask(),
        })
    }

    /// What was found, as `search --json` prints it.
    pub fn search(&mut self, asked: &Search, cancel: &Cancel) -> Result<String, Failure> {
        bounded("query", &asked.query)?;
        let screen = self.screen();
        let here = asked.here.as_deref().map(around).transpose()?;
        let here = here.as_ref();
        let scope = SearchScope {
            at: here.map(Here::scope).unwrap_or_default(),
            as_typed: asked.as_typed,
            newest_first: asked.newest,
            limit: (asked.limit > 0).then_some(asked.limit),
            now_ms: Some(screen.now_ms),
            exact: asked.exact,
            every_copy: asked.every_copy,
            only_live: asked.only_live,
            passages: asked.passages,
            context: asked.context,
            facets: asked.facets,
            explain: asked.explain,
            max_bytes: asked.page.max_bytes.filter(|most| *most > 0),
            cursor: asked.page.cursor.clone(),
            cancel: cancel.clone(),
            mask: screen.mask(),
            ..SearchScope::default()
        };
        self.ask(asked.page.as_committed, |index, _| {
            Ok(serde_json::to_string(&index.search(&asked.query, &scope)?)?)
        })
    }

    /// A transcript, as `show --json` prints it.
    pub fn show(&mut self, asked: &Show, cancel: &Cancel) -> Result<String, Failure> {
        bounded("address", &asked.address)?;
        self.ask(asked.page.as_committed, |index, screen| {
            let (session, entry) = addressed(index, &asked.address, cancel)?;
            let branch = asked.branch.as_deref();
            let branch =
                branch.map(|leaf| index.ask(|snapshot| snapshot.entry_named(&session, leaf)));
            let scope = ShowScope {
                entry,
                context: asked.context,
                branch: branch.transpose()?,
                all: asked.all,
                everything: false,
                mask: screen.mask(),
            };
            let (page, ..) = show::page(
                index,
                &session,
                &scope,
                &bounds(&asked.page),
                &Fields::ALL,
                &|| go_on(cancel),
            )?;
            Ok(page)
        })
    }

    /// A tree, as `tree --json` prints it.
    pub fn tree(&mut self, asked: &Tree, cancel: &Cancel) -> Result<String, Failure> {
        bounded("session", &asked.session)?;
        self.ask(asked.page.as_committed, |index, screen| {
            let session = named(index, &asked.session)?;
            let scope = TreeScope {
                filter: asked.filter.into(),
                mask: screen.mask(),
                cancel: cancel.clone(),
                ..TreeScope::default()
            };
            let bounds = bounds(&asked.page);
            let (page, ..) = tree::page(index, &session, scope, &bounds, &Fields::ALL)?;
            Ok(page)
        })
    }

    /// How its agent takes a session up again, as `resume --json` prints it.
    pub fn resume(&mut self, asked: &Resume) -> Result<String, Failure> {
        bounded("session", &asked.session)?;
        self.ask(asked.as_committed, |index, screen| {
            let mut session = named(index, &asked.session)?;
            if let Some(mask) = screen.mask() {
                session.mask(&mask);
            }
            Ok(serde_json::to_string(&resume::Answer::of(&session)?)?)
        })
    }

    /// What there is and how current it is, as `status --json` prints it.
    pub fn freshness(&mut self) -> Result<String, Failure> {
        self.ask(false, |index, _| {
            Ok(serde_json::to_string(&index.status()?)?)
        })
    }

    /// The screen of this moment.
    fn screen(&self) -> Screen {
        let mut screen = self.asker.screen.clone();
        screen.now_ms = screen.clock.now_ms();
        screen
    }

    /// Asks the index, and once more where it turned out to be damaged or was made anew.
    fn ask(
        &mut self,
        as_committed: bool,
        mut question: impl FnMut(&Index, &Screen) -> Result<String, Failure>,
    ) -> Result<String, Failure> {
        let screen = self.screen();
        let mut answer = question(self.current(as_committed)?, &screen);
        if let Err(failure) = &answer
            && (failure.is_damage() || failure.is_replaced())
        {
            self.index = None;
            answer = question(self.current(false)?, &screen);
        }
        let mut answer = answer?;
        answer.truncate(answer.trim_end().len());
        Ok(answer)
    }

    /// The index, which holds all that is on disk unless that is not asked for.
    fn current(&mut self, as_committed: bool) -> Result<&Index, Failure> {
        let served = &self.asker.served;
        if self.index.is_none() && !as_committed {
            self.asker.first_look.wait();
        }
        let config = served.config();
        let is_good = |index: &Index| {
            index.is_made()
                && (as_committed || index.is_complete() && caught_up(&config, PATIENCE).is_some())
        };
        if !self.index.as_ref().is_some_and(is_good) {
            let freshness = match as_committed {
                true => Freshness::AsCommitted,
                false => Freshness::Check,
            };
            self.index = Some(served.open(freshness)?);
        }
        self.index
            .as_ref()
            .ok_or_else(|| Failure::from(Error::NoIndex))
    }
}

fn bounds(page: &Bounds) -> PageArgs {
    PageArgs::of(page.max_bytes, page.cursor.clone())
}

fn page_of(page: &Bounds, question: u64) -> Result<Page<'static, SessionRow>, Failure> {
    static ALL: Fields = Fields::ALL;
    Page::new(&bounds(page), &ALL, question)
}

/// The repository around a directory that a client names.
fn around(directory: &Path) -> Result<Here, Failure> {
    if !directory.is_absolute() {
        let said = format!("here: {} is no absolute path", directory.display());
        return Err(Failure::usage(said));
    }
    Ok(Here::around(
        directory.to_path_buf(),
        &places::surroundings(),
    ))
}

/// The session that a client names: one of the catalogue, whatever else lies at a path.
fn named(index: &Index, name: &str) -> Result<SessionRow, Failure> {
    let scope = NameScope {
        last: None,
        titles: TitleMatch::Whole,
        cwd: current_directory().unwrap_or_default(),
    };
    let found = index.resolve(name, &scope);
    found.map_err(|error| with_candidates(error.into()))
}

/// With what names each of the sessions that were found: its id, or its path where others have
/// that id too.
fn with_candidates(failure: Failure) -> Failure {
    let all = failure.candidates().unwrap_or_default();
    let name = |row: &SessionRow| match all.iter().filter(|other| other.id == row.id).count() {
        1 => row.id.clone(),
        _ => row.path.display().to_string(),
    };
    let names: Vec<String> = all.iter().take(MOST_CANDIDATES).map(name).collect();
    let more = all.len() - names.len();
    let more = (more > 0).then(|| format!("and {more} more"));
    names.into_iter().chain(more).fold(failure, Failure::hint)
}

/// The session, and the entry behind a colon. A colon may belong to the name itself.
fn addressed(
    index: &Index,
    address: &str,
    cancel: &Cancel,
) -> Result<(SessionRow, Option<String>), Failure> {
    let whole = named(index, address);
    match &whole {
        Ok(row) if row.id != address => {}
        // Which one was meant may stand before a colon.
        Err(failure) if [Kind::NotFound, Kind::Ambiguous].contains(&failure.kind()) => {}
        _ => return Ok((whole?, None)),
    }
    let found = before_colon(address, cancel, |session| named(index, session))?;
    match found {
        Some((row, entry)) => {
            let entry = index.ask(|snapshot| snapshot.entry_named(&row, entry))?;
            Ok((row, Some(entry)))
        }
        None => Ok((whole?, None)),
    }
}
