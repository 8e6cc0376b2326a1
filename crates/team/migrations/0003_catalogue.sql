-- The contract (docs/sql.md) over all hosts: tables whose names begin with `_`, and the same views as
-- a catalogue of one machine has. The rows of a session are made from the bytes that its manifests
-- name, and come and go in the transaction in which these do.
--
-- Sessions, entries and sources have numbers of this database: an entry's is its session's << 24 and
-- its own within it. Texts are compared byte by byte, as SQLite does.

CREATE SCHEMA sessionary_catalogue;

CREATE SEQUENCE sessionary_catalogue._numbers;

-- The rows of all files of a session's id. `seal` is made from what they were made from.
CREATE TABLE sessionary_catalogue._bundles (
  bundle bigint PRIMARY KEY,
  host text COLLATE "C" NOT NULL REFERENCES sessionary.hosts,
  agent text COLLATE "C" NOT NULL,
  session text COLLATE "C" NOT NULL,
  seal text COLLATE "C" NOT NULL,
  owner text NOT NULL DEFAULT current_user
);
CREATE INDEX ON sessionary_catalogue._bundles (host, agent, session);

CREATE TABLE sessionary_catalogue._sources (
  source bigint PRIMARY KEY,
  bundle bigint NOT NULL,
  agent text COLLATE "C" NOT NULL,
  root_path text COLLATE "C" NOT NULL,
  relative text COLLATE "C" NOT NULL,
  size bigint NOT NULL,
  mtime_ms bigint NOT NULL,
  consumed bigint NOT NULL,
  unread text COLLATE "C",
  owner text NOT NULL DEFAULT current_user
);
CREATE INDEX ON sessionary_catalogue._sources (bundle);

CREATE TABLE sessionary_catalogue._sessions (
  session bigint PRIMARY KEY,
  bundle bigint NOT NULL,
  agent text COLLATE "C" NOT NULL,
  label text COLLATE "C",
  root_path text COLLATE "C" NOT NULL,
  path text COLLATE "C" NOT NULL,
  id text COLLATE "C" NOT NULL,
  cwd text COLLATE "C" NOT NULL,
  name text COLLATE "C",
  parent_session text COLLATE "C",
  created_raw text COLLATE "C",
  created_ms bigint,
  modified_ms bigint NOT NULL,
  file_ms bigint NOT NULL,
  messages bigint NOT NULL,
  typed text COLLATE "C",
  first_message text COLLATE "C",
  entries bigint NOT NULL,
  problems bigint NOT NULL,
  errors bigint NOT NULL,
  version bigint,
  leaf text COLLATE "C",
  provider text COLLATE "C",
  model text COLLATE "C",
  tokens bigint,
  cost double precision,
  listed_cost double precision,
  bytes bigint NOT NULL,
  hidden text COLLATE "C",
  own text COLLATE "C",
  subagent bigint NOT NULL,
  list_order text COLLATE "C" NOT NULL,
  git_branch text COLLATE "C",
  thinking_level text COLLATE "C",
  repository_or_remote text COLLATE "C",
  owner text NOT NULL DEFAULT current_user
);
CREATE INDEX ON sessionary_catalogue._sessions (bundle);
CREATE INDEX ON sessionary_catalogue._sessions (parent_session) WHERE subagent = 1;

CREATE TABLE sessionary_catalogue._session_sources (
  session bigint NOT NULL,
  source bigint NOT NULL,
  part text COLLATE "C" NOT NULL,
  owner text NOT NULL DEFAULT current_user,
  PRIMARY KEY (session, source)
);

CREATE TABLE sessionary_catalogue._entries (
  key bigint PRIMARY KEY,
  source bigint NOT NULL,
  start bigint NOT NULL,
  length bigint NOT NULL,
  line bigint NOT NULL,
  hash bigint NOT NULL,
  kind text COLLATE "C" NOT NULL,
  role text COLLATE "C",
  id text COLLATE "C",
  parent text COLLATE "C",
  time_ms bigint,
  agent_sees bigint NOT NULL,
  flags bigint NOT NULL,
  stop_reason text COLLATE "C",
  taken_ms bigint,
  "row" text COLLATE "C",
  owner text NOT NULL DEFAULT current_user
);

CREATE TABLE sessionary_catalogue._calls (
  key bigint NOT NULL,
  ordinal bigint NOT NULL,
  call_id text COLLATE "C",
  tool text COLLATE "C",
  is_result bigint NOT NULL,
  is_error bigint,
  subject text COLLATE "C",
  duration_ms bigint,
  answer bigint,
  owner text NOT NULL DEFAULT current_user,
  PRIMARY KEY (key, ordinal)
);

CREATE TABLE sessionary_catalogue._usage (
  key bigint PRIMARY KEY,
  what bigint NOT NULL,
  counted bigint,
  time_ms bigint,
  model text COLLATE "C",
  input bigint,
  output bigint,
  cache_read bigint,
  cache_write bigint,
  total bigint,
  cost_total double precision,
  reasoning bigint,
  provider text COLLATE "C",
  response_id text COLLATE "C",
  cost_input double precision,
  cost_output double precision,
  cost_cache_read double precision,
  cost_cache_write double precision,
  said bigint NOT NULL,
  owner text NOT NULL DEFAULT current_user
);

