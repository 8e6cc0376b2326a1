-- Views for reports, and what they need from the files: clido's runs, and the steps of an answer of agentuse's whose
-- total is missing. Contract version 2 (README.md in this folder). DuckDB parses a view by its own grammar and hands
-- it back to SQLite: no count(*), no GLOB, no date(), no CROSS JOIN with ON; BIGINT and DOUBLE are its wide types.

-- Which filling of the catalogue this is: whoever keeps a copy reads all again when it is another one.
ALTER TABLE _store ADD COLUMN index_id TEXT;
UPDATE _store SET index_id = lower(hex(randomblob(8)));

-- Tokens and cost of a step count only where the message they belong to has no total.
ALTER TABLE _usage ADD COLUMN step INTEGER NOT NULL DEFAULT 0;
CREATE INDEX _usage_steps ON _usage (key) WHERE step;

-- What clido writes at the end of a turn: figures of the run so far.
CREATE TABLE _runs (
    key INTEGER PRIMARY KEY,
    turns INTEGER,
    cost REAL,
    duration_ms INTEGER
) STRICT;

DROP VIEW contract;
DROP VIEW sessions;
DROP VIEW calls;
DROP VIEW usage;
DROP VIEW problems;
DROP VIEW freshness;

CREATE VIEW contract AS SELECT 2 AS contract_version;

-- A session's row is empty until all of its file is in.
CREATE VIEW sessions AS
SELECT s.session, r.host, r.agent, r.label, r.path AS root, s.path, s.id, s.cwd, s.name,
       s.parent_session, s.created_raw, s.created_ms, s.modified_ms, s.file_ms, s.messages,
       s.first_message, s.entries, s.problems, s.errors, s.version, s.leaf, s.provider, s.model,
       s.tokens, s.cost, s.listed_cost, s.bytes,
       CAST(s.hidden IS NULL AS BIGINT) AS listed_by_agent, s.hidden AS reason, s.own
FROM _sessions s JOIN _roots r USING (root)
WHERE s.path <> '';

CREATE VIEW largest_sessions AS
SELECT session, agent, cwd, name, first_message, bytes, entries, messages, tokens, cost, errors, modified_ms, id, path
FROM sessions ORDER BY bytes DESC, session;

CREATE VIEW forks AS
SELECT c.session, CAST(coalesce(p.session, i.session) AS BIGINT) AS parent, c.parent_session AS parent_written,
       CAST(CASE WHEN json_extract(c.own, '$.isSubAgent') THEN 'subagent' ELSE 'fork' END AS TEXT) AS relation
FROM _sessions c
  LEFT JOIN (SELECT path, min(session) AS session FROM _sessions GROUP BY path) p ON p.path = c.parent_session
  LEFT JOIN (SELECT root, id, min(session) AS session FROM _sessions GROUP BY root, id) i
    ON i.root = c.root AND i.id = c.parent_session
WHERE c.parent_session IS NOT NULL AND c.path <> '';

-- One row a line that calls or answers, as written.
CREATE VIEW call_records AS
SELECT key AS entry, CAST(key >> 24 AS BIGINT) AS session, ordinal, call_id, tool, is_result, is_error, subject, duration_ms
FROM _calls;

-- One row a call, with the answer that follows it. An answer comes within the next thousand entries or not at all:
-- the search for it must end.
CREATE VIEW calls AS
SELECT c.key AS entry, CAST(c.key >> 24 AS BIGINT) AS session, c.ordinal, e.time_ms, c.call_id, c.tool, c.subject,
       a.key AS answer,
       CAST(coalesce(c.is_error, a.is_error) AS BIGINT) AS is_error,
       CAST(coalesce(c.duration_ms, a.duration_ms) AS BIGINT) AS duration_ms,
       ae.time_ms AS answer_ms
FROM _calls c JOIN _entries e USING (key)
  LEFT JOIN _calls a ON a.is_result AND a.call_id = c.call_id AND a.key = (
    SELECT k.key FROM _calls k
    WHERE c.is_error IS NULL AND c.call_id IS NOT NULL
      AND k.key BETWEEN c.key AND c.key + 1000 AND k.key >> 24 = c.key >> 24
      AND k.is_result AND k.call_id = c.call_id
    ORDER BY k.key, k.ordinal LIMIT 1)
  LEFT JOIN _entries ae ON ae.key = a.key
