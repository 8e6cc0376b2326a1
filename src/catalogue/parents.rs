//! Which session is the parent of which?
//!
//! A session names its parent by a path (pi and its dialects) or by an id. Both may be those of
//! several sessions: a project is copied, an agent numbers its subagents anew in each session, two
//! agents have one folder. A path may be that of another machine, from which the sessions were
//! copied. The one that is meant is kept with the child, and found again before a
//! transaction ends for whomever it may have changed.

use std::collections::BTreeSet;

use rusqlite::{OptionalExtension, params};

use super::error::Error;
use super::open::Catalogue;

/// What a transaction has changed that may give sessions another parent.
#[derive(Debug, Default)]
pub(super) struct RenamedSessions {
    /// Whose parent is looked for again.
    sessions: BTreeSet<i64>,
    /// Ids and paths of which there is one session more or less: so is that of sessions whose
    /// parent has one of these.
    names: BTreeSet<String>,
    /// Names of their files: a session may name its parent by where that file was elsewhere.
    files: BTreeSet<String>,
}

/// Bytes of a path beyond which it is none.
const LONGEST_PATH: usize = 4096;
/// The last part of the path by which a session names its parent, as it is indexed.
const PARENT_FILE: &str = "CASE WHEN length(parent_session) <= 4096
        THEN substr(parent_session, 1 + length(rtrim(parent_session, replace(replace(parent_session, '/', ''), '\\', '')))) END";
/// Folders of a path that may be those below a root, at most.
const DEEPEST: usize = 16;

/// What a parent is known by below a root.
#[derive(Debug, Clone, Copy)]
enum ParentKey<'a> {
    /// It has this id, and its file this name where that is asked for.
    Id(&'a str, Option<&'a str>),
    /// It lies at one of these places, a JSON list; the longest is meant.
    Places(&'a str),
}

/// A session that names a parent.
struct Child {
    session: i64,
    root: i64,
    agent: String,
    host: String,
    session_key: String,
    /// What its parent is called.
    parent: String,
    /// It is in the archive alone.
    is_gone: bool,
}

impl Catalogue {
    /// Note what a session is called. Before it is removed, and before and after it is called
    /// otherwise or names another parent.
    pub(super) fn note_names(&self, session: i64) -> rusqlite::Result<()> {
        let sql = "SELECT id, path FROM _sessions WHERE session = ?1 AND path <> ''";
        let mut names = self.connection.prepare_cached(sql)?;
        let names = names.query_row([session], |r| Ok([r.get(0)?, r.get(1)?]));
        let mut renamed = self.renamed.borrow_mut();
        renamed.sessions.insert(session);
        let names: Option<[String; 2]> = names.optional()?;
        if let Some([_, path]) = &names {
            renamed.files.insert(file_name(path).to_owned());
        }
        renamed.names.extend(names.into_iter().flatten());
        Ok(())
    }

    /// Note those that may find their parent below another root, because this one is named, or
    /// not named any more.
    pub(super) fn note_children_below_other_roots(&self, root: i64) -> rusqlite::Result<()> {
        let sql = "SELECT c.session FROM _sessions p CROSS JOIN _sessions c
            WHERE p.root = ?1 AND c.parent_session IN (p.id, p.path) AND c.root <> ?1";
        let mut children = self.connection.prepare_cached(sql)?;
        let mut renamed = self.renamed.borrow_mut();
        for child in children.query_map([root], |r| r.get(0))? {
            renamed.sessions.insert(child?);
        }
        let sql = "SELECT path FROM _sessions WHERE root = ?1 AND path <> ''";
        let mut paths = self.connection.prepare_cached(sql)?;
        for path in paths.query_map([root], |r| r.get::<_, String>(0))? {
            renamed.files.insert(file_name(&path?).to_owned());
        }
        Ok(())
    }

    /// Find the parents of all sessions whose parent may be another one since then.
    pub(super) fn find_parents(&self) -> rusqlite::Result<()> {
        let RenamedSessions {
            sessions,
            names,
            files,
        } = self.renamed.take();
        let c = &self.connection;
        let mut children = sessions;
        let mut by_name =
            c.prepare_cached("SELECT session FROM _sessions WHERE parent_session = ?1")?;
        for name in names {
            for child in by_name.query_map([name], |r| r.get(0))? {
                children.insert(child?);
            }
        }
        let mut by_file = c.prepare_cached(&format!(
            "SELECT session FROM _sessions WHERE parent_session IS NOT NULL AND {PARENT_FILE} = ?1"
        ))?;
        for file in files {
            for child in by_file.query_map([file], |r| r.get(0))? {
                children.insert(child?);
            }
        }
        let mut keep = c.prepare_cached(
            "UPDATE _sessions SET parent = ?2 WHERE session = ?1 AND parent IS NOT ?2",
        )?;
        for child in children {
            keep.execute(params![child, self.find_parent(child)?])?;
        }
        Ok(())
    }

