-- What hosts share. Each row belongs to the role that wrote it: only that role adds to its host or
-- takes rows back, nobody changes one, and members of the role of readers read all of them.

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

ALTER TABLE sessionary.hosts ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessionary.hosts FORCE ROW LEVEL SECURITY;
ALTER TABLE sessionary.sources ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessionary.sources FORCE ROW LEVEL SECURITY;
ALTER TABLE sessionary.blocks ENABLE ROW LEVEL SECURITY;
ALTER TABLE sessionary.blocks FORCE ROW LEVEL SECURITY;

-- Two roles hold the rights, so that one REVOKE takes them away. Neither can log in. They are named
-- after the database, since roles are those of the whole server; where it is renamed, they stay.
-- Policies narrow the rights to rows. Nobody is given UPDATE or TRUNCATE.
--
-- USAGE is what a role has by itself: who may only give the role to others reads nothing by it.
DO $$
DECLARE
  reader text := 'sessionary_reader_' || current_database();
  writer text := 'sessionary_writer_' || current_database();
  of text;
BEGIN
  -- A longer name would be cut, and be that of another database's role.
  IF octet_length(reader) > 63 THEN
    RAISE 'the name of the database has more than 45 bytes';
  END IF;
  FOREACH of IN ARRAY ARRAY[reader, writer] LOOP
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = of) THEN
      EXECUTE format('CREATE ROLE %I NOLOGIN NOBYPASSRLS', of);
    ELSIF EXISTS (SELECT FROM pg_auth_members m JOIN pg_roles r ON r.oid = m.roleid
                  WHERE r.rolname = of AND pg_get_userbyid(m.member) <> current_user) THEN
      -- Of a database of this name that is no more.
      RAISE 'the role % is there, and others have it already: drop it first', of;
    END IF;
  END LOOP;
  EXECUTE format('GRANT USAGE ON SCHEMA sessionary TO %I, %I', reader, writer);
  FOREACH of IN ARRAY ARRAY['hosts', 'sources', 'blocks'] LOOP
    EXECUTE format('GRANT SELECT ON sessionary.%I TO %I', of, reader);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON sessionary.%I TO %I', of, writer);
    EXECUTE format('CREATE POLICY read ON sessionary.%I FOR SELECT
      USING (owner = current_user OR pg_has_role(current_user, %L, ''USAGE''))', of, reader);
  END LOOP;
END
$$;

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