CREATE TABLE sessionary_catalogue._stepped (
  key bigint PRIMARY KEY,
  input bigint,
  output bigint,
  cache_read bigint,
  cache_write bigint,
  reasoning bigint,
  cost_total double precision,
  owner text NOT NULL DEFAULT current_user
);

CREATE TABLE sessionary_catalogue._runs (
  key bigint PRIMARY KEY,
  turns bigint,
  cost double precision,
  duration_ms bigint,
  owner text NOT NULL DEFAULT current_user
);

CREATE TABLE sessionary_catalogue._files (
  key bigint NOT NULL,
  ordinal bigint NOT NULL,
  path text COLLATE "C" NOT NULL,
  modified bigint NOT NULL,
  owner text NOT NULL DEFAULT current_user,
  PRIMARY KEY (key, ordinal)
);

CREATE TABLE sessionary_catalogue._labels (
  key bigint PRIMARY KEY,
  target text COLLATE "C" NOT NULL,
  text text COLLATE "C",
  owner text NOT NULL DEFAULT current_user
);

CREATE TABLE sessionary_catalogue._compactions (
  key bigint PRIMARY KEY,
  first_kept text COLLATE "C",
  tokens_before bigint,
  owner text NOT NULL DEFAULT current_user
);

CREATE TABLE sessionary_catalogue._problems (
  source bigint NOT NULL,
  start bigint NOT NULL,
  length bigint NOT NULL,
  provisional bigint NOT NULL,
  reason text COLLATE "C" NOT NULL,
  owner text NOT NULL DEFAULT current_user,
  PRIMARY KEY (source, start)
);

CREATE TABLE sessionary_catalogue._strays (
  bundle bigint NOT NULL,
  agent text COLLATE "C" NOT NULL,
  root_path text COLLATE "C" NOT NULL,
  relative text COLLATE "C" NOT NULL,
  reason text COLLATE "C" NOT NULL,
  unread bigint NOT NULL,
  owner text NOT NULL DEFAULT current_user
);
CREATE INDEX ON sessionary_catalogue._strays (bundle);

-- As of the ledger: a row belongs to the role that wrote it, and is added only below what is its own.
DO $$
DECLARE
  reader text := 'sessionary_reader_' || current_database();
  writer text := 'sessionary_writer_' || current_database();
  its text;
  of text;
BEGIN
  EXECUTE format('GRANT USAGE ON SCHEMA sessionary_catalogue TO %I, %I', reader, writer);
  EXECUTE format('GRANT USAGE ON SEQUENCE sessionary_catalogue._numbers TO %I', writer);
  FOR of, its IN VALUES
    ('_bundles', 'host IN (SELECT host FROM sessionary.hosts WHERE owner = current_user)'),
    ('_sources', 'bundle'), ('_sessions', 'bundle'), ('_strays', 'bundle'),
    ('_session_sources', 'session'), ('_problems', 'source'),
    ('_entries', 'key'), ('_calls', 'key'), ('_usage', 'key'), ('_stepped', 'key'),
    ('_runs', 'key'), ('_files', 'key'), ('_labels', 'key'), ('_compactions', 'key')
  LOOP
    its := CASE its
      WHEN 'bundle' THEN 'bundle IN (SELECT bundle FROM sessionary_catalogue._bundles
        WHERE owner = current_user)'
      WHEN 'source' THEN 'source IN (SELECT source FROM sessionary_catalogue._sources
        WHERE owner = current_user)'
      WHEN 'session' THEN 'session IN (SELECT session FROM sessionary_catalogue._sessions
        WHERE owner = current_user)'
      WHEN 'key' THEN 'key >> 24 IN (SELECT session FROM sessionary_catalogue._sessions
        WHERE owner = current_user)'
      ELSE its END;
    EXECUTE format('ALTER TABLE sessionary_catalogue.%I ENABLE ROW LEVEL SECURITY', of);
    EXECUTE format('ALTER TABLE sessionary_catalogue.%I FORCE ROW LEVEL SECURITY', of);
    EXECUTE format('GRANT SELECT ON sessionary_catalogue.%I TO %I', of, reader);
    EXECUTE format('GRANT SELECT, INSERT, DELETE ON sessionary_catalogue.%I TO %I', of, writer);
    EXECUTE format('CREATE POLICY read ON sessionary_catalogue.%I FOR SELECT USING
      (owner = current_user OR (SELECT pg_has_role(current_user, %L, ''USAGE'')))', of, reader);
    EXECUTE format('CREATE POLICY add ON sessionary_catalogue.%I FOR INSERT WITH CHECK
      (owner = current_user AND %s)', of, its);
    EXECUTE format('CREATE POLICY take_back ON sessionary_catalogue.%I FOR DELETE USING
      (owner = current_user)', of);
  END LOOP;
END
$$;
