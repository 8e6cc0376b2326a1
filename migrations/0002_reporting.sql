-- Views for reports, and what they need from the files: clido's runs, and the steps of an answer of agentuse's
-- whose total is missing. Contract version 2 (README.md in this folder).

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
       CAST(s.hidden IS NULL AS INTEGER) AS listed_by_agent, s.hidden AS reason, s.own
FROM _sessions s JOIN _roots r USING (root)
WHERE s.path <> '';

CREATE VIEW largest_sessions AS
SELECT session, agent, cwd, name, first_message, bytes, entries, messages, tokens, cost, errors, modified_ms, id, path
FROM sessions ORDER BY bytes DESC, session;

CREATE VIEW forks AS
SELECT c.session, CAST(coalesce(p.session, i.session) AS INTEGER) AS parent, c.parent_session AS parent_written,
       CAST(CASE WHEN json_extract(c.own, '$.isSubAgent') THEN 'subagent' ELSE 'fork' END AS TEXT) AS relation
FROM _sessions c
  LEFT JOIN (SELECT path, min(session) AS session FROM _sessions GROUP BY path) p ON p.path = c.parent_session
  LEFT JOIN (SELECT root, id, min(session) AS session FROM _sessions GROUP BY root, id) i
    ON i.root = c.root AND i.id = c.parent_session
WHERE c.parent_session IS NOT NULL AND c.path <> '';

-- One row a line that calls or answers, as written.
CREATE VIEW call_records AS
SELECT key AS entry, CAST(key >> 24 AS INTEGER) AS session, ordinal, call_id, tool, is_result, is_error, subject, duration_ms
FROM _calls;

-- One row a call, with the answer that follows it. An answer comes within the next thousand entries or not at all:
-- the search for it must end.
CREATE VIEW calls AS
SELECT c.key AS entry, CAST(c.key >> 24 AS INTEGER) AS session, c.ordinal, e.time_ms, c.call_id, c.tool, c.subject,
       a.key AS answer,
       CAST(coalesce(c.is_error, a.is_error) AS INTEGER) AS is_error,
       CAST(coalesce(c.duration_ms, a.duration_ms) AS INTEGER) AS duration_ms,
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

-- Error rates. A call that forks and copies repeat is one call.
CREATE VIEW tools AS
SELECT agent, tool, CAST(count(*) AS INTEGER) AS calls, CAST(count(is_error) AS INTEGER) AS answered,
       CAST(sum(is_error) AS INTEGER) AS errors,
       CAST(1.0 * sum(is_error) / nullif(count(is_error), 0) AS REAL) AS error_rate,
       CAST(avg(duration_ms) AS REAL) AS mean_ms, CAST(max(duration_ms) AS INTEGER) AS longest_ms
FROM (SELECT r.agent, c.tool, max(c.is_error) AS is_error, max(c.duration_ms) AS duration_ms
      FROM calls c JOIN _sessions s USING (session) JOIN _roots r USING (root)
      GROUP BY r.agent, c.tool, coalesce(c.call_id, -c.entry), c.time_ms, c.subject)
GROUP BY agent, tool;

-- clido's figures count from the start of its process: within a run they grow, and a fall is the next run.
CREATE VIEW runs AS
SELECT r.key AS entry, CAST(r.key >> 24 AS INTEGER) AS session, e.stop_reason AS exit_status, r.turns, r.duration_ms,
       r.cost AS cost_so_far,
       CAST(r.cost - CASE WHEN lag(r.cost) OVER w <= r.cost THEN lag(r.cost) OVER w ELSE 0 END AS REAL) AS cost
FROM _runs r JOIN _entries e USING (key)
WINDOW w AS (PARTITION BY r.key >> 24 ORDER BY e.source, e.start);

-- One row an entry that records usage, as written: steps beside totals, and what forks and copies repeat.
CREATE VIEW usage_records AS
SELECT key AS entry, CAST(key >> 24 AS INTEGER) AS session, provider, model, response_id, input, output, cache_read,
       cache_write, reasoning, total, cost_input, cost_output, cost_cache_read, cost_cache_write, cost_total, step