WHERE NOT c.is_result;

-- A call that forks and copies repeat is one call.
CREATE VIEW _calls_once AS
SELECT r.agent, c.tool, max(c.is_error) AS is_error, max(c.duration_ms) AS duration_ms
FROM calls c JOIN _sessions s USING (session) JOIN _roots r USING (root)
GROUP BY r.agent, c.tool, coalesce(c.call_id, CAST(c.entry AS TEXT)), c.time_ms, c.subject;

-- Error rates.
CREATE VIEW tools AS
SELECT agent, tool, CAST(count(1) AS BIGINT) AS calls, CAST(count(is_error) AS BIGINT) AS answered,
       CAST(sum(is_error) AS BIGINT) AS errors,
       CAST(1.0 * sum(is_error) / nullif(count(is_error), 0) AS DOUBLE) AS error_rate,
       CAST(avg(duration_ms) AS DOUBLE) AS mean_ms, CAST(max(duration_ms) AS BIGINT) AS longest_ms
FROM _calls_once GROUP BY agent, tool;

-- clido's figures count from the start of its process: within a run they grow, and a fall is the next run.
CREATE VIEW runs AS
SELECT r.key AS entry, CAST(r.key >> 24 AS BIGINT) AS session, e.stop_reason AS exit_status, r.turns, r.duration_ms,
       r.cost AS cost_so_far,
       CAST(r.cost - CASE WHEN lag(r.cost) OVER w <= r.cost THEN lag(r.cost) OVER w ELSE 0 END AS DOUBLE) AS cost
FROM _runs r JOIN _entries e USING (key)
WINDOW w AS (PARTITION BY r.key >> 24 ORDER BY e.source, e.start);

-- One row an entry that records usage, as written: steps beside totals, and what forks and copies repeat.
CREATE VIEW usage_records AS
SELECT key AS entry, CAST(key >> 24 AS BIGINT) AS session, provider, model, response_id, input, output, cache_read,
       cache_write, reasoning, total, cost_input, cost_output, cost_cache_read, cost_cache_write, cost_total, step
FROM _usage;

-- What was spent, before copies are put together: answers that record it once,
CREATE VIEW _spent_in_answers AS
SELECT u.key, e.time_ms, nullif(u.response_id, '') AS response_id,
       CASE WHEN nullif(u.response_id, '') IS NULL THEN coalesce(e.time_ms, e.hash) END AS moment, u.provider, u.model,
       u.input, u.output, u.cache_read, u.cache_write, u.reasoning, u.total,
       u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write, u.cost_total
FROM _usage u JOIN _entries e USING (key)
WHERE NOT u.step AND NOT EXISTS (SELECT 1 FROM _usage t
       WHERE t.step AND t.key BETWEEN (u.key >> 24) << 24 AND ((u.key >> 24) << 24) + 16777215);

-- answers of several steps, which begin with zeros that are no total yet,
CREATE VIEW _steps AS
SELECT u.key, u.step, u.provider, u.model, u.input, u.output, u.cache_read, u.cache_write, u.reasoning, u.cost_total,
       e.time_ms, e.hash, CASE WHEN u.step THEN e.parent ELSE e.id END AS message,
       CASE WHEN NOT u.step THEN coalesce(u.input, 0) + coalesce(u.output, 0) + coalesce(u.cache_read, 0)
                                 + coalesce(u.cache_write, 0) END AS total_tokens,
       CASE WHEN NOT u.step THEN u.cost_total END AS total_cost
FROM _usage u JOIN _entries e USING (key)
WHERE EXISTS (SELECT 1 FROM _usage t
       WHERE t.step AND t.key BETWEEN (u.key >> 24) << 24 AND ((u.key >> 24) << 24) + 16777215);