    /// How many sessions are kept with another parent than would be found now.
    pub fn wrong_parents(&self) -> Result<u64, Error> {
        self.with(|c| {
            let sql = "SELECT session, parent FROM _sessions
                WHERE parent_session IS NOT NULL OR parent IS NOT NULL";
            let mut all = c.prepare(sql)?;
            let mut rows = all.query([])?;
            let mut wrong = 0;
            while let Some(row) = rows.next()? {
                let kept: Option<i64> = row.get(1)?;
                wrong += u64::from(self.find_parent(row.get(0)?)? != kept);
            }
            Ok(wrong)
        })
    }

    /// The parent of a session, where it names one that is there. No session is its own.
    fn find_parent(&self, session: i64) -> rusqlite::Result<Option<i64>> {
        let sql = "SELECT root, agent, host, place, parent_session, gone_ms IS NOT NULL
            FROM _sessions s JOIN _roots r USING (root)
            WHERE session = ?1 AND s.path <> '' AND parent_session NOT IN ('', id, s.path)";
        let mut child = self.connection.prepare_cached(sql)?;
        let child = child.query_row([session], |r| {
            Ok(Child {
                session,
                root: r.get(0)?,
                agent: r.get(1)?,
                host: r.get(2)?,
                session_key: r.get(3)?,
                parent: r.get(4)?,
                is_gone: r.get(5)?,
            })
        });
        let Some(child) = child.optional()? else {
            return Ok(None);
        };
        let is_path = child.parent.contains(['/', '\\']);
        let mut found = match is_path {
            true => self.parent_by_path(&child)?,
            false => None,
        };
        if found.is_none() {
            found = self.nearest(&child, ParentKey::Id(&child.parent, None))?;
        }
        if found.is_none() && is_path && child.parent.len() <= LONGEST_PATH {
            found = self.parent_by_file(&child)?;
        }
        Ok(found)
    }

    /// A file may be read for several agents: the child's own comes first.
    fn parent_by_path(&self, child: &Child) -> rusqlite::Result<Option<i64>> {
        let sql = "SELECT session FROM _sessions s JOIN _roots r USING (root)
            WHERE s.path = ?1 AND host = ?2
            ORDER BY root <> ?3, agent <> ?4, NOT current, agent, r.path LIMIT 1";
        let mut named = self.connection.prepare_cached(sql)?;
        let bound = params![child.parent, child.host, child.root, child.agent];
        named.query_row(bound, |r| r.get(0)).optional()
    }

