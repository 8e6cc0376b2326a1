//! Where was it said? Hits grouped by session.

use clap::Args;
use sessionary::index::SearchScope;
use sessionary::model::{Ranking, SearchAnswer, UnknownValue};
use sessionary::syntax;
use sessionary::{Config, Freshness, Index};

use crate::background::afterwards;
use crate::command::hit_fields as fields;
use crate::completing::values;
use crate::demo;
use crate::failure::{Failure, Outcome};
use crate::here::Here;
use crate::output::address::ShortAddresses;
use crate::output::bounded::PageArgs;
use crate::output::fields::FieldArgs;
use crate::output::progress::Progress;
use crate::output::text::{columns, fit, plain_line};
use crate::output::time::count;
use crate::output::{Screen, hits, quote};

/// Search everything that was said, thought, run and printed
#[derive(Debug, Args)]
#[command(after_help = "The language:
  tokenizer bug          sessions that contain them, even far apart; those with both come first
  +tokenizer bug         only sessions that contain tokenizer
  tokenizer AND bug      both words in one passage, in any order
  \"off by one\"           next to each other, also in paths and code: \"src/main.rs\"
  fold OR unfold         either, also fold | unfold; (a OR b) c groups
  -test, NOT test        not in that passage, also !test
  token*                 words that start with it
  tokenzier~             words one letter off
  C++, C#, .env          with their signs; $VAR finds VAR, and a note says so
  *midd*, *of the midd*  any part of the text (reads all text)
  /error\\[E\\d+\\]/        a regular expression, /…/i ignores case (reads all text)
Filters stand wherever words do, also negated with a minus: (role:user OR label:todo) webhook
Quote values that contain spaces; separate several with commas:
  agent: project: repo: host: cwd: root: session: name: model: provider: status:  which sessions
  role: kind: tool: file: label: is:error has:image                         which entries
  is:branch (not on the active branch)  is:named (sessions with a name)
  since: until: after: before: on:   2w, 3d, yesterday, last-week, monday, oct, 2026-10, 2026-10-05
What is no filter is searched as text: http://x, std::io, foo:bar. \\: does that for any filter.
What is half typed is read as far as it goes; a note tells what was left out or read as text.

Examples:
  sessionary search '\"off by one\" -test role:user'
  sessionary search --here --newest 'tool:bash is:error since:2w'
  sessionary search 'file:lexer.rs -is:branch'

Quote what the shell would interpret, and put -- before a word that starts with a hyphen.
System prompts and tool schemas are found only with kind:system.
`sessionary show ADDRESS` prints a hit in full, `sessionary resume SESSION` continues its session.
In JSON the highlights of a snippet are byte offsets into its UTF-8 text: start and end.")]
pub struct Search {
    /// Words, "phrases", filters; see below
    #[arg(required = true, value_name = "QUERY", add = values::query())]
    query: Vec<String>,
    /// Only sessions of this repository, as `list` takes it
    #[arg(short = 'H', long)]
    here: bool,
    /// Taken from who is used to `list --all`: it searches everywhere as it is
    #[arg(short, long, hide = true, conflicts_with_all = ["here", "dir"])]
    all: bool,
    /// Newest first instead of best first; of several words, the sessions that contain them all
    #[arg(short = 'N', long)]
    newest: bool,
    /// At most N hits; 0 for all
    #[arg(short = 'n', long, value_name = "N", default_value_t = 20)]
    limit: usize,
    /// Only the words as typed, without typos or other endings
    #[arg(short = 'x', long)]
    exact: bool,
    /// Also show entries that repeat the text of a hit
    #[arg(long)]
    every_copy: bool,
    /// Leave out archived sessions: those whose files are gone
    #[arg(long)]
    only_live: bool,
    /// Rank single passages instead of sessions; each must contain all of the words
    #[arg(long)]
    passages: bool,
    /// Show N entries before and after each hit, along its branch
    #[arg(short = 'C', long, value_name = "N", default_value_t = 0)]
    context: usize,
    /// Count the entries that match by agent, project, role and day
    #[arg(long, conflicts_with_all = ["jsonl", "tsv"])]
    facets: bool,
    /// Explain each hit's score
    #[arg(long)]
    explain: bool,
    /// Print one line of JSON per hit
    #[arg(long, conflicts_with_all = ["json", "tsv", "max_bytes", "cursor"])]
    jsonl: bool,
    #[command(flatten)]
    page: PageArgs,
    /// Redact keys and tokens, whatever is configured
    #[arg(long, conflicts_with = "reveal")]
    redact: bool,
    #[command(flatten)]
    fields: FieldArgs,
}

