-- The views of the contract (docs/sql.md), with the columns that they have in a catalogue of one
-- machine, and behind these `host` where a row is of one host. Each is asked with the rights of who
-- asks. What was spent is counted once among all rows that these rights show.

-- SQLite's functions that PostgreSQL has not. Days and times are those of the connection's zone;
-- beyond the years 1 to 9999 there are none.
CREATE FUNCTION sessionary_catalogue.local_day(ms bigint) RETURNS text
  LANGUAGE sql STABLE
  RETURN CASE WHEN ms BETWEEN -62135596800000 AND 253402214400000
    THEN to_char(to_timestamp(ms / 1000.0), 'YYYY-MM-DD') END;

CREATE FUNCTION sessionary_catalogue.local_time(ms bigint) RETURNS text
  LANGUAGE sql STABLE
  RETURN CASE WHEN ms BETWEEN -62135596800000 AND 253402214400000
    THEN to_char(to_timestamp(ms / 1000.0), 'YYYY-MM-DD HH24:MI:SS') END;

CREATE FUNCTION sessionary_catalogue._day(ms bigint) RETURNS text
  LANGUAGE sql STABLE
  RETURN CASE WHEN ms BETWEEN -62135596800000 AND 253402214400000
    THEN to_char(to_timestamp(ms / 1000.0) AT TIME ZONE 'UTC', 'YYYY-MM-DD') END;

CREATE FUNCTION sessionary_catalogue.round(number double precision, digits integer)
  RETURNS double precision
  LANGUAGE sql IMMUTABLE
  RETURN pg_catalog.round(number::numeric, digits)::double precision;

-- A file may claim any number: what is beyond the range of whole numbers is cut to it.
CREATE FUNCTION sessionary_catalogue._whole(number numeric) RETURNS bigint
  LANGUAGE sql IMMUTABLE
  RETURN CASE WHEN number IS NOT NULL
    THEN greatest(least(number, 9223372036854775807), -9223372036854775808)::bigint END;

CREATE VIEW sessionary_catalogue.contract WITH (security_invoker = true) AS
  SELECT 4::bigint AS contract_version;

CREATE VIEW sessionary_catalogue.sessions WITH (security_invoker = true) AS
  SELECT s.session, b.host, s.agent, s.label, s.root_path AS root, s.path, s.id, s.cwd, s.name,
    s.parent_session, s.created_raw, s.created_ms, s.modified_ms, s.file_ms, s.messages,
    s.first_message, s.entries, s.problems, s.errors, s.version, s.leaf, s.provider, s.model,
    s.tokens, s.cost, s.listed_cost, s.bytes, (s.hidden IS NULL)::integer::bigint AS listed_by_agent,
    s.hidden AS reason, s.own, s.subagent AS is_subagent,
    (WITH RECURSIVE below(session, id) AS (
        SELECT s.session, s.id
      UNION
        SELECT c.session, c.id FROM below
        JOIN sessionary_catalogue._sessions c ON c.subagent = 1 AND c.root_path = s.root_path
          AND c.agent = s.agent AND c.parent_session = below.id)
      SELECT count(*) - 1 FROM below) AS subagents,
    1::bigint AS current, s.list_order,
    coalesce(nullif(s.name, ''), s.typed, s.first_message) AS title, s.git_branch,
    s.thinking_level, 0::bigint AS archived, NULL::bigint AS gone_ms,
    s.repository_or_remote AS repository
  FROM sessionary_catalogue._sessions s JOIN sessionary_catalogue._bundles b USING (bundle);

CREATE VIEW sessionary_catalogue.largest_sessions WITH (security_invoker = true) AS
  SELECT session, agent, cwd, name, first_message, bytes, entries, messages, tokens, cost, errors,
    modified_ms, id, path, host
  FROM sessionary_catalogue.sessions ORDER BY bytes DESC, session;

CREATE VIEW sessionary_catalogue.forks WITH (security_invoker = true) AS
  SELECT c.session, coalesce(p.session, i.session) AS parent, c.parent_session AS parent_written,
    CASE c.subagent WHEN 1 THEN 'subagent' ELSE 'fork' END AS relation, b.host
  FROM sessionary_catalogue._sessions c JOIN sessionary_catalogue._bundles b USING (bundle)
    LEFT JOIN (SELECT path, min(session) AS session FROM sessionary_catalogue._sessions
      GROUP BY path) p ON p.path = c.parent_session
    LEFT JOIN (SELECT agent, root_path, id, min(session) AS session
      FROM sessionary_catalogue._sessions GROUP BY agent, root_path, id) i
      ON i.agent = c.agent AND i.root_path = c.root_path AND i.id = c.parent_session
  WHERE c.parent_session IS NOT NULL;