    /// The parent whose file lies elsewhere than the child says: on another machine, in another
    /// home, in a folder that was copied, moved or mounted. It is the one at the same place below
    /// its root; else the one whose file has the same name, where its id is part of that (pi
    /// writes `<time>_<id>.jsonl`). A name such as `session.jsonl` many files have.
    fn parent_by_file(&self, child: &Child) -> rusqlite::Result<Option<i64>> {
        let parts = child.parent.split(['/', '\\']);
        let parts: Vec<&str> = parts.filter(|part| !matches!(*part, "" | ".")).collect();
        let from = parts.len().saturating_sub(DEEPEST);
        let to = parts.len().saturating_sub(1);
        let places: Vec<String> = (from..to).map(|at| parts[at..].join("/")).collect();
        let places = serde_json::json!(places).to_string();
        let name = file_name(&child.parent);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        // Without a header a session's id is the stem of its file.
        let ids = stem.split_once('_').map(|(_, id)| [id, stem]);
        let ids = ids.into_iter().flatten().filter(|id| !id.is_empty());
        let ids = ids.map(|id| ParentKey::Id(id, Some(name)));
        for known in std::iter::once(ParentKey::Places(&places)).chain(ids) {
            let found = self.nearest(child, known)?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Of those that are known by this the nearest one: below the same root the one that shares
    /// most of the child's folders, else one below another root of the same agent on the same
    /// machine. What is in the archive alone, or below a root that is not named now, comes last;
    /// but a child that is in the archive itself stays with the parent that it had there.
    fn nearest(&self, child: &Child, known: ParentKey<'_>) -> rusqlite::Result<Option<i64>> {
        let mut found = match child.is_gone {
            true => self.parent_below_root(child, known, None)?,
            false => None,
        };
        for is_there in [true, false] {
            if found.is_none() {
                found = self.parent_below_root(child, known, Some(is_there))?;
            }
            if found.is_none() {
                found = self.parent_below_another_root(child, known, is_there)?;
            }
        }
        Ok(found)
    }

    /// The nearest one below the child's root: one that is there, one that is in the archive alone,
    /// or, where neither is asked for, whichever lies nearer.
    fn parent_below_root(
        &self,
        child: &Child,
        known: ParentKey<'_>,
        is_there: Option<bool>,
    ) -> rusqlite::Result<Option<i64>> {
        let (id, file) = match known {
            ParentKey::Id(id, file) => (id, file),
            ParentKey::Places(places) => {
                let sql = "SELECT session FROM _sessions
                    WHERE root = ?1 AND place IN (SELECT value FROM json_each(?2)) AND session <> ?3
                        AND path <> '' AND (?4 IS NULL OR (gone_ms IS NULL) = ?4)
                    ORDER BY length(place) DESC LIMIT 1";
                let mut placed = self.connection.prepare_cached(sql)?;
                let bound = params![child.root, places, child.session, is_there];
                return placed.query_row(bound, |r| r.get(0)).optional();
            }
        };
        // Without the name SQLite may walk through all places of the root.
        let sql = "SELECT session FROM _sessions INDEXED BY _sessions_id
            WHERE root = ?1 AND id = ?2 AND place >= ?3 AND place < ?4
                AND (?5 IS NULL OR (gone_ms IS NULL) = ?5)
                AND (?6 IS NULL OR session <> ?7 AND (place = ?6 OR substr(place, -1 - length(?6)) = '/' || ?6))
            ORDER BY place LIMIT 1";
        let mut within = self.connection.prepare_cached(sql)?;
        let key = &child.session_key;
        let folders = key.rmatch_indices('/').map(|(end, _)| &key[..end]);
        // What lies in a folder comes between its name with a slash and with the next character.
        let ranges = folders.map(|folder| (format!("{folder}/"), format!("{folder}0")));
        for (first, end) in ranges.chain([(String::new(), char::MAX.to_string())]) {
            let bound = params![child.root, id, first, end, is_there, file, child.session];
            let found = within.query_row(bound, |r| r.get(0)).optional()?;
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    fn parent_below_another_root(
        &self,
        child: &Child,
        known: ParentKey<'_>,
        is_there: bool,
    ) -> rusqlite::Result<Option<i64>> {
        let (id, file) = match known {
            ParentKey::Id(id, file) => (id, file),
            ParentKey::Places(places) => {
                let sql = "SELECT session FROM _roots r CROSS JOIN _sessions s
                    WHERE agent = ?1 AND host = ?2 AND r.root <> ?3 AND s.root = r.root
                        AND place IN (SELECT value FROM json_each(?4)) AND s.path <> ''
                        AND (NOT ?5 OR current AND gone_ms IS NULL)
                    ORDER BY gone_ms IS NOT NULL, NOT current, length(place) DESC, r.path LIMIT 1";
                let mut placed = self.connection.prepare_cached(sql)?;
                let bound = params![child.agent, child.host, child.root, places, is_there];
                return placed.query_row(bound, |r| r.get(0)).optional();
            }
        };
        let sql = "SELECT session FROM _roots r CROSS JOIN _sessions s
            WHERE agent = ?1 AND host = ?2 AND r.root <> ?3 AND s.root = r.root AND id = ?4
                AND (NOT ?5 OR current AND gone_ms IS NULL)
                AND (?6 IS NULL OR place = ?6 OR substr(place, -1 - length(?6)) = '/' || ?6)
            ORDER BY gone_ms IS NOT NULL, NOT current, r.path, place LIMIT 1";
        let mut elsewhere = self.connection.prepare_cached(sql)?;
        let bound = params![child.agent, child.host, child.root, id, is_there, file];
        elsewhere.query_row(bound, |r| r.get(0)).optional()
    }
}

/// The last part of a path, of this system or of another one.
fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}