pub fn run(args: &Search, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    args.page.check(screen.json)?;
    let here = match args.here || screen.dir {
        true => Some(super::here(screen)?),
        false => None,
    };
    let query = args.query.join(" ");
    let mut scope = args.scope(here.as_ref(), screen);
    let mut progress = Progress::new();
    let event = &mut |event| progress.event(event);
    // What is wrong with the query is said before a look at the files, which may take minutes.
    let read = syntax::parse(&query, screen.now()).map_err(sessionary::Error::from)?;
    let selected = fields::of(&args.fields, screen.json || args.jsonl)?;
    scope.lengths = args.fields.are_asked().then(|| fields::lengths(&selected));
    let index = Index::open_with(config, Freshness::Check, event)?;
    let answer = index.search_with(&query, &scope, event)?;
    drop(progress);
    let mut index = super::answerable(super::opened(index, screen))?;
    let names = match screen.json {
        true => ShortAddresses::default(),
        false => ShortAddresses::of(&answer, &index)?,
    };
    match args.fields.are_asked() || args.jsonl {
        true => screen.print(&fields::printed(&answer, &selected, args.jsonl)?)?,
        false => args.print(&answer, &names, &mut index, screen)?,
    }
    screen.say_redacted();
    for note in &answer.notes {
        screen.say(&plain_line(note));
    }
    say_what_is_lacking(&answer, &index, screen);
    let place = SearchedPlace {
        here: here.as_ref(),
        has_filters: read.has_filters(),
    };
    screen.say(&summary(&query, &answer, place, screen));
    if !screen.json
        && let Some(next) = onward(&answer, &names, screen)
    {
        screen.say(&next);
    }
    if let Some(lack) = afterwards(&mut index, screen) {
        let rough = match answer.order_exact {
            true => "",
            false => " Until then their order is rough.",
        };
        screen.say(&format!("{lack}{rough}"));
    }
    let found = !answer.sessions.is_empty() || !answer.named.is_empty();
    if !found && !index.ask(|snapshot| snapshot.has_sessions())? {
        super::status::say_nothing(&index, screen)?;
    }
    super::leave(index);
    Ok(Outcome::of(found))
}

/// Says what the answer does not rest on.
fn say_what_is_lacking(answer: &SearchAnswer, index: &Index, screen: &Screen) {
    if answer.unverified > 0 {
        screen.say(&format!(
            "This answer is incomplete: {} of tool output with all the words would have to be read to be sure; --limit 0 reads them.",
            count(answer.unverified, "passage")
        ));
    }
    let is_read = answer.complete || answer.unverified > 0 && answer.pending_files == 0;
    let changed = &answer.changed_files;
    super::say_changed(screen, changed);
    // Those that changed are named; there may be more.
    let more = answer.pending_files.saturating_sub(changed.len() as u64);
    let is_said = !changed.is_empty() && more == 0 && index.is_complete();
    super::say_pending(screen, index, is_read || is_said, Some(more));
    super::say_links(screen, index);
    if let Some(damage) = &answer.words_damage {
        screen.say(&format!(
            "{}. All text was read instead. The words are rebuilt bit by bit, or at once by `sessionary sync`.",
            plain_line(damage)
        ));
    }
}

impl Search {
    /// Prints the answer. What is wrong with the settings is said, and noted in JSON that may have
    /// any length.
    fn print(
        &self,
        answer: &SearchAnswer,
        names: &ShortAddresses,
        index: &mut Index,
        screen: &Screen,
    ) -> Result<(), Failure> {
        if !screen.json {
            return super::page(printed(answer, names, screen).into(), index, screen);
        }
        let mut answer = answer.clone();
        if self.page.max_bytes().is_none() {
            answer.notes.extend_from_slice(screen.warnings());
        }
        screen.json(&answer)
    }

    /// What was typed, as the library takes it.
    fn scope(&self, here: Option<&Here>, screen: &Screen) -> SearchScope {
        SearchScope {
            at: here.map(Here::scope).unwrap_or_default(),
            newest_first: self.newest,
            limit: (self.limit > 0).then_some(self.limit),
            now_ms: Some(screen.now_ms),
            exact: self.exact,
            every_copy: self.every_copy,
            only_live: self.only_live,
            passages: self.passages,
            context: self.context,
            facets: self.facets,
            explain: self.explain,
            max_bytes: self.page.max_bytes(),
            cursor: self.page.cursor().map(str::to_owned),
            mask: match self.redact {
                true => Some(Screen::redacting()),
                false => screen.mask(),
            },
            ..SearchScope::default()
        }
    }
}

