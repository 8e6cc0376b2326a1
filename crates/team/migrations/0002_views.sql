-- What there is, for people who ask in SQL. Each view is asked with the rights of who asks, so that
-- it shows no row more than the tables do.
CREATE VIEW sessionary.files WITH (security_invoker = true) AS
  SELECT DISTINCT ON (host, agent, path)
    host, agent, path, session, repository, modified_ms, bytes, number
  FROM sessionary.sources
  ORDER BY host, agent, path, number DESC;

CREATE VIEW sessionary.sessions WITH (security_invoker = true) AS
  SELECT host, agent, session, min(repository) AS repository, count(*) AS files,
    sum(bytes)::bigint AS bytes, max(modified_ms) AS modified_ms
  FROM sessionary.files
  GROUP BY host, agent, session;

CREATE VIEW sessionary.stored WITH (security_invoker = true) AS
  SELECT host, count(*) AS blocks, sum(octet_length(packed))::bigint AS bytes
  FROM sessionary.blocks
  GROUP BY host;

DO $$
BEGIN
  EXECUTE format(
    'GRANT SELECT ON sessionary.files, sessionary.sessions, sessionary.stored TO %I, %I',
    'sessionary_reader_' || current_database(), 'sessionary_writer_' || current_database());
END
$$;
