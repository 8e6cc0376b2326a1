-- Of copies of a session that names another one by its id, each goes on from the one that lies
-- where it lies: in the same folder or database, or the nearest one above it; else from the first by path.
DROP VIEW forks;
CREATE VIEW forks AS
SELECT c.session, CAST(coalesce(p.session, (
         SELECT s.session FROM _sessions s
         WHERE s.root = c.root AND s.id = c.parent_session
         ORDER BY iif(substr(c.place, 1, length(rtrim(s.place, replace(s.place, '/', ''))))
                      = rtrim(s.place, replace(s.place, '/', '')),
                      length(rtrim(s.place, replace(s.place, '/', ''))), -1) DESC, s.path
         LIMIT 1)) AS BIGINT) AS parent,
       c.parent_session AS parent_written,
       CAST(CASE WHEN c.subagent THEN 'subagent' ELSE 'fork' END AS TEXT) AS relation
FROM _sessions c
  LEFT JOIN (SELECT path, min(session) AS session FROM _sessions GROUP BY path) p ON p.path = c.parent_session
WHERE c.parent_session IS NOT NULL AND c.path <> '';