FROM _usage;

-- What was spent, before copies are put together.
CREATE VIEW _spent AS
SELECT u.key, e.time_ms, coalesce(nullif(u.response_id, ''), e.time_ms, e.hash) AS same, u.provider, u.model, u.response_id,
       u.input, u.output, u.cache_read, u.cache_write, u.reasoning, u.total,
       u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write, u.cost_total
FROM _usage u JOIN _entries e USING (key)
WHERE NOT u.step AND u.key >> 24 NOT IN (SELECT key >> 24 FROM _usage WHERE step)
UNION ALL
-- An answer of several steps. It begins with zeros: they are no total yet.
SELECT coalesce(min(iif(step, NULL, key)), min(key)), coalesce(max(iif(step, NULL, time_ms)), max(time_ms)),
       max(coalesce(time_ms, hash)), max(provider), max(model), NULL,
       iif(total_tokens <> 0, sum(iif(step, NULL, input)), coalesce(sum(iif(step, input, NULL)), sum(input))),
       iif(total_tokens <> 0, sum(iif(step, NULL, output)), coalesce(sum(iif(step, output, NULL)), sum(output))),
       iif(total_tokens <> 0, sum(iif(step, NULL, cache_read)), coalesce(sum(iif(step, cache_read, NULL)), sum(cache_read))),
       iif(total_tokens <> 0, sum(iif(step, NULL, cache_write)), coalesce(sum(iif(step, cache_write, NULL)), sum(cache_write))),
       iif(total_tokens <> 0, sum(iif(step, NULL, reasoning)), coalesce(sum(iif(step, reasoning, NULL)), sum(reasoning))),
       NULL, NULL, NULL, NULL, NULL,
       iif(total_cost <> 0, total_cost, coalesce(sum(iif(step, cost_total, NULL)), total_cost))
FROM (SELECT u.*, e.time_ms, e.hash, iif(u.step, e.parent, e.id) AS message,
             sum(iif(u.step, NULL, coalesce(u.input, 0) + coalesce(u.output, 0) + coalesce(u.cache_read, 0)
                                   + coalesce(u.cache_write, 0))) OVER w AS total_tokens,
             sum(iif(u.step, NULL, u.cost_total)) OVER w AS total_cost
      FROM _usage u JOIN _entries e USING (key)
      WHERE u.key >> 24 IN (SELECT key >> 24 FROM _usage WHERE step)
      WINDOW w AS (PARTITION BY u.key >> 24, iif(u.step, e.parent, e.id)))
GROUP BY key >> 24, message
UNION ALL
SELECT r.entry, NULL, e.hash, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, r.cost
FROM runs r JOIN _entries e ON e.key = r.entry
WHERE r.cost IS NOT NULL;

-- Each answer once: copies agree in response id (without one: time, without that: bytes), model, tokens and cost. It
-- counts for the oldest session that holds it. CROSS JOIN keeps the order of the tables: nothing is put aside first.
CREATE VIEW usage AS
SELECT u.key AS entry, CAST(u.key >> 24 AS INTEGER) AS session, r.agent, s.cwd,
       CAST(coalesce(u.time_ms, s.created_ms) AS INTEGER) AS time_ms,
       date(coalesce(u.time_ms, s.created_ms) / 1000, 'unixepoch') AS day,
       date(coalesce(u.time_ms, s.created_ms) / 1000, 'unixepoch', 'localtime') AS local_day,
       u.provider, u.model, u.response_id, u.input, u.output, u.cache_read, u.cache_write, u.reasoning, u.total,
       u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write, u.cost_total, u.records
FROM (SELECT u.*, count(*) AS records,
             min((coalesce(s.created_ms, 1 << 42) << 20) + ((u.key >> 24) & 1048575)) AS oldest
      FROM _spent u CROSS JOIN _sessions s ON s.session = u.key >> 24
      GROUP BY u.same, u.model, u.input, u.output, u.cost_total) u
  CROSS JOIN _sessions s ON s.session = u.key >> 24 CROSS JOIN _roots r USING (root);

