-- What hosts share. Each row belongs to the role that wrote it: only that role adds to its host or
-- takes rows back, nobody changes one, and members of sessionary_reader read all of them.
--
-- Two roles hold the rights, so that one REVOKE takes them away. Neither can log in.
DO $$
BEGIN
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sessionary_reader') THEN
    CREATE ROLE sessionary_reader NOLOGIN NOBYPASSRLS;
  END IF;
  IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = 'sessionary_writer') THEN
    CREATE ROLE sessionary_writer NOLOGIN NOBYPASSRLS;
  END IF;
END
$$;

CREATE TABLE sessionary.hosts (
  host text PRIMARY KEY CHECK (host ~ '^[a-z0-9]([a-z0-9._-]{0,61}[a-z0-9])?$'),
  id text NOT NULL,
  version integer NOT NULL,
  owner name NOT NULL DEFAULT current_user
);

-- A row for each version of a manifest, which is JSON; the newest of a place counts.
CREATE TABLE sessionary.sources (
  number bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  host text NOT NULL REFERENCES sessionary.hosts,
  agent text NOT NULL,
  path text NOT NULL,
  session text NOT NULL,
  repository text NOT NULL,
  modified_ms bigint NOT NULL,
  bytes bigint NOT NULL,
  manifest text NOT NULL,
  owner name NOT NULL DEFAULT current_user
);
CREATE INDEX ON sessionary.sources (host, agent, path, number DESC);
CREATE INDEX ON sessionary.sources (repository);

-- Compressed bytes, known by a hash that needs the key of their host. They do not compress again.
CREATE TABLE sessionary.blocks (
  host text NOT NULL REFERENCES sessionary.hosts,
  id text NOT NULL CHECK (id ~ '^[0-9a-f]{64}$'),
  packed bytea NOT NULL,
  owner name NOT NULL DEFAULT current_user,
  PRIMARY KEY (host, id)
);
ALTER TABLE sessionary.blocks ALTER COLUMN packed SET STORAGE EXTERNAL;

-- The rights of roles, which policies narrow to rows. Nobody has UPDATE or TRUNCATE.
GRANT USAGE ON SCHEMA sessionary TO sessionary_reader, sessionary_writer;
GRANT SELECT ON sessionary.hosts, sessionary.sources, sessionary.blocks TO sessionary_reader;
GRANT SELECT, INSERT, DELETE ON sessionary.hosts, sessionary.sources, sessionary.blocks
  TO sessionary_writer;

ALTER TABLE sessionary.hosts ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessionary.hosts FORCE ROW LEVEL SECURITY;
ALTER TABLE sessionary.sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessionary.sources FORCE ROW LEVEL SECURITY;
ALTER TABLE sessionary.blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessionary.blocks FORCE ROW LEVEL SECURITY;

CREATE POLICY read ON sessionary.hosts FOR SELECT
  USING (owner = current_user OR pg_has_role(current_user, 'sessionary_reader', 'MEMBER'));
CREATE POLICY read ON sessionary.sources FOR SELECT
  USING (owner = current_user OR pg_has_role(current_user, 'sessionary_reader', 'MEMBER'));
CREATE POLICY read ON sessionary.blocks FOR SELECT
  USING (owner = current_user OR pg_has_role(current_user, 'sessionary_reader', 'MEMBER'));

CREATE POLICY add ON sessionary.hosts FOR INSERT
  WITH CHECK (owner = current_user);
CREATE POLICY add ON sessionary.sources FOR INSERT
  WITH CHECK (owner = current_user AND EXISTS (
    SELECT FROM sessionary.hosts h WHERE h.host = sources.host AND h.owner = current_user));
CREATE POLICY add ON sessionary.blocks FOR INSERT
  WITH CHECK (owner = current_user AND EXISTS (
    SELECT FROM sessionary.hosts h WHERE h.host = blocks.host AND h.owner = current_user));

CREATE POLICY take_back ON sessionary.hosts FOR DELETE USING (owner = current_user);
CREATE POLICY take_back ON sessionary.sources FOR DELETE USING (owner = current_user);
CREATE POLICY take_back ON sessionary.blocks FOR DELETE USING (owner = current_user);