fn printed(answer: &SearchAnswer, names: &ShortAddresses, screen: &Screen) -> String {
    let named: String = answer
        .named
        .iter()
        .map(|named| hits::named(named, names, screen))
        .collect();
    let groups = answer
        .sessions
        .iter()
        .map(|group| hits::group(group, names, screen));
    let facets = answer
        .facets
        .iter()
        .map(|facets| hits::facets(facets, screen));
    let parts: Vec<String> = std::iter::once(named)
        .chain(groups)
        .chain(facets)
        .filter(|part| !part.is_empty())
        .collect();
    parts.join("\n")
}

/// Missing words that are named, at most.
const MOST_MISSING: usize = 5;

/// Where was searched.
#[derive(Clone, Copy)]
struct SearchedPlace<'a> {
    here: Option<&'a Here>,
    has_filters: bool,
}

impl SearchedPlace<'_> {
    /// What is said of a word that is not found there, and may be elsewhere.
    fn told(self) -> &'static str {
        match (self.has_filters, self.here) {
            (true, _) => " within the filters",
            (false, Some(_)) => " here",
            (false, None) => "",
        }
    }
}

/// How much there is, and what else could be asked.
fn summary(
    query: &str,
    answer: &SearchAnswer,
    place: SearchedPlace<'_>,
    screen: &Screen,
) -> String {
    let shown: usize = answer.sessions.iter().map(|group| group.hits.len()).sum();
    if shown == 0 {
        return nothing(query, answer, place, screen);
    }
    let (here, has_filters) = (place.here, place.has_filters);
    let place = here
        .map(|here| format!(" of {}", here.name(screen)))
        .unwrap_or_default();
    let most = if answer.total_exact { "" } else { "at most " };
    let matches = format!("{most}{}", count(answer.total, "match"));
    let sessions = format!("{most}{}", count(answer.total_sessions, "session"));
    let mut line = match answer.cursor {
        Some(_) => format!("{shown} of {matches}, in {sessions}{place}; --limit 0 shows all."),
        None if answer.ranking == Ranking::Sessions && (shown as u64) < answer.total => {
            format!("{matches} in {sessions}{place}, the best of each; --limit 0 shows all.")
        }
        None if answer.total_exact => format!("{matches} in {sessions}{place}."),
        // That there are no more was found by reading; how many copies there are was not counted.
        None if answer.unverified == 0 => {
            format!("{shown} of {matches}, in {sessions}{place}; there are no more.")
        }
        None => format!("{shown} of {matches}, in {sessions}{place}."),
    };
    if !answer.missing.is_empty() {
        // They may contain a word in a passage that the filters have left out.
        let left = if has_filters {
            " within the filters"
        } else {
            ""
        };
        let missing = missing(answer);
        line.push_str(&format!(" None of them contains {missing}{left}."));
    }
    if !answer.also.is_empty() {
        let also: Vec<String> = answer.also.iter().map(|word| plain_line(word)).collect();
        line.push_str(&format!(
            " Also searched: {}; --exact leaves them out.",
            also.join(", ")
        ));
    }
    if answer.named_total > answer.named.len() as u64 {
        let query = fit(&plain_line(query), 60);
        line.push_str(&format!(" {}", named(&query, answer)));
    }
    match (here, answer.elsewhere) {
        (Some(_), Some(elsewhere)) if elsewhere > 0 => {
            line.push_str(&there(elsewhere, answer));
        }
        (None, _) => line.push_str(" --here searches this repository or directory only."),
        _ => {}
    }
    line
}

/// The words that nothing contains, the first of them by name.
fn missing(answer: &SearchAnswer) -> String {
    let missing = answer.missing.iter().take(MOST_MISSING);
    let missing: Vec<String> = missing.map(|part| plain_line(part)).collect();
    let more = match answer.missing.len().saturating_sub(MOST_MISSING) {
        0 => String::new(),
        more => format!(", nor {}", count(more as u64, "other word")),
    };
    missing.join(", nor ") + &more
}

