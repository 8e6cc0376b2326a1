-- Subagents are a count on their parent. `_rows` of older catalogues are made anew when this step was taken.
ALTER TABLE _sessions ADD COLUMN subagent INTEGER NOT NULL DEFAULT 0; -- 1: parent_session is an id
UPDATE _sessions SET subagent = 1 WHERE own ->> '$.isSubAgent';

CREATE INDEX _sessions_id ON _sessions (root, id);
CREATE INDEX _sessions_subagents ON _sessions (root, parent_session) WHERE subagent;

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
        SELECT count(*) - 1 FROM below) AS BIGINT) AS subagents
FROM _sessions s JOIN _roots r USING (root)
WHERE s.path <> '';
