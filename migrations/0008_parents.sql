-- Which session is the parent of which is said once, for forks, subagents and lists. A parent that is
-- named by its id may lie below another root of the same agent and machine, as what Codex archives
-- does. Of copies it is the one below the same root, of these the one whose folder, or the folder
-- above that, holds the child (the nearest one), else the first by path.
DROP VIEW forks;
DROP VIEW sessions;
CREATE INDEX _sessions_path ON _sessions (path);

CREATE VIEW _parents AS
SELECT c.session, c.subagent, c.parent_session AS written, CAST(coalesce(
         -- The usual ones first, which cost little: a path, the only session of that id.
         CASE WHEN NOT c.subagent THEN
           (SELECT min(p.session) FROM _sessions p WHERE p.path = c.parent_session AND p.session <> c.session) END,
         (SELECT CASE WHEN min(s.session) = max(s.session) THEN min(s.session) END
          FROM _roots q CROSS JOIN _sessions s
          WHERE s.root = q.root AND s.id = c.parent_session AND s.session <> c.session
            AND q.agent = r.agent AND q.host = r.host),
         (SELECT session FROM (
            SELECT session, path, beside,
                   CASE WHEN substr(child, 1, length(folder)) = folder THEN length(folder)
                        WHEN substr(child, 1, length(above)) = above THEN length(above) ELSE -1 END AS near
            FROM (
              SELECT session, path, beside, child, folder,
                     rtrim(rtrim(folder, '/'), replace(folder, '/', '')) AS above
              FROM (
                SELECT s.session, s.path, CAST(s.root = c.root AS BIGINT) AS beside, c.place AS child,
                       rtrim(s.place, replace(s.place, '/', '')) AS folder
                FROM _roots q CROSS JOIN _sessions s
                WHERE s.root = q.root AND s.id = c.parent_session AND s.session <> c.session
                  AND q.agent = r.agent AND q.host = r.host)))
          ORDER BY beside DESC, near DESC, path LIMIT 1)) AS BIGINT) AS parent
FROM _sessions c JOIN _roots r USING (root)
WHERE c.parent_session IS NOT NULL AND c.path <> '';

CREATE VIEW forks AS
SELECT session, parent, written AS parent_written,
       CAST(CASE WHEN subagent THEN 'subagent' ELSE 'fork' END AS TEXT) AS relation
FROM _parents;

-- DuckDB cannot count by `_parents` session by session, so all subagents are looked at once; what asks
-- for other columns does not pay for it.
CREATE VIEW sessions AS
WITH _subagents AS MATERIALIZED (SELECT session, parent FROM _parents WHERE subagent)
SELECT s.session, r.host, r.agent, r.label, r.path AS root, s.path, s.id, s.cwd, s.name,
       s.parent_session, s.created_raw, s.created_ms, s.modified_ms, s.file_ms, s.messages,
       s.first_message, s.entries, s.problems, s.errors, s.version, s.leaf, s.provider, s.model,
       s.tokens, s.cost, s.listed_cost, s.bytes,
       CAST(s.hidden IS NULL AS BIGINT) AS listed_by_agent, s.hidden AS reason, s.own,
       s.subagent AS is_subagent,
       CAST((WITH RECURSIVE below(session) AS (
            SELECT s.session
            UNION SELECT c.session FROM below JOIN _subagents c ON c.parent = below.session)
        SELECT count(*) - 1 FROM below) AS BIGINT) AS subagents,
       r.current, s.list_order, coalesce(nullif(s.name, ''), s.typed, s.first_message) AS title,
       s.git_branch, s.thinking_level,
       CAST(s.gone_ms IS NOT NULL AS BIGINT) AS archived, s.gone_ms,
       coalesce(s.repository, s.remote) AS repository
FROM _sessions s JOIN _roots r USING (root)
WHERE s.path <> '';
