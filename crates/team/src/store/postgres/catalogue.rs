//! How do the rows of the contract come into the database, and go?
//!
//! Rows are put as whole columns, a statement a table: the server copies nothing into tables with
//! row security. Sessions, sources and bundles get numbers of the database; within a session the
//! numbers of entries stay.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};

use postgres::types::ToSql;
use postgres::{Client, Transaction};
use sessionary::index::{Column, Table, Values};
use sessionary::model::ARRIVAL_BITS;

use super::failed;
use crate::error::Error;
use crate::rows::{BundleKey, Rows, integers};

/// The seals of the bundles of which a host has rows.
pub fn seals(client: &mut Client, host: &str) -> Result<BTreeMap<BundleKey, String>, Error> {
    let all = "SELECT agent, session, seal FROM sessionary_catalogue._bundles
        WHERE host = $1 AND owner = current_user";
    let rows = client.query(all, &[&host]).map_err(failed)?;
    let seals = rows.iter().map(|row| {
        let (agent, session) = (row.get(0), row.get(1));
        (BundleKey { agent, session }, row.get(2))
    });
    Ok(seals.collect())
}

/// Remove the rows of bundles.
pub fn forget<'a>(
    transaction: &mut Transaction<'_>,
    host: &str,
    keys: impl Iterator<Item = &'a BundleKey>,
) -> Result<(), Error> {
    let (agents, sessions): (Vec<&str>, Vec<&str>) =
        keys.map(|key| (&*key.agent, &*key.session)).unzip();
    let numbers = |transaction: &mut Transaction<'_>, asked: &str, of: &[i64]| {
        let rows = transaction.query(asked, &[&of]).map_err(failed)?;
        Ok::<Vec<i64>, Error>(rows.iter().map(|row| row.get(0)).collect())
    };
    let found = "DELETE FROM sessionary_catalogue._bundles WHERE host = $1
        AND (agent, session) IN (SELECT * FROM unnest($2::text[], $3::text[])) RETURNING bundle";
    let bundles = transaction.query(found, &[&host, &agents, &sessions]);
    let bundles = bundles.map_err(failed)?;
    let bundles: Vec<i64> = bundles.iter().map(|row| row.get(0)).collect();
    if bundles.is_empty() {
        return Ok(());
    }
    let gone = |table: &str, what: &str| {
        format!("DELETE FROM sessionary_catalogue.{table} WHERE bundle = ANY($1) RETURNING {what}")
    };
    let sessions = numbers(transaction, &gone("_sessions", "session"), &bundles)?;
    let sources = numbers(transaction, &gone("_sources", "source"), &bundles)?;
    numbers(transaction, &gone("_strays", "bundle"), &bundles)?;
    for (table, column, of) in [
        ("_session_sources", "session", &sessions),
        ("_problems", "source", &sources),
    ] {
        let gone = format!("DELETE FROM sessionary_catalogue.{table} WHERE {column} = ANY($1)");
        transaction.execute(&gone, &[of]).map_err(failed)?;
    }
    for table in [
        "_entries",
        "_calls",
        "_usage",
        "_stepped",
        "_runs",
        "_files",
        "_labels",
        "_compactions",
    ] {
        let gone = format!(
            "DELETE FROM sessionary_catalogue.{table} USING unnest($1::bigint[]) AS s (session)
             WHERE key BETWEEN (s.session << {ARRIVAL_BITS})
             AND ((s.session + 1) << {ARRIVAL_BITS}) - 1"
        );
        transaction.execute(&gone, &[&sessions]).map_err(failed)?;
    }
    Ok(())
}

