-- What is counted once is decided when it is written. Contract version 3 (README.md in this folder).
-- Before, each question put all answers of all sessions together.

-- `said` is the same in all copies of an answer: a hash of its response id, else of its entry's id and
-- time, and of what copies agree in, else of its bytes. `counted` is 1 in the one that counts, 0 in its copies; NULL in steps, which
-- their message tells. `step` is 1 in steps, 3 in messages that lack tokens or cost which their steps
-- have, and 2 in what was not written as usage: the turns of clido's runs.
ALTER TABLE _usage ADD COLUMN said INTEGER NOT NULL DEFAULT 0;
ALTER TABLE _usage ADD COLUMN time_ms INTEGER;  -- by which searches know the entry, but for the session's start
ALTER TABLE _usage ADD COLUMN counted INTEGER DEFAULT 1;
CREATE INDEX _usage_said ON _usage (said, counted);

-- All sources are read again: no format has this revision.
DELETE FROM _usage;
UPDATE _sources SET revision = 4294967295;

DROP VIEW IF EXISTS contract;
CREATE VIEW contract AS SELECT 3 AS contract_version;

DROP VIEW IF EXISTS usage;
DROP VIEW IF EXISTS _counted;
DROP VIEW IF EXISTS _spent;
DROP VIEW IF EXISTS _spent_in_runs;
DROP VIEW IF EXISTS _spent_in_steps;
DROP VIEW IF EXISTS _steps;
DROP VIEW IF EXISTS _spent_in_answers;
DROP VIEW IF EXISTS usage_records;
DROP VIEW IF EXISTS _calls_once;

-- DuckDB counts the rows of a view by the row ids of its table, which this one has not; so it asks for the keys.
DROP VIEW call_records;
CREATE VIEW call_records AS
SELECT key AS entry, CAST(key >> 24 AS BIGINT) AS session, ordinal, call_id, tool, is_result, is_error, subject, duration_ms
FROM _calls WHERE key >= 0;

-- A call that forks and copies repeat is one call: they keep the ids of calls and entries.
CREATE VIEW _calls_once AS
SELECT r.agent, c.tool, max(c.is_error) AS is_error, max(c.duration_ms) AS duration_ms
FROM calls c JOIN _entries e ON e.key = c.entry JOIN _sessions s ON s.session = c.session JOIN _roots r USING (root)
GROUP BY r.agent, c.tool, coalesce(c.call_id, e.id, CAST(e.hash AS TEXT)), c.time_ms, c.subject;

-- One row an entry that records usage, as written: steps beside totals, and what forks and copies repeat.
CREATE VIEW usage_records AS
SELECT u.key AS entry, CAST(u.key >> 24 AS BIGINT) AS session, u.provider, u.model, u.response_id, u.input, u.output,
       u.cache_read, u.cache_write, u.reasoning,
       CAST(CASE WHEN coalesce(u.input, u.output, u.cache_read, u.cache_write) IS NULL THEN u.total
                 ELSE coalesce(u.input, 0) + coalesce(u.output, 0) + coalesce(u.cache_read, 0) + coalesce(u.cache_write, 0)
            END AS BIGINT) AS total, u.total AS total_written,
       u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write, u.cost_total,
       CAST(u.step = 1 AS BIGINT) AS step
FROM _usage u WHERE u.step <> 2;

-- What a message and its steps say together: tokens, and cost, are its own where they are no zeros.
CREATE VIEW _stepped AS
SELECT m.key, CASE WHEN m.total <> 0 THEN m.total
            ELSE coalesce(sum(coalesce(t.input, 0) + coalesce(t.output, 0) + coalesce(t.cache_read, 0) + coalesce(t.cache_write, 0)), m.total)
       END AS total,
       CASE WHEN m.total <> 0 THEN m.input ELSE coalesce(sum(t.input), m.input) END AS input,
       CASE WHEN m.total <> 0 THEN m.output ELSE coalesce(sum(t.output), m.output) END AS output,
       CASE WHEN m.total <> 0 THEN m.cache_read ELSE coalesce(sum(t.cache_read), m.cache_read) END AS cache_read,
       CASE WHEN m.total <> 0 THEN m.cache_write ELSE coalesce(sum(t.cache_write), m.cache_write) END AS cache_write,
       CASE WHEN m.total <> 0 THEN m.reasoning ELSE coalesce(sum(t.reasoning), m.reasoning) END AS reasoning,
       CASE WHEN m.cost_total <> 0 THEN m.cost_total ELSE coalesce(sum(t.cost_total), m.cost_total) END AS cost_total