CREATE VIEW _spent_in_steps AS
SELECT coalesce(min(CASE WHEN NOT step THEN key END), min(key)) AS key,
       coalesce(max(CASE WHEN NOT step THEN time_ms END), max(time_ms)) AS time_ms, CAST(NULL AS TEXT) AS response_id,
       max(coalesce(time_ms, hash)) AS moment, max(provider) AS provider, max(model) AS model,
       CASE WHEN max(total_tokens) <> 0 THEN sum(CASE WHEN NOT step THEN input END)
            ELSE coalesce(sum(CASE WHEN step THEN input END), sum(input)) END AS input,
       CASE WHEN max(total_tokens) <> 0 THEN sum(CASE WHEN NOT step THEN output END)
            ELSE coalesce(sum(CASE WHEN step THEN output END), sum(output)) END AS output,
       CASE WHEN max(total_tokens) <> 0 THEN sum(CASE WHEN NOT step THEN cache_read END)
            ELSE coalesce(sum(CASE WHEN step THEN cache_read END), sum(cache_read)) END AS cache_read,
       CASE WHEN max(total_tokens) <> 0 THEN sum(CASE WHEN NOT step THEN cache_write END)
            ELSE coalesce(sum(CASE WHEN step THEN cache_write END), sum(cache_write)) END AS cache_write,
       CASE WHEN max(total_tokens) <> 0 THEN sum(CASE WHEN NOT step THEN reasoning END)
            ELSE coalesce(sum(CASE WHEN step THEN reasoning END), sum(reasoning)) END AS reasoning,
       CAST(NULL AS BIGINT) AS total, CAST(NULL AS DOUBLE) AS cost_input, CAST(NULL AS DOUBLE) AS cost_output,
       CAST(NULL AS DOUBLE) AS cost_cache_read, CAST(NULL AS DOUBLE) AS cost_cache_write,
       CASE WHEN max(total_cost) <> 0 THEN max(total_cost)
            ELSE coalesce(sum(CASE WHEN step THEN cost_total END), max(total_cost)) END AS cost_total
FROM _steps GROUP BY key >> 24, message;

-- and clido's turns.
CREATE VIEW _spent_in_runs AS
SELECT r.entry AS key, CAST(NULL AS BIGINT) AS time_ms, CAST(NULL AS TEXT) AS response_id, e.hash AS moment,
       CAST(NULL AS TEXT) AS provider, CAST(NULL AS TEXT) AS model, CAST(NULL AS BIGINT) AS input,
       CAST(NULL AS BIGINT) AS output, CAST(NULL AS BIGINT) AS cache_read, CAST(NULL AS BIGINT) AS cache_write,
       CAST(NULL AS BIGINT) AS reasoning, CAST(NULL AS BIGINT) AS total, CAST(NULL AS DOUBLE) AS cost_input,
       CAST(NULL AS DOUBLE) AS cost_output, CAST(NULL AS DOUBLE) AS cost_cache_read,
       CAST(NULL AS DOUBLE) AS cost_cache_write, r.cost AS cost_total
FROM runs r JOIN _entries e ON e.key = r.entry
WHERE r.cost IS NOT NULL;

CREATE VIEW _spent AS
SELECT * FROM _spent_in_answers UNION ALL SELECT * FROM _spent_in_steps UNION ALL SELECT * FROM _spent_in_runs;

-- Each answer once: copies agree in response id (without one: time, without that: bytes), model, tokens and cost. It
-- counts for the oldest session that holds it. CROSS JOIN keeps the order of the tables: nothing is put aside first.
CREATE VIEW _counted AS
SELECT u.*, count(1) AS records, min((coalesce(s.created_ms, 1 << 42) << 20) + ((u.key >> 24) & 1048575)) AS oldest
FROM _spent u CROSS JOIN _sessions s
WHERE s.session = u.key >> 24
GROUP BY u.response_id, u.moment, u.model, u.input, u.output, u.cost_total;

CREATE VIEW usage AS
SELECT CAST(u.key AS BIGINT) AS entry, CAST(u.key >> 24 AS BIGINT) AS session, r.agent, s.cwd,
       CAST(coalesce(u.time_ms, s.created_ms) AS BIGINT) AS time_ms,
       CAST(strftime('%Y-%m-%d', coalesce(u.time_ms, s.created_ms) / 1000, 'unixepoch') AS TEXT) AS day,
       CAST(strftime('%Y-%m-%d', coalesce(u.time_ms, s.created_ms) / 1000, 'unixepoch', 'localtime') AS TEXT) AS local_day,
       CAST(u.provider AS TEXT) AS provider, CAST(u.model AS TEXT) AS model, CAST(u.response_id AS TEXT) AS response_id,
       CAST(u.input AS BIGINT) AS input, CAST(u.output AS BIGINT) AS output, CAST(u.cache_read AS BIGINT) AS cache_read,
       CAST(u.cache_write AS BIGINT) AS cache_write, CAST(u.reasoning AS BIGINT) AS reasoning, CAST(u.total AS BIGINT) AS total,
       CAST(u.cost_input AS DOUBLE) AS cost_input, CAST(u.cost_output AS DOUBLE) AS cost_output,
       CAST(u.cost_cache_read AS DOUBLE) AS cost_cache_read, CAST(u.cost_cache_write AS DOUBLE) AS cost_cache_write,
       CAST(u.cost_total AS DOUBLE) AS cost_total, CAST(u.records AS BIGINT) AS records