CREATE VIEW sessionary_catalogue._own WITH (security_invoker = true) AS
  SELECT s.session, s.agent, s.cwd, s.path, s.created_ms, b.host
  FROM sessionary_catalogue._sessions s JOIN sessionary_catalogue._bundles b USING (bundle);

CREATE VIEW sessionary_catalogue.entries WITH (security_invoker = true) AS
  SELECT e.key AS entry, e.key >> 24 AS session, e.source,
    CASE WHEN e."row" IS NULL THEN e.start END AS start,
    CASE WHEN e."row" IS NULL THEN e.length END AS length,
    CASE WHEN e."row" IS NULL THEN e.line END AS line, e.hash, e.kind, e.role, e.id,
    CASE WHEN e.flags & 128 = 0 THEN e.parent END AS parent,
    coalesce(e.time_ms, e.taken_ms, s.created_ms) AS time_ms, e.agent_sees,
    e.flags & 1 AS provisional, (e.flags >> 1) & 1 AS is_error, (e.flags >> 2) & 1 AS has_image,
    (e.flags >> 3) & 1 AS fused, (e.flags >> 5) & 1 AS text_cut, e.stop_reason,
    e.time_ms AS time_written_ms, e."row", s.host
  FROM sessionary_catalogue._entries e JOIN sessionary_catalogue._own s ON s.session = e.key >> 24;

CREATE VIEW sessionary_catalogue.call_records WITH (security_invoker = true) AS
  SELECT c.key AS entry, c.key >> 24 AS session, c.ordinal, c.call_id, c.tool, c.is_result,
    CASE WHEN c.answer IS NULL THEN c.is_error END AS is_error, c.subject,
    CASE WHEN c.answer IS NULL THEN c.duration_ms END AS duration_ms, s.host
  FROM sessionary_catalogue._calls c JOIN sessionary_catalogue._own s ON s.session = c.key >> 24;

CREATE VIEW sessionary_catalogue.calls WITH (security_invoker = true) AS
  SELECT c.key AS entry, c.key >> 24 AS session, c.ordinal,
    coalesce(e.time_ms, e.taken_ms, s.created_ms) AS time_ms, c.call_id, c.tool, c.subject,
    c.answer, c.is_error, c.duration_ms, a.time_ms AS answer_ms, s.host
  FROM sessionary_catalogue._calls c JOIN sessionary_catalogue._entries e USING (key)
    JOIN sessionary_catalogue._own s ON s.session = c.key >> 24
    LEFT JOIN sessionary_catalogue._entries a ON a.key = c.answer
  WHERE c.is_result = 0;

CREATE VIEW sessionary_catalogue.runs WITH (security_invoker = true) AS
  SELECT r.key AS entry, r.key >> 24 AS session, e.stop_reason AS exit_status, r.turns,
    r.duration_ms, r.cost AS cost_so_far,
    r.cost - CASE WHEN lag(r.cost) OVER w <= r.cost THEN lag(r.cost) OVER w ELSE 0 END AS cost,
    s.host
  FROM sessionary_catalogue._runs r JOIN sessionary_catalogue._entries e USING (key)
    JOIN sessionary_catalogue._own s ON s.session = r.key >> 24
  WINDOW w AS (PARTITION BY r.key >> 24 ORDER BY e.source, e.start);

CREATE VIEW sessionary_catalogue.usage_records WITH (security_invoker = true) AS
  SELECT u.key AS entry, u.key >> 24 AS session, u.provider, u.model, u.response_id, u.input,
    u.output, u.cache_read, u.cache_write, u.reasoning,
    CASE WHEN coalesce(u.input, u.output, u.cache_read, u.cache_write) IS NULL THEN u.total
      ELSE sessionary_catalogue._whole(coalesce(u.input, 0)::numeric + coalesce(u.output, 0)
        + coalesce(u.cache_read, 0) + coalesce(u.cache_write, 0)) END AS total,
    u.total AS total_written, u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write,
    u.cost_total, (u.what = 1)::integer::bigint AS step, s.host
  FROM sessionary_catalogue._usage u JOIN sessionary_catalogue._own s ON s.session = u.key >> 24
  WHERE u.what IN (0, 1, 4);