CREATE VIEW usage_by_day AS
SELECT day, CAST(count(*) AS INTEGER) AS answers, CAST(count(DISTINCT session) AS INTEGER) AS sessions,
       CAST(sum(input) AS INTEGER) AS input, CAST(sum(output) AS INTEGER) AS output,
       CAST(sum(cache_read) AS INTEGER) AS cache_read, CAST(sum(cache_write) AS INTEGER) AS cache_write,
       CAST(sum(reasoning) AS INTEGER) AS reasoning, CAST(sum(total) AS INTEGER) AS total,
       CAST(sum(cost_input) AS REAL) AS cost_input, CAST(sum(cost_output) AS REAL) AS cost_output,
       CAST(sum(cost_cache_read) AS REAL) AS cost_cache_read, CAST(sum(cost_cache_write) AS REAL) AS cost_cache_write,
       CAST(sum(cost_total) AS REAL) AS cost_total
FROM usage GROUP BY day;

CREATE VIEW usage_by_local_day AS
SELECT local_day, CAST(count(*) AS INTEGER) AS answers, CAST(count(DISTINCT session) AS INTEGER) AS sessions,
       CAST(sum(input) AS INTEGER) AS input, CAST(sum(output) AS INTEGER) AS output,
       CAST(sum(cache_read) AS INTEGER) AS cache_read, CAST(sum(cache_write) AS INTEGER) AS cache_write,
       CAST(sum(reasoning) AS INTEGER) AS reasoning, CAST(sum(total) AS INTEGER) AS total,
       CAST(sum(cost_input) AS REAL) AS cost_input, CAST(sum(cost_output) AS REAL) AS cost_output,
       CAST(sum(cost_cache_read) AS REAL) AS cost_cache_read, CAST(sum(cost_cache_write) AS REAL) AS cost_cache_write,
       CAST(sum(cost_total) AS REAL) AS cost_total
FROM usage GROUP BY local_day;

CREATE VIEW usage_by_model AS
SELECT provider, model, CAST(count(*) AS INTEGER) AS answers, CAST(count(DISTINCT session) AS INTEGER) AS sessions,
       CAST(sum(input) AS INTEGER) AS input, CAST(sum(output) AS INTEGER) AS output,
       CAST(sum(cache_read) AS INTEGER) AS cache_read, CAST(sum(cache_write) AS INTEGER) AS cache_write,
       CAST(sum(reasoning) AS INTEGER) AS reasoning, CAST(sum(total) AS INTEGER) AS total,
       CAST(sum(cost_input) AS REAL) AS cost_input, CAST(sum(cost_output) AS REAL) AS cost_output,
       CAST(sum(cost_cache_read) AS REAL) AS cost_cache_read, CAST(sum(cost_cache_write) AS REAL) AS cost_cache_write,
       CAST(sum(cost_total) AS REAL) AS cost_total
FROM usage GROUP BY provider, model;

CREATE VIEW usage_by_provider AS
SELECT provider, CAST(count(*) AS INTEGER) AS answers, CAST(count(DISTINCT session) AS INTEGER) AS sessions,
       CAST(sum(input) AS INTEGER) AS input, CAST(sum(output) AS INTEGER) AS output,
       CAST(sum(cache_read) AS INTEGER) AS cache_read, CAST(sum(cache_write) AS INTEGER) AS cache_write,
       CAST(sum(reasoning) AS INTEGER) AS reasoning, CAST(sum(total) AS INTEGER) AS total,
       CAST(sum(cost_input) AS REAL) AS cost_input, CAST(sum(cost_output) AS REAL) AS cost_output,
       CAST(sum(cost_cache_read) AS REAL) AS cost_cache_read, CAST(sum(cost_cache_write) AS REAL) AS cost_cache_write,
       CAST(sum(cost_total) AS REAL) AS cost_total