/// Remove the rows of what no manifest of a host is of any more, however they came to stay.
pub fn forget_unnamed(transaction: &mut Transaction<'_>, host: &str) -> Result<(), Error> {
    let unnamed = "SELECT b.agent, b.session FROM sessionary_catalogue._bundles b
        WHERE b.host = $1 AND NOT EXISTS (SELECT FROM sessionary.sources s
            WHERE s.host = $1 AND s.agent = b.agent COLLATE \"C\"
            AND s.session = b.session COLLATE \"C\")";
    let rows = transaction.query(unnamed, &[&host]).map_err(failed)?;
    let keys: Vec<BundleKey> = rows.iter().map(super::key).collect();
    forget(transaction, host, keys.iter())
}

/// Put the rows of bundles in the place of those that are there.
pub fn put(transaction: &mut Transaction<'_>, host: &str, rows: &Rows) -> Result<(), Error> {
    forget(transaction, host, rows.bundles.iter().map(|of| &of.key))?;
    let numbers = Numbers::take(transaction, rows)?;
    let of = |one: fn(&crate::rows::Bundle) -> &str| rows.bundles.iter().map(one).collect();
    let (agents, sessions, seals): (Vec<&str>, Vec<&str>, Vec<&str>) = (
        of(|bundle| &bundle.key.agent),
        of(|bundle| &bundle.key.session),
        of(|bundle| &bundle.seal),
    );
    let add = "INSERT INTO sessionary_catalogue._bundles (host, bundle, agent, session, seal)
        SELECT $1, * FROM unnest($2::bigint[], $3::text[], $4::text[], $5::text[])";
    let values: [&(dyn ToSql + Sync); 5] = [&host, &numbers.bundles, &agents, &sessions, &seals];
    transaction.execute(add, &values).map_err(failed)?;
    rows.tables
        .iter()
        .try_for_each(|table| numbers.add(transaction, table))
}

/// The numbers that the database has for what has others here.
struct Numbers {
    bundles: Vec<i64>,
    /// By source: its bundle's number here, and its own there.
    sources: HashMap<i64, (usize, i64)>,
    sessions: HashMap<i64, (usize, i64)>,
    /// The bundles of files that are no sources.
    strays: Vec<Option<usize>>,
}

impl Numbers {
    fn take(transaction: &mut Transaction<'_>, rows: &Rows) -> Result<Numbers, Error> {
        let sources = bundles_by(rows, "_sources", "source");
        let of_source: HashMap<i64, usize> = sources.iter().copied().collect();
        let mut of_session: BTreeMap<i64, usize> = BTreeMap::new();
        if let Some(table) = rows.table("_session_sources") {
            let pairs = integers(table, "session")
                .iter()
                .zip(integers(table, "source"));
            let pairs = pairs.filter_map(|(session, source)| session.zip(*source));
            for (session, source) in pairs {
                if let Some(bundle) = of_source.get(&source) {
                    of_session.entry(session).or_insert(*bundle);
                }
            }
        }
        let count = rows.bundles.len() + sources.len() + of_session.len();
        let next = "SELECT number FROM sessionary_catalogue._take($1) number";
        let count = i32::try_from(count).unwrap_or(i32::MAX);
        let taken = transaction.query(next, &[&count]).map_err(failed)?;
        let mut taken = taken.iter().map(|row| row.get::<_, i64>(0));
        let bundles = taken.by_ref().take(rows.bundles.len()).collect();
        let sources = sources.into_iter().zip(taken.by_ref());
        let sources = sources.map(|((of, bundle), number)| (of, (bundle, number)));
        let sources = sources.collect();
        let sessions = of_session.into_iter().zip(taken);
        let sessions = sessions.map(|((of, bundle), number)| (of, (bundle, number)));
        let strays = rows.table("_strays");
        Ok(Numbers {
            bundles,
            sources,
            sessions: sessions.collect(),
            strays: strays.map_or_else(Vec::new, |table| rows.bundles_of(table)),
        })
    }

    /// What a number of this column is there; `None` of a column that is no number of something.
    fn number(&self, column: &str) -> Option<Box<dyn Fn(i64) -> Option<i64> + '_>> {
        let session = |of: i64| Some(self.sessions.get(&of)?.1);
        Some(match column {
            "session" => Box::new(session),
            "source" => Box::new(|of| Some(self.sources.get(&of)?.1)),
            "key" | "answer" => Box::new(move |key| {
                let within = key & ((1 << ARRIVAL_BITS) - 1);
                Some(session(key >> ARRIVAL_BITS)? << ARRIVAL_BITS | within)
            }),
            _ => return None,
        })
    }

    /// The bundle of each row, of tables whose rows say it.
    fn bundles_of(&self, table: &Table) -> Option<Vec<Option<i64>>> {
        let number = |bundle: usize| self.bundles.get(bundle).copied();
        let of = |column: &str, known: &HashMap<i64, (usize, i64)>| {
            let of_row = |of: &Option<i64>| number(known.get(&(*of)?)?.0);
            integers(table, column).iter().map(of_row).collect()
        };
        match table.name {
            "_sources" => Some(of("source", &self.sources)),
            "_sessions" => Some(of("session", &self.sessions)),
            "_strays" => Some(self.strays.iter().map(|of| number((*of)?)).collect()),
            _ => None,
        }
    }

    /// Put the rows of a table, but for those that are of no bundle.
    fn add(&self, transaction: &mut Transaction<'_>, table: &Table) -> Result<(), Error> {
        let mut columns: Vec<(&str, Cow<'_, Values>)> = Vec::new();
        if let Some(bundles) = self.bundles_of(table) {
            columns.push(("bundle", Cow::Owned(Values::Integers(bundles))));
        }
        for Column { name, values } in &table.columns {
            let mapped = match (values, self.number(name)) {
                (Values::Integers(numbers), Some(number)) => {
                    let mapped = numbers.iter().map(|of| of.and_then(&number));
                    Cow::Owned(Values::Integers(mapped.collect()))
                }
                _ => Cow::Borrowed(values),
            };
            columns.push((name, mapped));
        }
        let Some(stays) = stays(&columns) else {
            return Ok(());
        };
        let names: Vec<String> = columns
            .iter()
            .map(|(name, _)| format!("\"{name}\""))
            .collect();
        let kinds = columns.iter().enumerate().map(|(at, (_, values))| {
            let kind = match values.as_ref() {
                Values::Integers(_) => "bigint",
                Values::Reals(_) => "double precision",
                Values::Texts(_) => "text",
            };
            format!("${}::{kind}[]", at + 1)
        });
        let add = format!(
            "INSERT INTO sessionary_catalogue.{} ({}) SELECT * FROM unnest({})",
            table.name,
            names.join(", "),
            kinds.collect::<Vec<_>>().join(", ")
        );
        let values: Vec<Box<dyn ToSql + Sync + '_>> = columns
            .iter()
            .map(|(_, values)| sent(values, &stays))
            .collect();
        let values: Vec<&(dyn ToSql + Sync)> = values.iter().map(|of| &**of as _).collect();
        let added = transaction.execute(&add, &values);
        added.map(drop).map_err(failed)
    }
}

/// The bundle of each source.
fn bundles_by(rows: &Rows, table: &str, column: &str) -> Vec<(i64, usize)> {
    let Some(table) = rows.table(table) else {
        return Vec::new();
    };
    let bundles = rows.bundles_of(table);
    let rows = integers(table, column).iter().zip(bundles);
    rows.filter_map(|(of, bundle)| of.zip(bundle)).collect()
}

/// Which rows have all numbers that they need; `None`: not one.
fn stays(columns: &[(&str, Cow<'_, Values>)]) -> Option<Vec<bool>> {
    let mut stays: Vec<bool> = Vec::new();
    for (name, values) in columns {
        let (true, Values::Integers(numbers)) = (
            ["bundle", "session", "source", "key"].contains(name),
            values.as_ref(),
        ) else {
            continue;
        };
        stays.resize(numbers.len(), true);
        let both = stays.iter_mut().zip(numbers);
        both.for_each(|(stays, number)| *stays &= number.is_some());
    }
    stays.contains(&true).then_some(stays)
}

/// The values of the rows that stay, as they are sent.
fn sent<'a>(values: &'a Values, stays: &[bool]) -> Box<dyn ToSql + Sync + 'a> {
    match values {
        Values::Integers(all) => Box::new(only(all, stays, |of| *of)),
        Values::Reals(all) => Box::new(only(all, stays, |of| *of)),
        Values::Texts(all) => Box::new(only(all, stays, |of| of.as_deref().map(storable))),
    }
}

fn only<'a, T, S>(all: &'a [T], stays: &[bool], sent: impl Fn(&'a T) -> S) -> Vec<S> {
    let both = all.iter().zip(stays);
    both.filter(|(_, stays)| **stays)
        .map(|(value, _)| sent(value))
        .collect()
}

/// A text as PostgreSQL stores it, which has no NUL.
fn storable(text: &str) -> Cow<'_, str> {
    match text.contains('\0') {
        true => Cow::Owned(text.replace('\0', "\u{fffd}")),
        false => Cow::Borrowed(text),
    }
}
