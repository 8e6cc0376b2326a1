-- Sums of whole numbers are made as floats: a file may claim any number, and a sum of whole numbers that is too large fails.
DROP VIEW tools;
CREATE VIEW tools AS
SELECT r.agent, t.tool, CAST(sum(t.calls) AS BIGINT) AS calls, CAST(sum(t.answered) AS BIGINT) AS answered,
       CAST(sum(t.errors) AS BIGINT) AS errors,
       CAST(1.0 * sum(t.errors) / nullif(sum(t.answered), 0) AS DOUBLE) AS error_rate,
       CAST(sum(1.0 * t.ms) / nullif(sum(t.timed), 0) AS DOUBLE) AS mean_ms, CAST(max(t.longest_ms) AS BIGINT) AS longest_ms
FROM _sessions s JOIN _roots r USING (root)
  JOIN _call_sums t ON t.block >> 16 = s.session AND t.block BETWEEN s.session << 16 AND (s.session << 16) + 65535
WHERE s.path <> '' GROUP BY r.agent, t.tool;

DROP VIEW usage_by_day;
CREATE VIEW usage_by_day AS
SELECT day, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(1.0 * input) AS BIGINT) AS input, CAST(sum(1.0 * output) AS BIGINT) AS output,
       CAST(sum(1.0 * cache_read) AS BIGINT) AS cache_read, CAST(sum(1.0 * cache_write) AS BIGINT) AS cache_write,
       CAST(sum(1.0 * reasoning) AS BIGINT) AS reasoning, CAST(sum(1.0 * total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY day;

DROP VIEW usage_by_local_day;
CREATE VIEW usage_by_local_day AS
SELECT local_day, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(1.0 * input) AS BIGINT) AS input, CAST(sum(1.0 * output) AS BIGINT) AS output,
       CAST(sum(1.0 * cache_read) AS BIGINT) AS cache_read, CAST(sum(1.0 * cache_write) AS BIGINT) AS cache_write,
       CAST(sum(1.0 * reasoning) AS BIGINT) AS reasoning, CAST(sum(1.0 * total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY local_day;

DROP VIEW usage_by_model;
CREATE VIEW usage_by_model AS
SELECT provider, model, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(1.0 * input) AS BIGINT) AS input, CAST(sum(1.0 * output) AS BIGINT) AS output,
       CAST(sum(1.0 * cache_read) AS BIGINT) AS cache_read, CAST(sum(1.0 * cache_write) AS BIGINT) AS cache_write,
       CAST(sum(1.0 * reasoning) AS BIGINT) AS reasoning, CAST(sum(1.0 * total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY provider, model;

DROP VIEW usage_by_provider;
CREATE VIEW usage_by_provider AS
SELECT provider, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(1.0 * input) AS BIGINT) AS input, CAST(sum(1.0 * output) AS BIGINT) AS output,
       CAST(sum(1.0 * cache_read) AS BIGINT) AS cache_read, CAST(sum(1.0 * cache_write) AS BIGINT) AS cache_write,
       CAST(sum(1.0 * reasoning) AS BIGINT) AS reasoning, CAST(sum(1.0 * total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY provider;

DROP VIEW usage_by_project;
CREATE VIEW usage_by_project AS
SELECT cwd, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(1.0 * input) AS BIGINT) AS input, CAST(sum(1.0 * output) AS BIGINT) AS output,
       CAST(sum(1.0 * cache_read) AS BIGINT) AS cache_read, CAST(sum(1.0 * cache_write) AS BIGINT) AS cache_write,
       CAST(sum(1.0 * reasoning) AS BIGINT) AS reasoning, CAST(sum(1.0 * total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY cwd;

DROP VIEW usage_by_agent;
CREATE VIEW usage_by_agent AS
SELECT agent, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(1.0 * input) AS BIGINT) AS input, CAST(sum(1.0 * output) AS BIGINT) AS output,
       CAST(sum(1.0 * cache_read) AS BIGINT) AS cache_read, CAST(sum(1.0 * cache_write) AS BIGINT) AS cache_write,
       CAST(sum(1.0 * reasoning) AS BIGINT) AS reasoning, CAST(sum(1.0 * total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY agent;

-- A result without a cost is no fall, and the next one has grown since the last one with a cost.
DROP VIEW runs;
CREATE VIEW runs AS
SELECT r.key AS entry, CAST(r.key >> 24 AS BIGINT) AS session, e.stop_reason AS exit_status, r.turns, r.duration_ms,
       r.cost AS cost_so_far,
       CAST(r.cost - CASE WHEN lag(r.cost) OVER w <= r.cost THEN lag(r.cost) OVER w ELSE 0 END AS DOUBLE) AS cost
FROM _runs r JOIN _entries e USING (key)
WINDOW w AS (PARTITION BY r.key >> 24, r.cost IS NULL ORDER BY e.source, e.start);

-- What was spent, in every copy, with the quarter of an hour in which its moment lies, before 1970 too.
CREATE VIEW _recorded AS
SELECT u.key, CAST(u.key >> 24 AS BIGINT) AS session, u.what, u.counted, CAST(coalesce(u.time_ms, s.created_ms) AS BIGINT) AS time_ms,
       CAST(coalesce(u.time_ms, s.created_ms) - (coalesce(u.time_ms, s.created_ms) % 900000 + 900000) % 900000 AS BIGINT) AS quarter_ms,
       u.provider, u.model, u.response_id,
       CASE WHEN w.key IS NULL THEN u.input ELSE w.input END AS input,
       CASE WHEN w.key IS NULL THEN u.output ELSE w.output END AS output,
       CASE WHEN w.key IS NULL THEN u.cache_read ELSE w.cache_read END AS cache_read,
       CASE WHEN w.key IS NULL THEN u.cache_write ELSE w.cache_write END AS cache_write,
       CASE WHEN w.key IS NULL THEN u.reasoning ELSE w.reasoning END AS reasoning,
       CASE WHEN w.key IS NOT NULL
            THEN coalesce(w.input, 0) + coalesce(w.output, 0) + coalesce(w.cache_read, 0) + coalesce(w.cache_write, 0)
            WHEN coalesce(u.input, u.output, u.cache_read, u.cache_write) IS NULL THEN u.total
            ELSE coalesce(u.input, 0) + coalesce(u.output, 0) + coalesce(u.cache_read, 0) + coalesce(u.cache_write, 0)
       END AS total, u.total AS total_written,
       u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write,
       CASE WHEN w.key IS NULL THEN u.cost_total ELSE w.cost_total END AS cost_total, u.said
FROM _usage u
  LEFT JOIN _sessions s ON s.session = CASE WHEN u.time_ms IS NULL THEN u.key >> 24 END
  LEFT JOIN _stepped w ON w.key = u.key
WHERE u.what <> 3;

-- What does not count, by session: of few entries.
CREATE INDEX _usage_copies ON _usage (key) WHERE counted = 0;

-- What counts of it.
DROP VIEW _answers;
CREATE VIEW _answers AS
SELECT u.*, q.day, q.local_day FROM _recorded u LEFT JOIN _quarters q ON q.quarter_ms = u.quarter_ms WHERE u.counted = 1;
