//! A store that is a PostgreSQL database, version 15 or newer. The server decides who may read and
//! who may write: a row belongs to the role that wrote it, and nobody changes one.
//!
//! What is put at once is one transaction, and what a host has sent is asked of the server. So a
//! push that was killed, or whose server was, has sent whole batches, and the next one goes on.

mod address;
mod catalogue;
mod schema;
mod sql;

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error as _;

use postgres::fallible_iterator::FallibleIterator;
use postgres::types::ToSql;
use postgres::{Client, NoTls, Row, Transaction};
use sessionary::settings::Surroundings;
use tokio_postgres_rustls::MakeRustlsConnect;

use super::{
    BESIDE_MANIFEST, Batch, EachPart, LONGEST_MANIFEST, MOST_OF_MANIFESTS, Store, too_many,
};
use crate::block::{BlockId, MOST_PACKED};
use crate::error::{Error, Problem};
use crate::manifest::{Host, Manifest, Manifests, Place};
use crate::names::{check_agent, check_path};
use crate::rows::BundleKey;

/// Locks of the server that are of hosts of this program's, among those of other programs.
const HOST_LOCKS: i32 = 731_416;

/// The newest manifests of a host, up to the first one with which they are too many.
const NEWEST: &str = "
    WITH newest AS (
        SELECT DISTINCT ON (agent, path) agent, path, session, manifest,
            $4::bigint + octet_length(path) + octet_length(session)
                + least(octet_length(manifest), $2::bigint) AS bytes
        FROM sessionary.sources WHERE host = $1 ORDER BY agent, path, number DESC),
    summed AS (
        SELECT *, sum(bytes) OVER (ORDER BY agent, path ROWS UNBOUNDED PRECEDING) AS so_far
        FROM newest)
    SELECT agent, path, so_far <= $3::bigint AS is_read,
        CASE WHEN so_far <= $3 THEN session ELSE '' END AS session,
        CASE WHEN so_far <= $3 AND octet_length(manifest) <= $2
            THEN manifest ELSE '' END AS manifest
    FROM summed WHERE so_far - bytes <= $3 ORDER BY agent, path";

/// A database.
pub struct Postgres {
    client: Client,
}

impl Postgres {
    /// The store at this address, which is what follows `postgres:`. Its tables are made where they
    /// are missing and this role may make them. A file of passwords that is passed over is told to
    /// `say`, and why.
    ///
    /// # Errors
    /// When the address cannot be read, names a password, or the server cannot be reached.
    pub fn open(
        address: &str,
        surroundings: &Surroundings,
        say: &dyn Fn(&str),
    ) -> Result<Postgres, Error> {
        let config = address::config(address, surroundings, say)?;
        let client = match config.get_ssl_mode() {
            postgres::config::SslMode::Disable => config.connect(NoTls),
            _ => config.connect(tls()?),
        };
        let mut client = client.map_err(failed)?;
        // Whatever the server's defaults are: these transactions go on beside others, and one whose
        // program has gone without a word does not hold up the next one of its host for hours. A
        // batch that is on its way over a slow line takes minutes.
        let settings = "SET default_transaction_isolation = 'read committed';
            SET idle_in_transaction_session_timeout = '15min'";
        client.batch_execute(settings).map_err(failed)?;
        schema::bring_up_to_date(&mut client)?;
        Ok(Postgres { client })
    }

    /// A transaction in which nobody else writes in the place of this host: two that put the rows
    /// of one session at once would not see each other's, and both would stay.
    fn begin(&mut self, host: &str) -> Result<Transaction<'_>, Error> {
        let mut transaction = self.client.transaction().map_err(failed)?;
        let alone = "SELECT pg_advisory_xact_lock($1, hashtext($2))";
        let locked = transaction.execute(alone, &[&HOST_LOCKS, &host]);
        locked.map_err(failed)?;
        Ok(transaction)
    }
}

/// Encrypted, with the certificates that the system trusts.
fn tls() -> Result<MakeRustlsConnect, Error> {
    // Another part of the process may have chosen one: then it is that.
    let _ = rustls::crypto::ring::default_provider().install_default();
    match MakeRustlsConnect::with_native_certs() {
        Ok((tls, _)) => Ok(tls),
        Err(why) => Err(Error::refused(
            format!("this system has no certificates that could be read: {why:?}"),
            "install them (Debian: ca-certificates)",
        )),
    }
}

/// What the server, or the way to it, said.
fn failed(error: postgres::Error) -> Error {
    let mut why = error.to_string();
    let code = error.code().map(|code| code.code().to_owned());
    if let Some(said) = error.as_db_error() {
        why = format!("{} ({})", said.message(), said.code().code());
    } else if let Some(cause) = error.source() {
        why = format!("{why}: {cause}");
    }
    Error::Database { why, code }
}

impl Store for Postgres {
    fn hosts(&mut self) -> Result<Vec<String>, Error> {
        let rows = self
            .client
            .query("SELECT host FROM sessionary.hosts ORDER BY 1", &[]);
        let names = rows.map_err(failed)?.into_iter().map(|row| row.get(0));
        Ok(names
            .filter(|name: &String| crate::names::check_host(name).is_ok())
            .collect())
    }

