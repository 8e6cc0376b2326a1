-- What could not be read is told apart from files that are no session.
-- All directories are looked at once more for that.
DELETE FROM _folders;
ALTER TABLE _strays ADD COLUMN unread INTEGER NOT NULL DEFAULT 0;

DROP VIEW problems;
CREATE VIEW problems AS
SELECT 'bytes' AS what, r.path AS root, s.relative, p.start, p.length, p.provisional, p.reason,
       CAST((SELECT min(session) FROM _session_sources ss WHERE ss.source = s.source) AS BIGINT) AS session
FROM _problems p JOIN _sources s USING (source) JOIN _roots r USING (root)
UNION ALL
SELECT CASE WHEN t.unread THEN 'unread' ELSE 'file' END, r.path, t.relative, NULL, NULL, 0, t.reason, NULL FROM _strays t JOIN _roots r USING (root)
UNION ALL
SELECT 'unread', r.path, s.relative, NULL, NULL, 0, s.unread,
       (SELECT min(session) FROM _session_sources ss WHERE ss.source = s.source)
FROM _sources s JOIN _roots r USING (root) WHERE s.unread IS NOT NULL
UNION ALL
SELECT 'root', r.path, '', NULL, NULL, 0, r.error, NULL FROM _roots r WHERE r.error IS NOT NULL;
