//! Which tables does the database have? Numbered files make them, each once, in one transaction.

use postgres::Client;
use sessionary::with_causes;

use super::failed;
use crate::error::Error;

/// In the order of their numbers. A file that was ever released is never changed.
const MIGRATIONS: [&str; 9] = [
    include_str!("../../../migrations/0001_ledger.sql"),
    include_str!("../../../migrations/0002_views.sql"),
    include_str!("../../../migrations/0003_catalogue.sql"),
    include_str!("../../../migrations/0004_contract.sql"),
    include_str!("../../../migrations/0005_numbers.sql"),
    include_str!("../../../migrations/0006_places.sql"),
    include_str!("../../../migrations/0007_sums.sql"),
    include_str!("../../../migrations/0008_parents.sql"),
    include_str!("../../../migrations/0009_largest.sql"),
];

/// Bring the tables up to date. Who may not do so uses them as they are, if they are up to date.
pub fn bring_up_to_date(client: &mut Client) -> Result<(), Error> {
    let newest = i32::try_from(MIGRATIONS.len()).unwrap_or(i32::MAX);
    match done(client)? {
        done if done == newest => return Ok(()),
        done if done > newest => {
            return Err(Error::refused(
                "the database was brought up to date by a newer version of this program",
                "install that version here too",
            ));
        }
        _ => {}
    }
    refuse_schema_of_another(client)?;
    migrate(client).map_err(|error| {
        let why = with_causes(&error);
        Error::refused(
            format!("the tables of the database are missing or old, and cannot be made: {why}"),
            "let a role that may create schemas and roles run `sessionary team init` once",
        )
    })
}

/// How many of them are done.
fn done(client: &mut Client) -> Result<i32, Error> {
    // Anything but a plain table might run what others wrote.
    let is_there = "SELECT has_schema_privilege(n.oid, 'USAGE'), current_database(),
            EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = n.oid
                AND relname = 'migrations' AND relkind = 'r' AND NOT relrowsecurity)
        FROM pg_namespace n WHERE nspname = 'sessionary'";
    match client.query_opt(is_there, &[]).map_err(failed)? {
        None => Ok(0),
        Some(row) if !row.get::<_, bool>(0) => Err(Error::refused(
            "this role may neither read nor write what is shared",
            format!(
                "GRANT \"sessionary_reader_{0}\" (or \"sessionary_writer_{0}\", or both) TO it",
                row.get::<_, String>(1)
            ),
        )),
        Some(row) if !row.get::<_, bool>(2) => Ok(0),
        Some(_) => {
            let count = "SELECT coalesce(max(number), 0) FROM sessionary.migrations";
            Ok(client.query_one(count, &[]).map_err(failed)?.get(0))
        }
    }
}

/// Whoever owns the schema may have put anything into it, which would run with the rights of the
/// role that brings it up to date.
fn refuse_schema_of_another(client: &mut Client) -> Result<(), Error> {
    let owner = "SELECT pg_get_userbyid(nspowner)::text FROM pg_namespace
        WHERE nspname = 'sessionary' AND pg_get_userbyid(nspowner) <> current_user";
    match client.query_opt(owner, &[]).map_err(failed)? {
        None => Ok(()),
        Some(row) => Err(Error::refused(
            "the schema sessionary of the database belongs to another role",
            format!(
                "run `sessionary team init` as {:?}, or drop the schema",
                row.get::<_, String>(0)
            ),
        )),
    }
}

fn migrate(client: &mut Client) -> Result<(), Error> {
    let mut transaction = client.transaction().map_err(failed)?;
    // One at a time: another one waits here, and finds all done.
    transaction
        .batch_execute(
            "SELECT pg_advisory_xact_lock(7314160023);
             CREATE SCHEMA IF NOT EXISTS sessionary;
             CREATE TABLE IF NOT EXISTS sessionary.migrations (
                 number integer PRIMARY KEY, done timestamptz NOT NULL DEFAULT now());
             GRANT SELECT ON sessionary.migrations TO PUBLIC",
        )
        .map_err(failed)?;
    let count = "SELECT coalesce(max(number), 0) FROM sessionary.migrations";
    let done: i32 = transaction.query_one(count, &[]).map_err(failed)?.get(0);
    for (number, sql) in (1..)
        .zip(MIGRATIONS)
        .skip(usize::try_from(done).unwrap_or(0))
    {
        transaction.batch_execute(sql).map_err(failed)?;
        let note = "INSERT INTO sessionary.migrations (number) VALUES ($1)";
        transaction.execute(note, &[&number]).map_err(failed)?;
    }
    transaction.commit().map_err(failed)
}