    fn has(&mut self, host: &str) -> Result<bool, Error> {
        let is_there = "SELECT FROM sessionary.hosts WHERE host = $1";
        let found = self.client.query_opt(is_there, &[&host]);
        Ok(found.map_err(failed)?.is_some())
    }

    fn is_taken(&mut self, host: &Host) -> Result<bool, Error> {
        let other = "SELECT FROM sessionary.hosts
            WHERE host = $1 AND (id <> $2 OR owner <> current_user)";
        let found = self.client.query_opt(other, &[&host.host, &host.id]);
        Ok(found.map_err(failed)?.is_some())
    }

    fn claim(&mut self, host: &Host) -> Result<(), Error> {
        let version = host.version.cast_signed();
        let add = "INSERT INTO sessionary.hosts (host, id, version) VALUES ($1, $2, $3)
            ON CONFLICT DO NOTHING";
        self.client
            .execute(add, &[&host.host, &host.id, &version])
            .map_err(failed)?;
        let own = "SELECT FROM sessionary.hosts
            WHERE host = $1 AND id = $2 AND owner = current_user";
        let found = self
            .client
            .query_opt(own, &[&host.host, &host.id])
            .map_err(failed)?;
        found
            .map(drop)
            .ok_or_else(|| super::name_is_taken(&host.host))
    }

    fn manifests(&mut self, host: &str) -> Result<Option<Manifests>, Error> {
        if !self.has(host)? {
            return Ok(None);
        }
        let [most, of_all, beside] = [LONGEST_MANIFEST, MOST_OF_MANIFESTS, BESIDE_MANIFEST]
            .map(|of| i64::try_from(of).unwrap_or(i64::MAX));
        let values: [&(dyn ToSql + Sync); 4] = [&host, &most, &of_all, &beside];
        let mut found = Manifests::default();
        // One at a time: of what may not be used no more than that is held.
        let mut rows = self.client.query_raw(NEWEST, values).map_err(failed)?;
        while let Some(row) = rows.next().map_err(failed)? {
            if !row.get::<_, bool>("is_read") {
                found.problems.push(too_many(host));
                break;
            }
            let (agent, path): (String, String) = (row.get("agent"), row.get("path"));
            let place = Place { agent, path };
            match checked(row.get("manifest"), host, &place) {
                Ok(manifest) => drop(found.files.insert(place, manifest)),
                Err(why) => {
                    // What it is called somebody else has written.
                    let named = check_agent(&place.agent).and_then(|()| check_path(&place.path));
                    let name = named.map_or_else(|_| place.name(), |()| place.to_string());
                    let what = format!("{host}: manifest {name}");
                    found.problems.push(Problem::new(what, why));
                    let bundle = BundleKey {
                        agent: place.agent.clone(),
                        session: row.get("session"),
                    };
                    found.unread.insert(place, bundle);
                }
            }
        }
        Ok(Some(found))
    }

    fn packed(
        &mut self,
        host: &str,
        ids: &[&BlockId],
    ) -> Result<BTreeMap<BlockId, Vec<u8>>, Error> {
        let these = "SELECT id, packed FROM sessionary.blocks
            WHERE host = $1 AND id = ANY($2) AND octet_length(packed) <= $3";
        let ids: Vec<&str> = ids.iter().map(|id| id.as_str()).collect();
        let most = i32::try_from(MOST_PACKED).unwrap_or(i32::MAX);
        let rows = self.client.query(these, &[&host, &ids, &most]);
        let rows = rows.map_err(failed)?.into_iter();
        Ok(rows
            .filter_map(|row| Some((BlockId::parse(row.get(0))?, row.get(1))))
            .collect())
    }

    fn blocks(&mut self, host: &str) -> Result<BTreeSet<BlockId>, Error> {
        let all = "SELECT id FROM sessionary.blocks WHERE host = $1 AND owner = current_user";
        let rows = self.client.query(all, &[&host]).map_err(failed)?;
        Ok(rows
            .iter()
            .filter_map(|row| BlockId::parse(row.get(0)))
            .collect())
    }

    fn seals(&mut self, host: &str) -> Result<Option<BTreeMap<BundleKey, String>>, Error> {
        catalogue::seals(&mut self.client, host).map(Some)
    }

    fn put(&mut self, host: &str, batch: &Batch) -> Result<(), Error> {
        let mut transaction = self.begin(host)?;
        // The disk is waited for once, by `settle`: a server that crashes before has lost the last
        // batches and no others.
        let later = "SET LOCAL synchronous_commit = off";
        transaction.batch_execute(later).map_err(failed)?;
        let ids: Vec<&str> = batch.blocks.iter().map(|(id, _)| id.as_str()).collect();
        let packed: Vec<&[u8]> = batch.blocks.iter().map(|(_, packed)| &**packed).collect();
        let add = "INSERT INTO sessionary.blocks (host, id, packed)
            SELECT $1, * FROM unnest($2::text[], $3::bytea[]) ON CONFLICT DO NOTHING";
        if !ids.is_empty() {
            let added = transaction.execute(add, &[&host, &ids, &packed]);
            added.map_err(failed)?;
        }
        if !batch.manifests.is_empty() {
            put_manifests(&mut transaction, host, &batch.manifests)?;
        }
        if let Some(rows) = &batch.rows {
            catalogue::put(&mut transaction, host, rows)?;
        }
        transaction.commit().map_err(failed)
    }