FROM (SELECT key, input, output, cache_read, cache_write, reasoning, cost_total,
             coalesce(input, 0) + coalesce(output, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) AS total
      FROM _usage WHERE step AND step = 3) m
  JOIN _entries me ON me.key = m.key
  JOIN _entries se ON se.key BETWEEN (m.key >> 24) << 24 AND ((m.key >> 24) << 24) + 16777215 AND se.parent = me.id
  JOIN _usage t ON t.key = se.key AND t.step = 1
GROUP BY m.key;

-- Each answer once. Both conditions say the same of the key: by the one the session of a row is found, by the other the
-- rows of a session. DuckDB, which reads the text of views, knows no IS between columns.
CREATE VIEW usage AS
SELECT u.key AS entry, s.session, r.agent, s.cwd, CAST(coalesce(u.time_ms, s.created_ms) AS BIGINT) AS time_ms,
       CAST(strftime('%Y-%m-%d', coalesce(u.time_ms, s.created_ms) / 1000, 'unixepoch') AS TEXT) AS day,
       CAST(strftime('%Y-%m-%d', coalesce(u.time_ms, s.created_ms) / 1000, 'unixepoch', 'localtime') AS TEXT) AS local_day,
       u.provider, u.model, u.response_id,
       CASE u.step WHEN 3 THEN (SELECT w.input FROM _stepped w WHERE w.key = u.key) ELSE u.input END AS input,
       CASE u.step WHEN 3 THEN (SELECT w.output FROM _stepped w WHERE w.key = u.key) ELSE u.output END AS output,
       CASE u.step WHEN 3 THEN (SELECT w.cache_read FROM _stepped w WHERE w.key = u.key) ELSE u.cache_read END AS cache_read,
       CASE u.step WHEN 3 THEN (SELECT w.cache_write FROM _stepped w WHERE w.key = u.key) ELSE u.cache_write END AS cache_write,
       CASE u.step WHEN 3 THEN (SELECT w.reasoning FROM _stepped w WHERE w.key = u.key) ELSE u.reasoning END AS reasoning,
       CASE WHEN u.step = 3 THEN (SELECT w.total FROM _stepped w WHERE w.key = u.key)
            WHEN coalesce(u.input, u.output, u.cache_read, u.cache_write) IS NULL THEN u.total
            ELSE coalesce(u.input, 0) + coalesce(u.output, 0) + coalesce(u.cache_read, 0) + coalesce(u.cache_write, 0)
       END AS total, u.total AS total_written,
       u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write,
       CASE u.step WHEN 3 THEN (SELECT w.cost_total FROM _stepped w WHERE w.key = u.key) ELSE u.cost_total END AS cost_total,
       CAST((SELECT count(1) FROM _usage c
             WHERE c.said = u.said AND c.counted IS NOT NULL AND coalesce(c.response_id, '') = coalesce(u.response_id, '')
               AND coalesce(c.model, '') = coalesce(u.model, '') AND coalesce(c.input, -1) = coalesce(u.input, -1)
               AND coalesce(c.output, -1) = coalesce(u.output, -1) AND coalesce(c.cost_total, -1) = coalesce(u.cost_total, -1)) AS BIGINT) AS records
FROM _sessions s JOIN _roots r ON r.root = s.root
  JOIN _usage u ON u.key >> 24 = s.session AND u.key BETWEEN s.session << 24 AND (s.session << 24) + 16777215
WHERE u.counted = 1 AND s.path <> '';
