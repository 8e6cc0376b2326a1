-- Of which repository is a session? The host and the path of its remote, by which all checkouts of it are known.
ALTER TABLE _sessions ADD COLUMN repository TEXT; -- as its agent recorded it
ALTER TABLE _sessions ADD COLUMN remote TEXT;     -- of its working directory, when the session was last read; what was known of it where that is gone

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
            UNION SELECT c.session, c.id FROM below JOIN _sessions c ON c.subagent AND c.root = s.root AND c.parent_session = below.id)
        SELECT count(*) - 1 FROM below) AS BIGINT) AS subagents,
       r.current, s.list_order, coalesce(nullif(s.name, ''), s.typed, s.first_message) AS title,
       s.git_branch, s.thinking_level,
       CAST(s.gone_ms IS NOT NULL AS BIGINT) AS archived, s.gone_ms,
       coalesce(s.repository, s.remote) AS repository
FROM _sessions s JOIN _roots r USING (root)
WHERE s.path <> '';

-- All sessions have a column more: whoever keeps a copy of them reads all again.
UPDATE _store SET index_id = lower(hex(randomblob(8)));
