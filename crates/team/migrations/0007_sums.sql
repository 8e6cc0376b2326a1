-- As migrations/0004_sums.sql of the catalogue has it: a result without a cost is no fall, and the
-- next one has grown since the last one with a cost; a day before 1970 is that day too.

CREATE OR REPLACE VIEW sessionary_catalogue.runs WITH (security_invoker = true) AS
  SELECT r.key AS entry, r.key >> 24 AS session, e.stop_reason AS exit_status, r.turns,
    r.duration_ms, r.cost AS cost_so_far,
    r.cost - CASE WHEN lag(r.cost) OVER w <= r.cost THEN lag(r.cost) OVER w ELSE 0 END AS cost,
    s.host
  FROM sessionary_catalogue._runs r JOIN sessionary_catalogue._entries e USING (key)
    JOIN sessionary_catalogue._own s ON s.session = r.key >> 24
  WINDOW w AS (PARTITION BY r.key >> 24, r.cost IS NULL ORDER BY e.source, e.start);

CREATE OR REPLACE VIEW sessionary_catalogue.usage WITH (security_invoker = true) AS
  SELECT r.entry, r.session, r.agent, r.cwd, r.time_ms,
    sessionary_catalogue._day(r.quarter_ms) AS day,
    sessionary_catalogue.local_day(r.quarter_ms) AS local_day, r.provider,
    r.model, r.response_id, r.input, r.output, r.cache_read, r.cache_write, r.reasoning,
    CASE WHEN coalesce(r.input, r.output, r.cache_read, r.cache_write, r.stepped) IS NULL
        THEN r.total_written
      ELSE sessionary_catalogue._whole(coalesce(r.input, 0)::numeric + coalesce(r.output, 0)
        + coalesce(r.cache_read, 0) + coalesce(r.cache_write, 0)) END AS total,
    r.total_written, r.cost_input, r.cost_output, r.cost_cache_read, r.cost_cache_write,
    r.cost_total, r.records, r.host
  FROM (
    SELECT u.key AS entry, u.key >> 24 AS session, u.agent, u.cwd,
      coalesce(u.time_ms, u.created_ms) AS time_ms,
      -- Far beyond the calendar there are no days, and no room for the sum.
      CASE WHEN abs(coalesce(u.time_ms, u.created_ms)::numeric) < 9000000000000000000
        THEN coalesce(u.time_ms, u.created_ms)
          - (coalesce(u.time_ms, u.created_ms) % 900000 + 900000) % 900000 END AS quarter_ms,
      u.provider, u.model, u.response_id,
      CASE WHEN w.key IS NULL THEN u.input ELSE w.input END AS input,
      CASE WHEN w.key IS NULL THEN u.output ELSE w.output END AS output,
      CASE WHEN w.key IS NULL THEN u.cache_read ELSE w.cache_read END AS cache_read,
      CASE WHEN w.key IS NULL THEN u.cache_write ELSE w.cache_write END AS cache_write,
      CASE WHEN w.key IS NULL THEN u.reasoning ELSE w.reasoning END AS reasoning,
      u.total AS total_written, u.cost_input, u.cost_output, u.cost_cache_read,
      u.cost_cache_write,
      CASE WHEN w.key IS NULL THEN u.cost_total ELSE w.cost_total END AS cost_total, u.records,
      w.key AS stepped, u.host
    FROM sessionary_catalogue._counted u
      LEFT JOIN sessionary_catalogue._stepped w ON w.key = u.key
    WHERE u.counts = 1 AND u.what <> 3) r;
