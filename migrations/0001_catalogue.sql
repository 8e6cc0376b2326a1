-- The catalogue's first shape. Tables begin with `_` and may change; the views are the contract
-- (README.md in this folder). Times are integer milliseconds UTC; NULL = absent or unparsable.

-- One row: which catalogue this is, and how far the words' batches have gone.
CREATE TABLE _store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch TEXT NOT NULL,             -- random; the words carry it in their commit payload
    last_batch INTEGER NOT NULL,     -- highest batch ever stamped on the outbox
    last_scan_ms INTEGER,            -- last full scan of all roots
    entries_gone INTEGER NOT NULL    -- entries removed since the words were last built
) STRICT;

-- A directory scanned for one agent. `device` tells an unmounted root from an emptied one.
CREATE TABLE _roots (
    root INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    agent TEXT NOT NULL,
    format TEXT NOT NULL,
    label TEXT,
    path TEXT NOT NULL,
    flat INTEGER NOT NULL,
    device INTEGER,
    error TEXT,                      -- why the last scan could not read it
    full_scan_ms INTEGER,            -- when all files were looked at; of roots with `_folders` only
    folders_revision INTEGER,        -- of the format when `_folders` were noted
    UNIQUE (host, agent, path)
) STRICT;

-- One file. The identity is taken before reading; `consumed` is the byte up to which all is
-- catalogued for good. Every check reads all of these rows: what only a changed file needs is in `_checkpoints`.
CREATE TABLE _sources (
    source INTEGER PRIMARY KEY AUTOINCREMENT,
    root INTEGER NOT NULL REFERENCES _roots,
    relative TEXT NOT NULL,
    device INTEGER NOT NULL,
    inode INTEGER NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    ctime_ns INTEGER NOT NULL,
    racy INTEGER NOT NULL,           -- changed so recently that a later change could share its ctime
    revision INTEGER NOT NULL,       -- of the format that read it
    consumed INTEGER NOT NULL,
    unlisted TEXT,                   -- why the agent would not list a session at this path
    unread TEXT,                     -- why it could not be read last time
    UNIQUE (root, relative)
) STRICT;

-- From where a changed file is read on.
CREATE TABLE _checkpoints (
    source INTEGER PRIMARY KEY,
    proof BLOB NOT NULL,             -- a CRC-64 for each 64 KiB block before `consumed`
    fold TEXT NOT NULL               -- saved fold state at `consumed`, JSON
) STRICT;

-- One session, with all that a list shows.
CREATE TABLE _sessions (
    session INTEGER PRIMARY KEY AUTOINCREMENT,
    root INTEGER NOT NULL REFERENCES _roots,
    place TEXT NOT NULL,             -- the format's key of the session below the root
    next_arrival INTEGER NOT NULL,   -- never reused, so a key never means two entries
    id TEXT NOT NULL,
    cwd TEXT NOT NULL,
    name TEXT,
    parent_session TEXT,
    created_raw TEXT,
    created_ms INTEGER,
    modified_ms INTEGER NOT NULL,
    file_ms INTEGER NOT NULL,        -- newest mtime of its sources
    messages INTEGER NOT NULL,
    first_message TEXT,
    entries INTEGER NOT NULL,
    problems INTEGER NOT NULL,
    errors INTEGER NOT NULL,
    version INTEGER,
    leaf TEXT,
    provider TEXT,
    model TEXT,
    tokens INTEGER,
    cost REAL,
    listed_cost REAL,
    bytes INTEGER NOT NULL,
    hidden TEXT,
    path TEXT NOT NULL,              -- of the main source
    own TEXT,                        -- what only its agent records, a JSON object
    UNIQUE (root, place)
) STRICT;

CREATE INDEX _sessions_cwd ON _sessions (cwd);

-- What `list --json` prints of each session, and what a list sorts by. Made from the columns above.
CREATE TABLE _rows (
    session INTEGER PRIMARY KEY,
    root INTEGER NOT NULL,
    listed INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL,
    file_ms INTEGER NOT NULL,
    created_ms INTEGER,
    json TEXT NOT NULL               -- without agent and label, which its root says
) STRICT;

