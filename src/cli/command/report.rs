//! What was spent, and on what?

mod page;
mod prices;
mod tools;

use std::io;

use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::{Value, json};
use sessionary::index::SpendingScope;
use sessionary::model::{SCHEMA_VERSION, Spending, SpendingBy, Spent};
use sessionary::{Config, Index};

use self::prices::{Prices, SOURCE};
use super::scope::ScopeArgs;
use crate::background::afterwards;
use crate::failure::{Failure, Outcome};
use crate::output::Screen;
use crate::output::csv;
use crate::output::spool::Spool;
use crate::output::style::Tone;
use crate::output::table::{Column, Table};
use crate::output::text::plain_line;
use crate::output::time::{count, money, number};

/// Columns of the longest bar.
const BAR: usize = 20;

/// Report what was spent, by day, project, model, agent or host, or which tools were called
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    sessionary report                              by day, all sessions\n  \
    sessionary report --by month --since 2026\n  \
    sessionary report --by model --project app\n  \
    sessionary report --by tool --since 2w         calls, and how many of them failed\n  \
    sessionary report --by week --csv > weeks.csv\n  \
    sessionary report --html > report.html         one page that loads nothing\n\n\
    The sessions of every directory count, and answers that forks repeat count once. COST is what\n\
    agents record with their answers. Where they record tokens alone, ESTIMATED is what these cost by a\n\
    table of prices, which may have differed on the day. The bar is of both; without a cost it is of\n\
    tokens. Days come in their order, everything else with the longest bar first. Days are those of\n\
    your time zone; a week is called by its Monday. --since and --until go by when an answer was given,\n\
    to a quarter of an hour; of tools by when they were called.\n\
    WHEN is 2h, 3d, 2w, 6mo, 1y, today, yesterday, last-week, 2026, 2026-10, 2026-10-05 or\n\
    2026-10-05T14:30.")]
pub struct ReportArgs {
    /// Add up by KEY
    #[arg(long, value_name = "KEY", default_value = "day")]
    by: By,
    #[command(flatten)]
    scope: ScopeArgs,
    /// Print CSV
    #[arg(long, conflicts_with_all = ["json", "html"])]
    csv: bool,
    /// Print an HTML page with bars, which loads nothing and runs nothing
    #[arg(long, conflicts_with = "json")]
    html: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum By {
    Day,
    Week,
    Month,
    Project,
    Model,
    Agent,
    Host,
    Tool,
}

impl From<By> for SpendingBy {
    fn from(by: By) -> Self {
        match by {
            // Of tools calls are added up, whatever the day.
            By::Day | By::Tool => Self::Day,
            By::Week => Self::Week,
            By::Month => Self::Month,
            By::Project => Self::Project,
            By::Model => Self::Model,
            By::Agent => Self::Agent,
            By::Host => Self::Host,
        }
    }
}

/// What is spent on something, and what is estimated of it.
#[derive(Serialize)]
struct Row<'a> {
    #[serde(flatten)]
    spent: &'a Spent,
    /// US dollars for the answers without a cost, as far as their models are priced.
    cost_estimated: Option<f64>,
}

/// What `report --json` prints.
#[derive(Serialize)]
struct Answer<'a> {
    schema_version: u32,
    by: SpendingBy,
    rows: Vec<Row<'a>>,
    total: Row<'a>,
    /// Where the estimates are from.
    prices: &'a str,
    complete: bool,
}

impl<'a> Answer<'a> {
    fn of(spending: &'a Spending, prices: &Prices) -> Self {
        let row = |spent: &'a Spent| Row {
            spent,
            cost_estimated: prices.estimate(spent),
        };
        let mut answer = Self {
            schema_version: SCHEMA_VERSION,
            by: spending.by,
            rows: spending.rows.iter().map(row).collect(),
            total: row(&spending.total),
            prices: SOURCE,
            complete: spending.complete,
        };
        if !spending.by.is_time() {
            let total = &answer.total;
            let weight = |row: &Row<'_>| weight(row, total);
            answer
                .rows
                .sort_by(|one, other| weight(other).total_cmp(&weight(one)));
        }
        answer
    }
}

pub fn run(args: &ReportArgs, config: &Config, screen: &Screen) -> Result<Outcome, Failure> {
    let scope = scope(args, config, screen)?;
    if args.by == By::Tool {
        return tools::run(args, &scope, config, screen);
    }
    let mut index = super::answerable(super::open(config, screen)?)?;
    let mut spending = index.ask(|snapshot| snapshot.spending(&scope))?;
    // Before they are priced: a model whose name holds a key has no price.
    screen
        .mask()
        .into_iter()
        .for_each(|mask| spending.mask(&mask));
    let prices = Prices::known();
    let answer = Answer::of(&spending, &prices);
    let is_found = spending.total.answers > 0;
    if screen.json {
        screen.json(&answer)?;
    } else if args.csv {
        let mut out = Spool::default();
        as_csv(&answer, &mut out)?;
        out.print()?;
    } else if args.html {
        let left_out = left_out(&answer, &prices);
        screen.print(&page::page(&answer, left_out.as_deref(), screen))?;
    } else if is_found {
        super::page(table(&answer, screen).into(), &mut index, screen)?;
    }
    say(&answer, &prices, &index, screen);
    screen.say_redacted();
    afterwards(&mut index, screen);
    Ok(Outcome::of(is_found))
}

fn scope(args: &ReportArgs, config: &Config, screen: &Screen) -> Result<SpendingScope, Failure> {
    let scope = args.scope.read(config, screen)?;
    Ok(SpendingScope {
        by: args.by.into(),
        agent: scope.agent,
        project: scope.project,
        since_ms: scope.since_ms,
        until_ms: scope.until_ms,
        zone: Some(screen.zone().clone()),
    })
}

