-- Which session is the parent of which is found once and kept with the child: `parent_session` is a
-- path or an id, of which there may be copies (src/catalogue/parents.rs).
ALTER TABLE _sessions ADD COLUMN parent INTEGER; -- number of the session that `parent_session` names
DROP INDEX _sessions_id;
DROP INDEX _sessions_subagents;
-- Those of one id are looked for by the folder that they lie in.
CREATE INDEX _sessions_id ON _sessions (root, id, place);
CREATE INDEX _sessions_path ON _sessions (path);
CREATE INDEX _sessions_parent_session ON _sessions (parent_session) WHERE parent_session IS NOT NULL;
CREATE INDEX _sessions_parent ON _sessions (parent) WHERE parent IS NOT NULL;

DROP VIEW forks;
CREATE VIEW forks AS
SELECT session, parent, parent_session AS parent_written,
       CAST(CASE WHEN subagent THEN 'subagent' ELSE 'fork' END AS TEXT) AS relation
FROM _sessions
WHERE parent_session IS NOT NULL AND path <> '';

DROP VIEW sessions;
CREATE VIEW sessions AS
SELECT s.session, r.host, r.agent, r.label, r.path AS root, s.path, s.id, s.cwd, s.name,
       s.parent_session, s.created_raw, s.created_ms, s.modified_ms, s.file_ms, s.messages,
       s.first_message, s.entries, s.problems, s.errors, s.version, s.leaf, s.provider, s.model,
       s.tokens, s.cost, s.listed_cost, s.bytes,
       CAST(s.hidden IS NULL AS BIGINT) AS listed_by_agent, s.hidden AS reason, s.own,
       s.subagent AS is_subagent,
       CAST((WITH RECURSIVE below(session) AS (
            SELECT s.session
            UNION SELECT c.session FROM below JOIN _sessions c ON c.parent = below.session WHERE c.subagent)
        SELECT count(*) - 1 FROM below) AS BIGINT) AS subagents,
       r.current, s.list_order, coalesce(nullif(s.name, ''), s.typed, s.first_message) AS title,
       s.git_branch, s.thinking_level,
       CAST(s.gone_ms IS NOT NULL AS BIGINT) AS archived, s.gone_ms,
       coalesce(s.repository, s.remote) AS repository
FROM _sessions s JOIN _roots r USING (root)
WHERE s.path <> '';