CREATE TABLE _session_sources (
    session INTEGER NOT NULL REFERENCES _sessions,
    source INTEGER NOT NULL REFERENCES _sources,
    part TEXT NOT NULL CHECK (part IN ('main', 'subagent', 'copy', 'side')),
    PRIMARY KEY (session, source)
) STRICT, WITHOUT ROWID;
CREATE INDEX _session_sources_by_source ON _session_sources (source);

-- Entries: `key` = session << 24 | arrival, so a session is one range. `start`/`length` locate the
-- bytes in the source, `hash` is their CRC-64.
CREATE TABLE _entries (
    key INTEGER PRIMARY KEY,
    source INTEGER NOT NULL,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    line INTEGER NOT NULL,           -- physical line, from 1
    hash INTEGER NOT NULL,
    kind TEXT NOT NULL,
    role TEXT,
    id TEXT,
    parent TEXT,
    time_ms INTEGER,
    agent_sees INTEGER NOT NULL,
    flags INTEGER NOT NULL,          -- 1 provisional (no final newline yet), 2 error, 4 image, 8 fused, 16 a tool answers,
                                     -- 32 not all of its text is searched
    stop_reason TEXT
) STRICT;

CREATE TABLE _calls (
    key INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    call_id TEXT,
    tool TEXT,
    is_result INTEGER NOT NULL,
    is_error INTEGER,
    subject TEXT,
    duration_ms INTEGER,
    PRIMARY KEY (key, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE _usage (
    key INTEGER PRIMARY KEY,
    provider TEXT,
    model TEXT,
    response_id TEXT,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    reasoning INTEGER,
    total INTEGER,
    cost_input REAL,
    cost_output REAL,
    cost_cache_read REAL,
    cost_cache_write REAL,
    cost_total REAL
) STRICT;

CREATE TABLE _files (
    key INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    path TEXT NOT NULL,
    modified INTEGER NOT NULL,
    PRIMARY KEY (key, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE _labels (
    key INTEGER PRIMARY KEY,
    target TEXT NOT NULL,
    text TEXT
) STRICT;

CREATE TABLE _compactions (
    key INTEGER PRIMARY KEY,
    first_kept TEXT,
    tokens_before INTEGER
) STRICT;

-- Bytes that could not be read as an entry.
CREATE TABLE _problems (
    source INTEGER NOT NULL,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    provisional INTEGER NOT NULL,    -- a torn tail: looked at again when the file grows
    reason TEXT NOT NULL,
    PRIMARY KEY (source, start)
) STRICT, WITHOUT ROWID;

-- Files below a root that are no source, and directories that could not be read.
CREATE TABLE _strays (
    root INTEGER NOT NULL,
    relative TEXT NOT NULL,
    reason TEXT NOT NULL,
    PRIMARY KEY (root, relative)
) STRICT, WITHOUT ROWID;

-- Directories below the roots of agents that replace files by rename only, as they were when they were read: while a
-- directory is the same, so are the files in it. NULL = look at its files in any case.
CREATE TABLE _folders (
    root INTEGER NOT NULL,
    relative TEXT NOT NULL,
    device INTEGER,
    inode INTEGER,
    size INTEGER,
    mtime_ns INTEGER,
    ctime_ns INTEGER,
    files INTEGER NOT NULL,          -- sources directly in it
    PRIMARY KEY (root, relative)
) STRICT, WITHOUT ROWID;

-- What the words still lack: of the entries first..=last of one source those in which a tool answers
-- (answers = 1) or all others (0). `batch` is
-- stamped before the words commit; the commit payload says up to which batch it is done.
CREATE TABLE _outbox (
    item INTEGER PRIMARY KEY AUTOINCREMENT,
    source INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    answers INTEGER NOT NULL,        -- 0 conversation, 1 answers of tools
    bytes INTEGER NOT NULL,
    newest_ms INTEGER NOT NULL,      -- orders the work: newest sessions first
    batch INTEGER
) STRICT;
CREATE INDEX _outbox_order ON _outbox (answers, newest_ms DESC) WHERE batch IS NULL;
-- Keys that the words may still hold and must drop.
CREATE TABLE _dead (
    item INTEGER PRIMARY KEY AUTOINCREMENT,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    batch INTEGER
) STRICT;

CREATE TABLE _changes (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    session INTEGER NOT NULL,
    what TEXT NOT NULL CHECK (what IN ('changed', 'gone')),
    id TEXT NOT NULL,
    path TEXT NOT NULL
) STRICT;

-- The contract.
CREATE VIEW contract AS SELECT 1 AS contract_version;

CREATE VIEW sessions AS
SELECT s.session, r.host, r.agent, r.label, r.path AS root, s.path, s.id, s.cwd, s.name,
       s.parent_session, s.created_raw, s.created_ms, s.modified_ms, s.file_ms, s.messages,
       s.first_message, s.entries, s.problems, s.errors, s.version, s.leaf, s.provider, s.model,
       s.tokens, s.cost, s.listed_cost, s.bytes,
       s.hidden IS NULL AS listed_by_agent, s.hidden AS reason, s.own
FROM _sessions s JOIN _roots r USING (root);

CREATE VIEW entries AS
SELECT e.key AS entry, e.key >> 24 AS session, e.source, e.start, e.length, e.line, e.hash, e.kind, e.role,
       e.id, e.parent, e.time_ms, e.agent_sees, e.flags & 1 AS provisional,
       (e.flags >> 1) & 1 AS is_error, (e.flags >> 2) & 1 AS has_image, (e.flags >> 3) & 1 AS fused,
       (e.flags >> 5) & 1 AS text_cut,
       e.stop_reason
FROM _entries e;

CREATE VIEW calls AS
SELECT key AS entry, key >> 24 AS session, ordinal, call_id, tool, is_result, is_error, subject, duration_ms
FROM _calls;

CREATE VIEW usage AS
SELECT key AS entry, key >> 24 AS session, provider, model, response_id, input, output, cache_read, cache_write,
       reasoning, total, cost_input, cost_output, cost_cache_read, cost_cache_write, cost_total
FROM _usage;

CREATE VIEW labels AS
SELECT l.key AS entry, l.key >> 24 AS session, l.target, l.text FROM _labels l;

CREATE VIEW problems AS
SELECT 'bytes' AS what, r.path AS root, s.relative, p.start, p.length, p.provisional, p.reason
FROM _problems p JOIN _sources s USING (source) JOIN _roots r USING (root)
UNION ALL
SELECT 'file', r.path, t.relative, NULL, NULL, 0, t.reason FROM _strays t JOIN _roots r USING (root)
UNION ALL
SELECT 'unread', r.path, s.relative, NULL, NULL, 0, s.unread FROM _sources s JOIN _roots r USING (root) WHERE s.unread IS NOT NULL
UNION ALL
SELECT 'root', r.path, '', NULL, NULL, 0, r.error FROM _roots r WHERE r.error IS NOT NULL;

CREATE VIEW sources AS
SELECT s.source, r.agent, r.path AS root, s.relative, s.size, s.mtime_ns / 1000000 AS mtime_ms, s.consumed,
       ss.session, ss.part
FROM _sources s JOIN _roots r USING (root) LEFT JOIN _session_sources ss USING (source);

CREATE VIEW changes AS SELECT seq, session, what, id, path FROM _changes;

CREATE VIEW freshness AS
SELECT last_scan_ms, last_batch,
       (SELECT count(*) FROM _outbox) AS outstanding_items,
       (SELECT coalesce(sum(bytes), 0) FROM _outbox) AS outstanding_bytes
FROM _store;

INSERT INTO _store VALUES (1, lower(hex(randomblob(8))), 0, NULL, 0);