    fn settle(&mut self) -> Result<(), Error> {
        // What a transaction waits for is all that was written before it, if it has written too.
        let write = "SELECT pg_logical_emit_message(true, 'sessionary', '')";
        self.client.execute(write, &[]).map(drop).map_err(failed)
    }

    fn take_back(&mut self, host: &str, places: &[Place]) -> Result<(), Error> {
        let agents: Vec<&str> = places.iter().map(|place| &*place.agent).collect();
        let paths: Vec<&str> = places.iter().map(|place| &*place.path).collect();
        let remove = "DELETE FROM sessionary.sources WHERE host = $1
            AND (agent, path) IN (SELECT * FROM unnest($2::text[], $3::text[]))
            RETURNING agent, session";
        let mut transaction = self.begin(host)?;
        let removed = transaction.query(remove, &[&host, &agents, &paths]);
        let removed = removed.map_err(failed)?;
        let keys: BTreeSet<BundleKey> = removed.iter().map(key).collect();
        catalogue::forget(&mut transaction, host, keys.iter())?;
        catalogue::forget_unnamed(&mut transaction, host)?;
        transaction.commit().map_err(failed)
    }

    fn sweep(&mut self, host: &str, blocks: &BTreeSet<BlockId>) -> Result<(), Error> {
        let ids: Vec<&str> = blocks.iter().map(BlockId::as_str).collect();
        let remove = "DELETE FROM sessionary.blocks WHERE host = $1 AND id = ANY($2)";
        self.client
            .execute(remove, &[&host, &ids])
            .map(drop)
            .map_err(failed)
    }

    fn sql(&mut self, query: &str, zone: &str, each: EachPart<'_>) -> Result<(), Error> {
        sql::answer(&mut self.client, query, zone, each)
    }
}

/// The bundle that a row names first.
fn key(row: &Row) -> BundleKey {
    BundleKey {
        agent: row.get(0),
        session: row.get(1),
    }
}

/// Put manifests in the place of older ones.
fn put_manifests(
    transaction: &mut Transaction<'_>,
    host: &str,
    manifests: &[Manifest],
) -> Result<(), Error> {
    let texts = |of: fn(&Manifest) -> &str| manifests.iter().map(of).collect::<Vec<&str>>();
    let (agents, paths) = (texts(|of| &of.place.agent), texts(|of| &of.place.path));
    let (sessions, repositories) = (texts(|of| &of.session), texts(|of| &of.repository));
    let times: Vec<i64> = manifests.iter().map(|of| of.modified_ms).collect();
    let sizes = manifests.iter().map(Manifest::bytes);
    let sizes: Vec<i64> = sizes
        .map(|of| i64::try_from(of).unwrap_or(i64::MAX))
        .collect();
    let said = manifests.iter();
    let said: Vec<String> = said
        .map(|of| serde_json::to_string(of).unwrap_or_default())
        .collect();
    let older = "DELETE FROM sessionary.sources s
        USING unnest($2::text[], $3::text[], $4::text[]) AS of (agent, path, session)
        WHERE s.host = $1 AND (s.agent, s.path) = (of.agent, of.path)
        RETURNING s.agent, s.session, s.session <> of.session";
    let gone = transaction.query(older, &[&host, &agents, &paths, &sessions]);
    let gone = gone.map_err(failed)?;
    // The rows of the session to which a file belonged before. Those of the one to which it belongs
    // now come with it, or are what they were.
    let is_of_another = |row: &&Row| row.get(2);
    let left: BTreeSet<BundleKey> = gone.iter().filter(is_of_another).map(key).collect();
    catalogue::forget(transaction, host, left.iter())?;
    let add = "INSERT INTO sessionary.sources
            (host, agent, path, session, repository, modified_ms, bytes, manifest)
        SELECT $1, * FROM unnest($2::text[], $3::text[], $4::text[], $5::text[],
            $6::bigint[], $7::bigint[], $8::text[])";
    let values: [&(dyn postgres::types::ToSql + Sync); 8] = [
        &host,
        &agents,
        &paths,
        &sessions,
        &repositories,
        &times,
        &sizes,
        &said,
    ];
    transaction.execute(add, &values).map(drop).map_err(failed)
}

/// The manifest that a row holds, if it may be used for this place.
fn checked(text: &str, host: &str, place: &Place) -> Result<Manifest, String> {
    let manifest: Manifest = serde_json::from_str(text).map_err(|error| error.to_string())?;
    manifest.check(host)?;
    match manifest.place == *place {
        true => Ok(manifest),
        false => Err("it names another file than its row".to_owned()),
    }
}