-- Which of the copies of an answer counts: the one in the session that began first, as among the
-- sessions of one machine.
CREATE VIEW sessionary_catalogue._counted WITH (security_invoker = true) AS
  SELECT u.*, s.agent, s.cwd, s.created_ms, s.host, count(*) OVER (PARTITION BY u.said) AS records,
    CASE WHEN u.key = first_value(u.key) OVER w THEN 1
      WHEN u.what = 4 AND u.key >> 24 = first_value(u.key) OVER w >> 24 THEN 2 ELSE 0 END AS counts
  FROM sessionary_catalogue._usage u JOIN sessionary_catalogue._own s ON s.session = u.key >> 24
    JOIN sessionary_catalogue._entries e USING (key)
    JOIN sessionary_catalogue._sources f USING (source)
  WHERE u.counted IS NOT NULL
  WINDOW w AS (PARTITION BY u.said, u.response_id, u.model, CASE WHEN u.what <> 4 THEN u.input END,
      CASE WHEN u.what <> 4 THEN u.output END, CASE WHEN u.what <> 4 THEN u.cost_total END
    ORDER BY coalesce(s.created_ms, 1::bigint << 62), s.path, s.agent,
      CASE WHEN u.what = 4 THEN -(coalesce(u.output, 0)::numeric) END NULLS FIRST, f.relative,
      CASE WHEN u.what = 4 THEN -(e.start::numeric) END NULLS FIRST, e.start
    ROWS UNBOUNDED PRECEDING);

