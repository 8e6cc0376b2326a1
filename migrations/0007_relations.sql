-- A session names its parent by an id, which copies have too. Its parent is the copy in the same
-- folder or database, or in the nearest one above; else the first by path.
DROP VIEW forks;
CREATE VIEW forks AS
SELECT c.session, CAST(coalesce(p.session, (
         SELECT session FROM (
           SELECT s.session, s.path,
                  CASE WHEN substr(c.place, 1, length(rtrim(s.place, replace(s.place, '/', ''))))
                            = rtrim(s.place, replace(s.place, '/', ''))
                       THEN length(rtrim(s.place, replace(s.place, '/', ''))) ELSE -1 END AS near
           FROM _sessions s WHERE s.root = c.root AND s.id = c.parent_session)
         ORDER BY near DESC, path LIMIT 1)) AS BIGINT) AS parent,
       c.parent_session AS parent_written,
       CAST(CASE WHEN c.subagent THEN 'subagent' ELSE 'fork' END AS TEXT) AS relation
FROM _sessions c
  LEFT JOIN (SELECT path, min(session) AS session FROM _sessions GROUP BY path) p ON p.path = c.parent_session
WHERE c.parent_session IS NOT NULL AND c.path <> '';

-- Subagents are looked up by those that have them: by itself SQLite reads all of them for each.
DROP VIEW sessions;
CREATE VIEW sessions AS
SELECT s.session, r.host, r.agent, r.label, r.path AS root, s.path, s.id, s.cwd, s.name,
       s.parent_session, s.created_raw, s.created_ms, s.modified_ms, s.file_ms, s.messages,
       s.first_message, s.entries, s.problems, s.errors, s.version, s.leaf, s.provider, s.model,
       s.tokens, s.cost, s.listed_cost, s.bytes,
       CAST(s.hidden IS NULL AS BIGINT) AS listed_by_agent, s.hidden AS reason, s.own,
       s.subagent AS is_subagent,
       CAST((WITH RECURSIVE below(session, id) AS (
            SELECT s.session, s.id
            UNION SELECT c.session, c.id FROM below CROSS JOIN _sessions c WHERE c.subagent AND c.root = s.root AND c.parent_session = below.id)
        SELECT count(*) - 1 FROM below) AS BIGINT) AS subagents,
       r.current, s.list_order, coalesce(nullif(s.name, ''), s.typed, s.first_message) AS title,
       s.git_branch, s.thinking_level,
       CAST(s.gone_ms IS NOT NULL AS BIGINT) AS archived, s.gone_ms,
       coalesce(s.repository, s.remote) AS repository
FROM _sessions s JOIN _roots r USING (root)
WHERE s.path <> '';