FROM _counted u CROSS JOIN _sessions s CROSS JOIN _roots r
WHERE s.session = u.key >> 24 AND r.root = s.root;

CREATE VIEW usage_by_day AS
SELECT day, CAST(count(1) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM usage GROUP BY day;

CREATE VIEW usage_by_local_day AS
SELECT local_day, CAST(count(1) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM usage GROUP BY local_day;

CREATE VIEW usage_by_model AS
SELECT provider, model, CAST(count(1) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM usage GROUP BY provider, model;

CREATE VIEW usage_by_provider AS
SELECT provider, CAST(count(1) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM usage GROUP BY provider;

CREATE VIEW usage_by_project AS
SELECT cwd, CAST(count(1) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM usage GROUP BY cwd;

CREATE VIEW usage_by_agent AS
SELECT agent, CAST(count(1) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM usage GROUP BY agent;

CREATE VIEW compactions AS
SELECT key AS entry, CAST(key >> 24 AS BIGINT) AS session, first_kept, tokens_before FROM _compactions;

-- Files that an entry says were read or modified: arguments of calls, details of compactions and summaries, patches.
CREATE VIEW touches AS
SELECT f.key AS entry, CAST(f.key >> 24 AS BIGINT) AS session, f.ordinal, e.time_ms, f.path AS path_written,
       CAST(CASE WHEN s.cwd = '' OR substr(f.path, 1, 1) IN ('/', '~', '\') OR substr(f.path, 2, 1) = ':' THEN f.path
                 WHEN substr(f.path, 1, 2) = './' THEN s.cwd || substr(f.path, 2)
                 ELSE s.cwd || '/' || f.path END AS TEXT) AS path,
       f.modified, e.kind AS told_by
FROM _files f JOIN _entries e USING (key) JOIN _sessions s ON s.session = f.key >> 24;

-- Which sessions touched a file.
CREATE VIEW files AS
SELECT path, session, CAST(sum(NOT modified) AS BIGINT) AS reads, CAST(sum(modified) AS BIGINT) AS modifications,
       CAST(min(time_ms) AS BIGINT) AS first_ms, CAST(max(time_ms) AS BIGINT) AS last_ms
FROM touches GROUP BY path, session;

CREATE VIEW problems AS
SELECT 'bytes' AS what, r.path AS root, s.relative, p.start, p.length, p.provisional, p.reason,
       CAST((SELECT min(session) FROM _session_sources ss WHERE ss.source = s.source) AS BIGINT) AS session
FROM _problems p JOIN _sources s USING (source) JOIN _roots r USING (root)
UNION ALL
SELECT 'file', r.path, t.relative, NULL, NULL, 0, t.reason, NULL FROM _strays t JOIN _roots r USING (root)
UNION ALL
SELECT 'unread', r.path, s.relative, NULL, NULL, 0, s.unread,
       (SELECT min(session) FROM _session_sources ss WHERE ss.source = s.source)
FROM _sources s JOIN _roots r USING (root) WHERE s.unread IS NOT NULL
UNION ALL
SELECT 'root', r.path, '', NULL, NULL, 0, r.error, NULL FROM _roots r WHERE r.error IS NOT NULL;

CREATE VIEW freshness AS
SELECT last_scan_ms, last_batch,
       CAST((SELECT count(1) FROM _outbox) AS BIGINT) AS outstanding_items,
       CAST((SELECT coalesce(sum(bytes), 0) FROM _outbox) AS BIGINT) AS outstanding_bytes,
       index_id,
       CAST(coalesce((SELECT min(seq) FROM _changes), 1) AS BIGINT) AS first_change,
       CAST(coalesce((SELECT max(seq) FROM _changes), 0) AS BIGINT) AS last_change
FROM _store;