CREATE VIEW sessionary_catalogue.usage WITH (security_invoker = true) AS
  SELECT r.entry, r.session, r.agent, r.cwd, r.time_ms,
    sessionary_catalogue._day(r.time_ms - r.time_ms % 900000) AS day,
    sessionary_catalogue.local_day(r.time_ms - r.time_ms % 900000) AS local_day, r.provider,
    r.model, r.response_id, r.input, r.output, r.cache_read, r.cache_write, r.reasoning,
    CASE WHEN coalesce(r.input, r.output, r.cache_read, r.cache_write, r.stepped) IS NULL
        THEN r.total_written
      ELSE sessionary_catalogue._whole(coalesce(r.input, 0)::numeric + coalesce(r.output, 0)
        + coalesce(r.cache_read, 0) + coalesce(r.cache_write, 0)) END AS total,
    r.total_written, r.cost_input, r.cost_output, r.cost_cache_read, r.cost_cache_write,
    r.cost_total, r.records, r.host
  FROM (
    SELECT u.key AS entry, u.key >> 24 AS session, u.agent, u.cwd,
      coalesce(u.time_ms, u.created_ms) AS time_ms, u.provider, u.model, u.response_id,
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

-- What was spent, summed up by some columns. These rows are of all hosts: `usage` has the host of
-- each answer.
DO $$
DECLARE
  sums text := 'count(*) AS answers, count(DISTINCT session) AS sessions';
  of text;
  keys text;
BEGIN
  FOREACH of IN ARRAY
    ARRAY['input', 'output', 'cache_read', 'cache_write', 'reasoning', 'total']
  LOOP
    sums := sums || format(', sessionary_catalogue._whole(sum(%1$I)) AS %1$I', of);
  END LOOP;
  FOREACH of IN ARRAY
    ARRAY['cost_input', 'cost_output', 'cost_cache_read', 'cost_cache_write', 'cost_total']
  LOOP
    sums := sums || format(', sum(%1$I) AS %1$I', of);
  END LOOP;
  FOR of, keys IN VALUES ('day', 'day'), ('local_day', 'local_day'), ('model', 'provider, model'),
    ('provider', 'provider'), ('project', 'cwd'), ('agent', 'agent')
  LOOP
    EXECUTE format('CREATE VIEW sessionary_catalogue.%I WITH (security_invoker = true) AS
      SELECT %s, %s FROM sessionary_catalogue.usage GROUP BY %2$s', 'usage_by_' || of, keys, sums);
  END LOOP;
END
$$;

-- A call that forks and copies repeat is one call.
CREATE VIEW sessionary_catalogue.tools WITH (security_invoker = true) AS
  SELECT u.agent, c.tool, count(*) AS calls, count(c.is_error) AS answered,
    sum(c.is_error)::bigint AS errors,
    sum(c.is_error)::double precision / nullif(count(c.is_error), 0) AS error_rate,
    sum(c.duration_ms)::double precision / nullif(count(c.duration_ms), 0) AS mean_ms,
    max(c.duration_ms) AS longest_ms
  FROM sessionary_catalogue._calls c JOIN (
      SELECT key, agent FROM sessionary_catalogue._counted WHERE counts <> 0
      UNION ALL
      SELECT u.key, s.agent FROM sessionary_catalogue._usage u
        JOIN sessionary_catalogue._own s ON s.session = u.key >> 24
      WHERE u.counted IS NULL) u USING (key)
  WHERE c.is_result = 0
  GROUP BY u.agent, c.tool;

CREATE VIEW sessionary_catalogue.compactions WITH (security_invoker = true) AS
  SELECT c.key AS entry, c.key >> 24 AS session, c.first_kept, c.tokens_before, s.host
  FROM sessionary_catalogue._compactions c
    JOIN sessionary_catalogue._own s ON s.session = c.key >> 24;

CREATE VIEW sessionary_catalogue.touches WITH (security_invoker = true) AS
  SELECT f.key AS entry, f.key >> 24 AS session, f.ordinal,
    coalesce(e.time_ms, e.taken_ms, s.created_ms) AS time_ms, f.path AS path_written,
    CASE WHEN s.cwd = '' OR substr(f.path, 1, 1) IN ('/', '~', '\') OR substr(f.path, 2, 1) = ':'
        THEN f.path
      WHEN substr(f.path, 1, 2) = './' THEN s.cwd || substr(f.path, 2)
      ELSE s.cwd || '/' || f.path END AS path,
    f.modified, e.kind AS told_by, s.host
  FROM sessionary_catalogue._files f JOIN sessionary_catalogue._entries e USING (key)
    JOIN sessionary_catalogue._own s ON s.session = f.key >> 24;

CREATE VIEW sessionary_catalogue.files WITH (security_invoker = true) AS
  SELECT path, session, sum(1 - modified)::bigint AS reads, sum(modified)::bigint AS modifications,
    min(time_ms) AS first_ms, max(time_ms) AS last_ms, host
  FROM sessionary_catalogue.touches GROUP BY path, session, host;

CREATE VIEW sessionary_catalogue.labels WITH (security_invoker = true) AS
  SELECT l.key AS entry, l.key >> 24 AS session, l.target, l.text, s.host
  FROM sessionary_catalogue._labels l JOIN sessionary_catalogue._own s ON s.session = l.key >> 24;

CREATE VIEW sessionary_catalogue.sources WITH (security_invoker = true) AS
  SELECT s.source, s.agent, s.root_path AS root, s.relative, s.size, s.mtime_ms, s.consumed,
    p.session, p.part, b.host
  FROM sessionary_catalogue._sources s JOIN sessionary_catalogue._bundles b USING (bundle)
    LEFT JOIN sessionary_catalogue._session_sources p USING (source);

CREATE VIEW sessionary_catalogue.problems WITH (security_invoker = true) AS
  SELECT 'bytes' AS what, s.root_path AS root, s.relative, p.start, p.length, p.provisional,
    p.reason, (SELECT min(session) FROM sessionary_catalogue._session_sources o
      WHERE o.source = s.source) AS session, b.host
  FROM sessionary_catalogue._problems p JOIN sessionary_catalogue._sources s USING (source)
    JOIN sessionary_catalogue._bundles b USING (bundle)
  UNION ALL
  SELECT CASE t.unread WHEN 1 THEN 'unread' ELSE 'file' END, t.root_path, t.relative, NULL, NULL, 0,
    t.reason, NULL, b.host
  FROM sessionary_catalogue._strays t JOIN sessionary_catalogue._bundles b USING (bundle)
  UNION ALL
  SELECT 'unread', s.root_path, s.relative, NULL, NULL, 0, s.unread,
    (SELECT min(session) FROM sessionary_catalogue._session_sources o WHERE o.source = s.source),
    b.host
  FROM sessionary_catalogue._sources s JOIN sessionary_catalogue._bundles b USING (bundle)
  WHERE s.unread IS NOT NULL;

DO $$
BEGIN
  EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA sessionary_catalogue TO %I, %I',
    'sessionary_reader_' || current_database(), 'sessionary_writer_' || current_database());
END
$$;