FROM usage GROUP BY provider;

CREATE VIEW usage_by_project AS
SELECT cwd, CAST(count(*) AS INTEGER) AS answers, CAST(count(DISTINCT session) AS INTEGER) AS sessions,
       CAST(sum(input) AS INTEGER) AS input, CAST(sum(output) AS INTEGER) AS output,
       CAST(sum(cache_read) AS INTEGER) AS cache_read, CAST(sum(cache_write) AS INTEGER) AS cache_write,
       CAST(sum(reasoning) AS INTEGER) AS reasoning, CAST(sum(total) AS INTEGER) AS total,
       CAST(sum(cost_input) AS REAL) AS cost_input, CAST(sum(cost_output) AS REAL) AS cost_output,
       CAST(sum(cost_cache_read) AS REAL) AS cost_cache_read, CAST(sum(cost_cache_write) AS REAL) AS cost_cache_write,
       CAST(sum(cost_total) AS REAL) AS cost_total
FROM usage GROUP BY cwd;

CREATE VIEW usage_by_agent AS
SELECT agent, CAST(count(*) AS INTEGER) AS answers, CAST(count(DISTINCT session) AS INTEGER) AS sessions,
       CAST(sum(input) AS INTEGER) AS input, CAST(sum(output) AS INTEGER) AS output,
       CAST(sum(cache_read) AS INTEGER) AS cache_read, CAST(sum(cache_write) AS INTEGER) AS cache_write,
       CAST(sum(reasoning) AS INTEGER) AS reasoning, CAST(sum(total) AS INTEGER) AS total,
       CAST(sum(cost_input) AS REAL) AS cost_input, CAST(sum(cost_output) AS REAL) AS cost_output,
       CAST(sum(cost_cache_read) AS REAL) AS cost_cache_read, CAST(sum(cost_cache_write) AS REAL) AS cost_cache_write,
       CAST(sum(cost_total) AS REAL) AS cost_total
FROM usage GROUP BY agent;

CREATE VIEW compactions AS
SELECT key AS entry, CAST(key >> 24 AS INTEGER) AS session, first_kept, tokens_before FROM _compactions;

-- Files that an entry says were read or modified: arguments of calls, details of compactions and summaries, patches.
CREATE VIEW touches AS
SELECT f.key AS entry, CAST(f.key >> 24 AS INTEGER) AS session, f.ordinal, e.time_ms, f.path AS path_written,
       CAST(CASE WHEN s.cwd = '' OR f.path GLOB '[/~\]*' OR f.path GLOB '[A-Za-z]:*' THEN f.path
                 ELSE s.cwd || '/' || iif(f.path GLOB './*', substr(f.path, 3), f.path) END AS TEXT) AS path,
       f.modified, e.kind AS told_by
FROM _files f JOIN _entries e USING (key) JOIN _sessions s ON s.session = f.key >> 24;

-- Which sessions touched a file.
CREATE VIEW files AS
SELECT path, session, CAST(sum(NOT modified) AS INTEGER) AS reads, CAST(sum(modified) AS INTEGER) AS modifications,
       CAST(min(time_ms) AS INTEGER) AS first_ms, CAST(max(time_ms) AS INTEGER) AS last_ms
FROM touches GROUP BY path, session;

CREATE VIEW problems AS
SELECT 'bytes' AS what, r.path AS root, s.relative, p.start, p.length, p.provisional, p.reason,
       CAST((SELECT min(session) FROM _session_sources ss WHERE ss.source = s.source) AS INTEGER) AS session
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
       CAST((SELECT count(*) FROM _outbox) AS INTEGER) AS outstanding_items,
       CAST((SELECT coalesce(sum(bytes), 0) FROM _outbox) AS INTEGER) AS outstanding_bytes,
       index_id,
       CAST(coalesce((SELECT min(seq) FROM _changes), 1) AS INTEGER) AS first_change,
       CAST(coalesce((SELECT max(seq) FROM _changes), 0) AS INTEGER) AS last_change
FROM _store;