/// What is not in the answer, for people.
fn say(answer: &Answer<'_>, prices: &Prices, index: &Index, screen: &Screen) {
    super::say_pending(screen, index, answer.complete, None);
    if screen.json {
        return;
    }
    if answer.total.spent.answers == 0 {
        screen.say("No answer in this range records tokens or a cost.");
    } else if let Some(said) = left_out(answer, prices) {
        screen.say(&said);
    }
}

/// How many answers record no cost, and what is estimated of them.
fn left_out(answer: &Answer<'_>, prices: &Prices) -> Option<String> {
    let total = answer.total.spent;
    let without: u64 = total.without_cost.iter().map(|of| of.answers).sum();
    if without == 0 {
        return None;
    }
    let share = 100.0 * without as f64 / total.answers as f64;
    let mut said = format!(
        "{} ({share:.0} %) record no cost.",
        count(without, "answer")
    );
    if answer.total.cost_estimated.is_some() {
        said.push_str(&format!(" Estimates are by the prices of {SOURCE}."));
    }
    let unknown = prices.unknown(total);
    if unknown > 0 {
        let unknown = count(unknown, "answer");
        said.push_str(&format!(" There is no price for {unknown}."));
    }
    Some(said)
}

/// What stands in the first column.
fn title(by: SpendingBy) -> &'static str {
    match by {
        SpendingBy::Day => "DAY",
        SpendingBy::Week => "WEEK",
        SpendingBy::Month => "MONTH",
        SpendingBy::Project => "PROJECT",
        SpendingBy::Model => "MODEL",
        SpendingBy::Agent => "AGENT",
        SpendingBy::Host => "HOST",
    }
}

/// What a row is called.
fn called(row: &Row<'_>, by: SpendingBy, screen: &Screen) -> String {
    match (&row.spent.key, by) {
        (Some(cwd), SpendingBy::Project) => screen.path(cwd.as_ref()),
        (Some(key), _) => plain_line(key),
        (None, SpendingBy::Host) => "(this machine)".to_owned(),
        (None, _) => "(not recorded)".to_owned(),
    }
}

/// How long a row's bar is: of costs, recorded or estimated, where there are any, else of tokens.
fn weight(row: &Row<'_>, total: &Row<'_>) -> f64 {
    match (total.spent.cost, total.cost_estimated) {
        (None, None) => row.spent.tokens.total.unwrap_or(0) as f64,
        _ => (row.spent.cost.unwrap_or(0.0) + row.cost_estimated.unwrap_or(0.0)).min(f64::MAX),
    }
}

/// Which part of the largest row each is.
fn shares<'a>(answer: &'a Answer<'_>) -> impl Iterator<Item = (&'a Row<'a>, f64)> {
    let weight = |row| weight(row, &answer.total).max(0.0);
    let most = answer.rows.iter().map(weight).fold(0.0, f64::max);
    let share = move |weight: f64| if most > 0.0 { weight / most } else { 0.0 };
    answer.rows.iter().map(move |row| (row, share(weight(row))))
}

fn table(answer: &Answer<'_>, screen: &Screen) -> String {
    let first = match answer.by {
        SpendingBy::Project => Column::path(title(answer.by)),
        by if by.is_time() => Column::text(title(by)),
        by => Column::long(title(by)),
    };
    let mut table = Table::new(&[
        first,
        Column::number("SESSIONS"),
        Column::number("ANSWERS"),
        Column::number("TOKENS"),
        Column::number("COST").where_any(),
        Column::number("ESTIMATED").where_any(),
        Column::bar(),
    ]);
    for (row, share) in shares(answer) {
        let bar = "▇".repeat((share * BAR as f64).round() as usize);
        table.row(cells(row, called(row, answer.by, screen), bar));
    }
    if answer.rows.len() > 1 {
        table.row(cells(&answer.total, "all".to_owned(), String::new()));
    }
    table.render(screen.style, screen.width)
}

fn cells(row: &Row<'_>, called: String, bar: String) -> Vec<(Tone, String)> {
    let plain = |text: String| (Tone::Plain, text);
    let spent = row.spent;
    vec![
        (Tone::Strong, called),
        plain(number(spent.sessions)),
        plain(number(spent.answers)),
        plain(spent.tokens.total.map(number).unwrap_or_default()),
        plain(spent.cost.map(money).unwrap_or_default()),
        (
            Tone::Quiet,
            row.cost_estimated.map(money).unwrap_or_default(),
        ),
        (Tone::Name, bar),
    ]
}

fn as_csv(answer: &Answer<'_>, out: &mut dyn io::Write) -> io::Result<()> {
    let first = title(answer.by).to_lowercase();
    let names = [
        first.as_str(),
        "sessions",
        "answers",
        "input",
        "output",
        "cache_read",
        "cache_write",
        "total",
        "cost",
        "cost_estimated",
        "answers_without_cost",
    ];
    csv::line(out, names.into_iter().map(Value::from))?;
    for row in &answer.rows {
        let (spent, tokens) = (row.spent, row.spent.tokens);
        let without: u64 = spent.without_cost.iter().map(|of| of.answers).sum();
        let values = [
            json!(spent.key.as_deref().map(csv::text)),
            json!(spent.sessions),
            json!(spent.answers),
            json!(tokens.input),
            json!(tokens.output),
            json!(tokens.cache_read),
            json!(tokens.cache_write),
            json!(tokens.total),
            json!(spent.cost),
            json!(row.cost_estimated),
            json!(without),
        ];
        csv::line(out, values.into_iter())?;
    }
    Ok(())
}