/// How much is elsewhere.
fn there(elsewhere: u64, answer: &SearchAnswer) -> String {
    let most = at_most(answer);
    format!(" {most}{elsewhere} more elsewhere, without --here.")
}

/// What stands before numbers that are upper bounds.
fn at_most(answer: &SearchAnswer) -> &'static str {
    if answer.counts_exact { "" } else { "at most " }
}

/// A value that nothing has, and those that there are, on a line of its own.
fn unknown(one: &UnknownValue) -> String {
    let what = match one.filter.as_str() {
        "role" | "kind" | "tool" | "label" | "file" => "entry",
        "status" => "entry or session",
        _ => "session",
    };
    let mut line = format!(
        "column {}: no {what} has {}:{}",
        one.column,
        one.filter,
        plain_line(&one.value)
    );
    if !one.known.is_empty() {
        let known: Vec<String> = one.known.iter().map(|value| plain_line(value)).collect();
        line.push_str(&format!("; known: {}", fit(&known.join(", "), 200)));
    }
    if let Some(suggestion) = &one.suggestion {
        line.push_str(&format!("; did you mean {}?", plain_line(suggestion)));
    }
    line.push('\n');
    line
}

/// How the first hit is read on, and its session taken up again.
fn onward(answer: &SearchAnswer, names: &ShortAddresses, screen: &Screen) -> Option<String> {
    let group = answer.sessions.first()?;
    let word = |name: &str| match name.starts_with('-') {
        true => format!("-- {}", quote::posix(name)),
        false => quote::posix(name),
    };
    let program = demo::program();
    let hit = names.address(&group.session, &group.hits.first()?.entry);
    let show = format!("{program} show {}", word(&hit));
    // No agent knows a session of the demo.
    if group.session.resume.is_none() || demo::runs() {
        return Some(format!("Next: {show}"));
    }
    let resume = format!("{program} resume {}", word(&names.session(&group.session)));
    let line = format!("Next: {show} · {resume}");
    Some(
        match screen.width.is_some_and(|width| columns(&line) > width) {
            true => format!("Next: {show}\n      {resume}"),
            false => line,
        },
    )
}

/// How many ids begin so.
fn named(query: &str, answer: &SearchAnswer) -> String {
    let (shown, all) = (answer.named.len() as u64, answer.named_total);
    match shown < all {
        true => {
            format!("{all} ids start with {query}; {shown} are shown, --limit 0 shows all.")
        }
        false => format!("{all} ids start with {query}."),
    }
}

/// Why nothing was found, and what would be.
fn nothing(
    query: &str,
    answer: &SearchAnswer,
    searched: SearchedPlace<'_>,
    screen: &Screen,
) -> String {
    let says_more = answer.missing.iter().any(|part| part != query.trim());
    let query = fit(&plain_line(query), 60);
    if !answer.named.is_empty() {
        return match answer.named_total {
            1 => format!("{query} is an id; no text contains it."),
            _ => format!("{} No text contains it.", named(&query, answer)),
        };
    }
    if answer.unverified > 0 {
        return format!("Nothing found for {query} in what was read.");
    }
    if answer.total > 0 {
        return "That was the last page.".to_owned();
    }
    let most = at_most(answer);
    let place = searched
        .here
        .map(|here| format!(" in {}", here.name(screen)))
        .unwrap_or_default();
    let unknown: String = answer.unknown.iter().map(unknown).collect();
    let mut line = format!("{unknown}Nothing found for {query}{place}.");
    let has_missing = !answer.missing.is_empty();
    let unit = match answer.ranking {
        Ranking::Sessions => "session",
        _ => "passage",
    };
    let left = searched.told();
    if says_more || has_missing && (searched.has_filters || answer.with_any.is_some()) {
        line.push_str(&format!(" No {unit}{left} contains {}.", missing(answer)));
    }
    if let Some(some) = answer.with_any.filter(|some| *some > 0) {
        let some = format!("{most}{}", count(some, "match"));
        line.push_str(&match has_missing {
            true => format!(" {some} contain the rest of it."),
            false => format!(" No {unit}{left} contains all of it; {some} contain some of it."),
        });
    }
    if let Some(without) = answer.without_filters.filter(|without| *without > 0) {
        line.push_str(&format!(
            " Without the filters: {most}{}.",
            count(without, "match")
        ));
    }
    if let Some(elsewhere) = answer.elsewhere.filter(|elsewhere| *elsewhere > 0) {
        line.push_str(&there(elsewhere, answer));
    }
    line
}
