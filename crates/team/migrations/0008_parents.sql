-- As src/catalogue/parents.rs of the catalogue has it: of several sessions that have the name of a
-- parent it is one below the child's root, that which shares most of the child's folders; else one
-- below another root of the same agent on the same machine.

CREATE INDEX ON sessionary_catalogue._sessions (path);
CREATE INDEX ON sessionary_catalogue._sessions (agent, id);

CREATE FUNCTION sessionary_catalogue._shared_folders(one text, other text) RETURNS bigint
  LANGUAGE sql IMMUTABLE
  RETURN (SELECT count(*) FROM (SELECT string_to_array(one, '/') AS a, string_to_array(other, '/') AS b) paths,
      generate_series(1, least(cardinality(a), cardinality(b)) - 1) AS n
    WHERE a[1:n] = b[1:n]);

CREATE VIEW sessionary_catalogue._parents WITH (security_invoker = true) AS
  SELECT c.session, c.subagent, c.parent_session, b.host, coalesce(
      (SELECT p.session FROM sessionary_catalogue._sessions p
         JOIN sessionary_catalogue._bundles q ON q.bundle = p.bundle
       WHERE p.path = c.parent_session AND q.host = b.host
       ORDER BY p.root_path <> c.root_path, p.agent <> c.agent, p.agent, p.root_path LIMIT 1),
      (SELECT p.session FROM sessionary_catalogue._sessions p
         JOIN sessionary_catalogue._bundles q ON q.bundle = p.bundle
       WHERE p.agent = c.agent AND p.id = c.parent_session AND q.host = b.host
       ORDER BY p.root_path <> c.root_path,
         CASE WHEN p.root_path = c.root_path
           THEN sessionary_catalogue._shared_folders(p.path, c.path) END DESC,
         p.root_path, p.path LIMIT 1)) AS parent
  FROM sessionary_catalogue._sessions c JOIN sessionary_catalogue._bundles b ON b.bundle = c.bundle
  WHERE c.parent_session NOT IN ('', c.id, c.path);

CREATE OR REPLACE VIEW sessionary_catalogue.forks WITH (security_invoker = true) AS
  SELECT c.session, v.parent, c.parent_session AS parent_written,
    CASE c.subagent WHEN 1 THEN 'subagent' ELSE 'fork' END AS relation, b.host
  FROM sessionary_catalogue._sessions c JOIN sessionary_catalogue._bundles b USING (bundle)
    LEFT JOIN sessionary_catalogue._parents v ON v.session = c.session
  WHERE c.parent_session IS NOT NULL;

CREATE OR REPLACE VIEW sessionary_catalogue.sessions WITH (security_invoker = true) AS
  SELECT s.session, b.host, s.agent, s.label, s.root_path AS root, s.path, s.id, s.cwd, s.name,
    s.parent_session, s.created_raw, s.created_ms, s.modified_ms, s.file_ms, s.messages,
    s.first_message, s.entries, s.problems, s.errors, s.version, s.leaf, s.provider, s.model,
    s.tokens, s.cost, s.listed_cost, s.bytes, (s.hidden IS NULL)::integer::bigint AS listed_by_agent,
    s.hidden AS reason, s.own, s.subagent AS is_subagent,
    (WITH RECURSIVE below(session, id) AS (
        SELECT s.session, s.id
      UNION
        SELECT c.session, c.id FROM below
        JOIN sessionary_catalogue._sessions c ON c.subagent = 1 AND c.agent = s.agent
          AND c.parent_session = below.id
        WHERE (SELECT v.parent FROM sessionary_catalogue._parents v
               WHERE v.session = c.session) = below.session)
      SELECT count(*) - 1 FROM below) AS subagents,
    1::bigint AS current, s.list_order,
    coalesce(nullif(s.name, ''), s.typed, s.first_message) AS title, s.git_branch,
    s.thinking_level, 0::bigint AS archived, NULL::bigint AS gone_ms,
    s.repository_or_remote AS repository
  FROM sessionary_catalogue._sessions s JOIN sessionary_catalogue._bundles b USING (bundle);

DO $$
BEGIN
  EXECUTE format('GRANT SELECT ON sessionary_catalogue._parents TO %I, %I',
    'sessionary_reader_' || current_database(), 'sessionary_writer_' || current_database());
END
$$;
