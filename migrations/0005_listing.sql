-- Subagents are a count on their parent. `_rows` of older catalogues are made anew when this step was taken.
ALTER TABLE _sessions ADD COLUMN subagent INTEGER NOT NULL DEFAULT 0; -- 1: parent_session is an id
UPDATE _sessions SET subagent = 1 WHERE own ->> '$.isSubAgent';

CREATE INDEX _sessions_id ON _sessions (root, id);
CREATE INDEX _sessions_subagents ON _sessions (root, parent_session) WHERE subagent;
