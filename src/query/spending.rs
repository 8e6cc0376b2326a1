//! What was spent, by day, project, model, agent or host?

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

use jiff::ToSpan;
use jiff::civil::{Date, Weekday};

use super::Snapshot;
use super::page::is_of_project;
use crate::catalogue::spent::SpentRow;
use crate::error::Error;
use crate::model::{SCHEMA_VERSION, Spending, SpendingBy, Spent, Tokens, WithoutCost, Zone};

/// What is kept of times: quarters of an hour.
const QUARTER_MS: i64 = 900_000;

/// Times of which SQLite knows the day, so that the views have one.
const CALENDAR_MS: Range<i64> = -210_866_760_000_000..253_402_300_800_000;

/// Which answers are added up, and by what.
#[derive(Debug, Clone, Default)]
pub struct SpendingScope {
    /// By what.
    pub by: SpendingBy,
    /// Only of this agent.
    pub agent: Option<String>,
    /// Only of directories whose name contains it; a path means itself and everything below it.
    pub project: Option<String>,
    /// Only from the quarter of an hour on in which this time lies, ms.
    pub since_ms: Option<i64>,
    /// Only of quarters of an hour that begin before this time, ms.
    pub until_ms: Option<i64>,
    /// The time zone of days. `None`: that of [`Config::zone`](crate::Config::zone).
    pub zone: Option<Zone>,
}

impl Snapshot<'_> {
    /// What was spent in the sessions of the index's roots.
    ///
    /// # Errors
    /// When the catalogue cannot be read.
    pub fn spending(&self, scope: &SpendingScope) -> Result<Spending, Error> {
        let mut days = Days::new(scope.zone.as_ref().unwrap_or(&self.config().zone));
        let mut total = Sum::default();
        let mut sums: BTreeMap<Option<String>, Sum> = BTreeMap::new();
        self.catalogue.each_spent(&self.root_numbers()?, |row| {
            if scope.holds(&row) {
                total.add(&row);
                let key = days.key(scope.by, &row);
                sums.entry(key).or_default().add(&row);
            }
        })?;
        let rows = sums.into_iter().map(|(key, sum)| sum.spent(key));
        let mut rows: Vec<Spent> = rows.collect();
        if !scope.by.is_time() {
            rows.sort_by_key(|row| Reverse(row.tokens.total));
        }
        Ok(Spending {
            schema_version: SCHEMA_VERSION,
            by: scope.by,
            rows,
            total: total.spent(None),
            complete: self.is_complete(),
        })
    }
}

impl SpendingScope {
    fn holds(&self, row: &SpentRow<'_>) -> bool {
        let agent = self.agent.as_ref();
        let project = self.project.as_ref();
        agent.is_none_or(|agent| row.agent.eq_ignore_ascii_case(agent))
            && project.is_none_or(|project| is_of_project(row.cwd, project))
            && match row.quarter_ms {
                Some(at) => {
                    self.since_ms.is_none_or(|since| quarter(since) <= at)
                        && self.until_ms.is_none_or(|until| at < until)
                }
                None => self.since_ms.is_none() && self.until_ms.is_none(),
            }
    }
}

/// When the quarter of an hour began.
fn quarter(ms: i64) -> i64 {
    ms - ms.rem_euclid(QUARTER_MS)
}

/// The days of quarters of an hour, each looked up once.
struct Days<'a> {
    zone: &'a Zone,
    known: HashMap<i64, Option<String>>,
}

impl<'a> Days<'a> {
    fn new(zone: &'a Zone) -> Self {
        Self {
            zone,
            known: HashMap::new(),
        }
    }

    /// What a row has in common with others.
    fn key(&mut self, by: SpendingBy, row: &SpentRow<'_>) -> Option<String> {
        let known = match by {
            SpendingBy::Project => Some(row.cwd),
            SpendingBy::Model => row.model,
            SpendingBy::Agent => Some(row.agent),
            SpendingBy::Host => Some(row.host),
            SpendingBy::Day | SpendingBy::Week | SpendingBy::Month => {
                return self.time(by, row.quarter_ms?);
            }
        };
        known.filter(|text| !text.is_empty()).map(str::to_owned)
    }

    fn time(&mut self, by: SpendingBy, quarter_ms: i64) -> Option<String> {
        let zone = self.zone;
        let made = || {
            let day = CALENDAR_MS
                .contains(&quarter_ms)
                .then(|| zone.day(quarter_ms))??;
            match by {
                SpendingBy::Week => monday(&day),
                SpendingBy::Month => day.rsplit_once('-').map(|(month, _)| month.to_owned()),
                _ => Some(day),
            }
        };
        self.known.entry(quarter_ms).or_insert_with(made).clone()
    }
}

/// The Monday of a day's week.
fn monday(day: &str) -> Option<String> {
    let day: Date = day.parse().ok()?;
    let since = day.weekday().since(Weekday::Monday);
    Some(day.checked_sub(i64::from(since).days()).ok()?.to_string())
}

/// Answers that are being added up.
#[derive(Default)]
struct Sum {
    answers: u64,
    sessions: HashSet<i64>,
    tokens: Tokens,
    cost: Option<f64>,
    without_cost: BTreeMap<CostlessKey, (u64, Tokens)>,
}

/// What answers without a cost have in common.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct CostlessKey {
    provider: Option<String>,
    model: Option<String>,
    /// There are parts of the total, which have prices.
    has_parts: bool,
}

impl Sum {
    fn add(&mut self, row: &SpentRow<'_>) {
        self.answers += row.answers;
        self.sessions.insert(row.session);
        self.tokens.add(&row.tokens);
        if let Some(cost) = row.cost {
            // A file may claim any cost, and JSON knows no infinity.
            let cost = self.cost.unwrap_or(0.0) + cost;
            self.cost = Some(cost.clamp(f64::MIN, f64::MAX));
            return;
        }
        let key = CostlessKey {
            provider: row.provider.map(str::to_owned),
            model: row.model.map(str::to_owned),
            has_parts: row.tokens.has_parts(),
        };
        let (answers, tokens) = self.without_cost.entry(key).or_default();
        *answers += row.answers;
        tokens.add(&row.tokens);
    }

    fn spent(self, key: Option<String>) -> Spent {
        let without_cost = self.without_cost.into_iter();
        Spent {
            key,
            answers: self.answers,
            sessions: self.sessions.len() as u64,
            tokens: self.tokens,
            cost: self.cost,
            without_cost: without_cost
                .map(|(key, (answers, tokens))| WithoutCost {
                    provider: key.provider,
                    model: key.model,
                    answers,
                    tokens,
                })
                .collect(),
        }
    }
}
