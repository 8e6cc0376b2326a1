-- The catalogue's first shape. Tables begin with `_` and may change; the views are the contract
-- (docs/sql.md). Times are integer milliseconds UTC; NULL = absent or unparsable.

-- One row: which catalogue this is, and how far the words' batches have gone.
CREATE TABLE _store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    epoch TEXT NOT NULL,             -- random; the words carry it in their commit payload
    last_batch INTEGER NOT NULL,     -- highest batch ever stamped on the outbox
    last_scan_ms INTEGER,            -- last full scan of all roots
    entries_gone INTEGER NOT NULL,   -- entries removed since the words were last built
    index_id TEXT NOT NULL,          -- which filling this is: whoever keeps a copy reads all again when it is another one
    exclude INTEGER,                 -- hash of the globs by which was left out; NULL = none
    wipe INTEGER NOT NULL,           -- 1: what was removed may still be read in free space
    zone TEXT NOT NULL,              -- the time zone of `_quarters.local_day`: its offsets over the years
    archive TEXT                     -- folder of the archive in which sources are whose files are gone
) STRICT;

-- A directory scanned for one agent. `device` and `inode` tell it under another name, and an unmounted one from an emptied one.
CREATE TABLE _roots (
    root INTEGER PRIMARY KEY,
    host TEXT NOT NULL,
    agent TEXT NOT NULL,
    format TEXT NOT NULL,
    label TEXT,
    path TEXT NOT NULL,
    flat INTEGER NOT NULL,
    device INTEGER,
    inode INTEGER,
    current INTEGER NOT NULL DEFAULT 1,  -- 0: the last scan did not name it
    excluded INTEGER NOT NULL DEFAULT 0, -- files left out by the last look
    error TEXT,                      -- why the last scan could not read it
    full_scan_ms INTEGER,            -- when all files were looked at; of roots with `_folders` only
    folders_revision INTEGER,        -- of the format when `_folders` were noted
    archive TEXT,                    -- the archive whose sources below this root are catalogued
    is_kept INTEGER NOT NULL DEFAULT 0, -- 1: what is read below it goes into the archive
    UNIQUE (host, agent, path)
) STRICT;

-- One file, or one session in a database: its identity is its change stamp (src/databases/list.rs). The identity is taken before reading; `length` counts the bytes of its content, which of a compressed file are
-- those that it decodes to; `consumed` is the byte of it up to which all is catalogued for good. Every check reads all of these rows: what only a changed file needs is in `_checkpoints`.
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
    length INTEGER NOT NULL,
    consumed INTEGER NOT NULL,
    unlisted TEXT,                   -- why the agent would not list a session at this path
    unread TEXT,                     -- why it could not be read last time
    unproven INTEGER NOT NULL DEFAULT 1, -- 1: it was read on since all its blocks were compared with what was read of them
    gone_ms INTEGER,                 -- when its file was found to be gone: it is in the archive since
    is_kept INTEGER,                 -- 1: the archive holds what was read; 0: it is still to be read for it; NULL: it is not kept
    UNIQUE (root, relative)
) STRICT;
-- Something stands behind the last whole line, or it grew while it was read: every search asks for these, and there are few.
CREATE INDEX _sources_unfinished ON _sources (source) WHERE consumed < length OR racy;
CREATE INDEX _sources_unproven ON _sources (source) WHERE unproven;
CREATE INDEX _sources_unkept ON _sources (source) WHERE is_kept = 0;
CREATE INDEX _sources_gone ON _sources (root) WHERE gone_ms IS NOT NULL;

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
    typed TEXT,                      -- the first thing that its person typed
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
    subagent INTEGER NOT NULL DEFAULT 0, -- 1: parent_session is an id
    list_order TEXT NOT NULL DEFAULT '', -- sorts as the agents' lists do, but for equal names
    git_branch TEXT,                 -- that was checked out last
    thinking_level TEXT,             -- how much the model was told to think last, in the agent's words
    base_session TEXT,               -- id of the session of the same agent whose beginning is this one's too, without being in its file
    base_end INTEGER,                -- how many bytes of it are
    gone_ms INTEGER,                 -- of the main source
    UNIQUE (root, place)
) STRICT;
-- A session whose row is still empty. There is hardly ever one.
CREATE INDEX _sessions_unfinished ON _sessions (session) WHERE path = '';
CREATE INDEX _sessions_cwd ON _sessions (cwd);
CREATE INDEX _sessions_id ON _sessions (root, id);
CREATE INDEX _sessions_subagents ON _sessions (root, parent_session) WHERE subagent;

-- What `list --json` prints of each session, and what a list sorts by. Made from the columns above.
CREATE TABLE _rows (
    session INTEGER PRIMARY KEY,
    root INTEGER NOT NULL,
    listed INTEGER NOT NULL,
    modified_ms INTEGER NOT NULL,
    file_ms INTEGER NOT NULL,
    created_ms INTEGER,
    json TEXT NOT NULL,              -- without agent and label, which its root says
    hash INTEGER NOT NULL            -- of `json`, which a list copies to its reader unread
) STRICT;
-- Which rows are on a page is told without reading any of them.
CREATE INDEX _rows_in_order ON _rows (listed, modified_ms, file_ms, root, created_ms);

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
                                     -- 32 not all of its text is searched, 64 a system prompt or tool schemas,
                                     -- 128 on no branch: `parent` is where the session stands from here on
    stop_reason TEXT,
    taken_ms INTEGER,                -- time of the last entry before it in its source that has one; NULL where it has its own
    row TEXT                         -- of a row of a database which it is, `table:key`: `start` and the like are then of the
                                     -- lines that are made of its session
) STRICT;

-- `_entries_id`, an index on ids, is made before the first words are indexed: see `Catalogue::index_ids`.

-- What an entry calls, or answers. A call has what its answer says once that is there.
CREATE TABLE _calls (
    key INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    call_id TEXT,
    tool TEXT,
    is_result INTEGER NOT NULL,
    is_error INTEGER,
    subject TEXT,
    duration_ms INTEGER,
    answer INTEGER,                  -- of a call: the entry by which the error and the time are known, where that is another one
    PRIMARY KEY (key, ordinal)
) STRICT, WITHOUT ROWID;

-- What an entry spent, as written, and whether it counts: forks and copies repeat it. Entries that only call have a row
-- too: what counts once are entries. What questions filter by and add up comes first: SQLite reads a row from its beginning.
CREATE TABLE _usage (
    key INTEGER PRIMARY KEY,
    what INTEGER NOT NULL,           -- 0 an answer, 1 a step of one, 2 a turn of a run of clido's, 3 calls alone,
                                     -- 4 an answer of which other entries have records too, each of what was known
    counted INTEGER,                 -- 1 in the copy that counts, 0 in the others, 2 beside another record of its answer in
                                     -- its session, which counts; NULL in steps, which their message tells
    time_ms INTEGER,                 -- by which searches know the entry, but for the session's start
    model TEXT,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    total INTEGER,
    cost_total REAL,
    reasoning INTEGER,
    provider TEXT,
    response_id TEXT,
    cost_input REAL,
    cost_output REAL,
    cost_cache_read REAL,
    cost_cache_write REAL,
    said INTEGER NOT NULL            -- the same in all copies: a hash of the response id, else of the entry's id and time, and of
                                     -- what copies agree in, else of its bytes
) STRICT;
-- What a session spent, asked by its number.
CREATE INDEX _usage_session ON _usage (CAST(key >> 24 AS BIGINT));
CREATE INDEX _usage_said ON _usage (said, counted);

-- Messages that lack tokens or cost which their steps have: what both say together.
CREATE TABLE _stepped (
    key INTEGER PRIMARY KEY,
    input INTEGER,
    output INTEGER,
    cache_read INTEGER,
    cache_write INTEGER,
    reasoning INTEGER,
    cost_total REAL
) STRICT;

-- What clido writes at the end of a turn: figures of the run so far.
CREATE TABLE _runs (
    key INTEGER PRIMARY KEY,
    turns INTEGER,
    cost REAL,
    duration_ms INTEGER
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
    tokens_before INTEGER,
    first_kept_index INTEGER         -- version 1, whose entries have no ids: counts the entries that pi reads, the header as 0
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
    unread INTEGER NOT NULL DEFAULT 0, -- 1: it could not be read
    PRIMARY KEY (root, relative)
) STRICT, WITHOUT ROWID;

-- Sessions left out by their working directory, so that their files are not opened at every look. Nothing else of them is stored.
CREATE TABLE _excluded (
    root INTEGER NOT NULL,
    place INTEGER NOT NULL,          -- hash of the session's place below the root
    seal INTEGER NOT NULL,           -- hash of its main source's identity
    PRIMARY KEY (root, place)
) STRICT, WITHOUT ROWID;

-- Directories below a root: while the seal of one holds, no row of `_sources` of its files is read. It is a hash of what must be
-- the same for all that is known of them to hold.
CREATE TABLE _folders (
    root INTEGER NOT NULL,
    relative TEXT NOT NULL,
    seal INTEGER,                    -- NULL = compare its files in any case
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
    what TEXT NOT NULL CHECK (what IN ('changed', 'archived', 'gone')),
    id TEXT NOT NULL,
    path TEXT NOT NULL
) STRICT;

-- What the answers, and the calls, of every 256 entries come to (`block` = key >> 8), so that a report reads a few thousand
-- rows. They are made anew in the transaction that changed a row of the block.
CREATE TABLE _usage_sums (
    block INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    quarter_ms INTEGER,              -- when the quarter of an hour began
    provider TEXT,
    model TEXT,
    answers INTEGER NOT NULL,
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
    cost_total REAL,
    PRIMARY KEY (block, ordinal)
) STRICT, WITHOUT ROWID;

CREATE TABLE _call_sums (
    block INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    tool TEXT,
    calls INTEGER NOT NULL,
    answered INTEGER NOT NULL,
    errors INTEGER,
    timed INTEGER NOT NULL,
    ms INTEGER,
    longest_ms INTEGER,
    PRIMARY KEY (block, ordinal)
) STRICT, WITHOUT ROWID;

-- The days of every quarter of an hour in which something was spent. No zone begins its days at another time, and tools that
-- cannot tell a day in the reader's zone join this.
CREATE TABLE _quarters (
    quarter_ms INTEGER PRIMARY KEY,
    day TEXT NOT NULL,
    local_day TEXT NOT NULL
) STRICT;

-- The contract. DuckDB binds these views by its own grammar, or calls every column text: no count(*), no GLOB, no date(), no
-- strftime() with a modifier, no CROSS JOIN with ON, no subquery by a view that groups; BIGINT and DOUBLE are its wide types.
CREATE VIEW contract AS SELECT 4 AS contract_version;

-- A session's row is empty until all of its file is in.
CREATE VIEW sessions AS
SELECT s.session, r.host, r.agent, r.label, r.path AS root, s.path, s.id, s.cwd, s.name,
       s.parent_session, s.created_raw, s.created_ms, s.modified_ms, s.file_ms, s.messages,
       s.first_message, s.entries, s.problems, s.errors, s.version, s.leaf, s.provider, s.model,
       s.tokens, s.cost, s.listed_cost, s.bytes,
       CAST(s.hidden IS NULL AS BIGINT) AS listed_by_agent, s.hidden AS reason, s.own,
       s.subagent AS is_subagent,
       CAST((WITH RECURSIVE below(session, id) AS (
            SELECT s.session, s.id
            UNION SELECT c.session, c.id FROM below JOIN _sessions c ON c.subagent AND c.root = s.root AND c.parent_session = below.id)
        SELECT count(*) - 1 FROM below) AS BIGINT) AS subagents,
       r.current, s.list_order, coalesce(nullif(s.name, ''), s.typed, s.first_message) AS title,
       s.git_branch, s.thinking_level,
       CAST(s.gone_ms IS NOT NULL AS BIGINT) AS archived, s.gone_ms
FROM _sessions s JOIN _roots r USING (root)
WHERE s.path <> '';

CREATE VIEW largest_sessions AS
SELECT session, agent, cwd, name, first_message, bytes, entries, messages, tokens, cost, errors, modified_ms, id, path
FROM sessions ORDER BY bytes DESC, session;

CREATE VIEW forks AS
SELECT c.session, CAST(coalesce(p.session, i.session) AS BIGINT) AS parent, c.parent_session AS parent_written,
       CAST(CASE WHEN c.subagent THEN 'subagent' ELSE 'fork' END AS TEXT) AS relation
FROM _sessions c
  LEFT JOIN (SELECT path, min(session) AS session FROM _sessions GROUP BY path) p ON p.path = c.parent_session
  LEFT JOIN (SELECT root, id, min(session) AS session FROM _sessions GROUP BY root, id) i
    ON i.root = c.root AND i.id = c.parent_session
WHERE c.parent_session IS NOT NULL AND c.path <> '';

CREATE VIEW entries AS
SELECT e.key AS entry, CAST(e.key >> 24 AS BIGINT) AS session, e.source, CAST(CASE WHEN e.row IS NULL THEN e.start END AS BIGINT) AS start,
       CAST(CASE WHEN e.row IS NULL THEN e.length END AS BIGINT) AS length,
       CAST(CASE WHEN e.row IS NULL THEN e.line END AS BIGINT) AS line, e.hash, e.kind, e.role,
       e.id, CASE WHEN e.flags & 128 = 0 THEN e.parent END AS parent,
       CAST(coalesce(e.time_ms, e.taken_ms, (SELECT s.created_ms FROM _sessions s WHERE s.session = e.key >> 24)) AS BIGINT) AS time_ms,
       e.agent_sees, CAST(e.flags & 1 AS BIGINT) AS provisional,
       CAST((e.flags >> 1) & 1 AS BIGINT) AS is_error, CAST((e.flags >> 2) & 1 AS BIGINT) AS has_image,
       CAST((e.flags >> 3) & 1 AS BIGINT) AS fused, CAST((e.flags >> 5) & 1 AS BIGINT) AS text_cut,
       e.stop_reason, e.time_ms AS time_written_ms, e.row
FROM _entries e;

-- One row a line that calls or answers, as written. DuckDB counts the rows of a view by the row ids of its table, which this
-- one has not; so it asks for the keys.
CREATE VIEW call_records AS
SELECT key AS entry, CAST(key >> 24 AS BIGINT) AS session, ordinal, call_id, tool, is_result,
       CASE WHEN answer IS NULL THEN is_error END AS is_error, subject,
       CASE WHEN answer IS NULL THEN duration_ms END AS duration_ms
FROM _calls WHERE key >= 0;

-- One row a call, with the answer that follows it.
CREATE VIEW calls AS
SELECT c.key AS entry, CAST(c.key >> 24 AS BIGINT) AS session, c.ordinal,
       CAST(coalesce(e.time_ms, e.taken_ms, (SELECT s.created_ms FROM _sessions s WHERE s.session = c.key >> 24)) AS BIGINT) AS time_ms,
       c.call_id, c.tool, c.subject, c.answer, c.is_error, c.duration_ms, a.time_ms AS answer_ms
FROM _calls c JOIN _entries e USING (key) LEFT JOIN _entries a ON a.key = c.answer
WHERE NOT c.is_result;

-- Error rates. A call that forks and copies repeat is one call.
CREATE VIEW tools AS
SELECT r.agent, t.tool, CAST(sum(t.calls) AS BIGINT) AS calls, CAST(sum(t.answered) AS BIGINT) AS answered,
       CAST(sum(t.errors) AS BIGINT) AS errors,
       CAST(1.0 * sum(t.errors) / nullif(sum(t.answered), 0) AS DOUBLE) AS error_rate,
       CAST(1.0 * sum(t.ms) / nullif(sum(t.timed), 0) AS DOUBLE) AS mean_ms, CAST(max(t.longest_ms) AS BIGINT) AS longest_ms
FROM _sessions s JOIN _roots r USING (root)
  JOIN _call_sums t ON t.block >> 16 = s.session AND t.block BETWEEN s.session << 16 AND (s.session << 16) + 65535
WHERE s.path <> '' GROUP BY r.agent, t.tool;

-- clido's figures count from the start of its process: within a run they grow, and a fall is the next run.
CREATE VIEW runs AS
SELECT r.key AS entry, CAST(r.key >> 24 AS BIGINT) AS session, e.stop_reason AS exit_status, r.turns, r.duration_ms,
       r.cost AS cost_so_far,
       CAST(r.cost - CASE WHEN lag(r.cost) OVER w <= r.cost THEN lag(r.cost) OVER w ELSE 0 END AS DOUBLE) AS cost
FROM _runs r JOIN _entries e USING (key)
WINDOW w AS (PARTITION BY r.key >> 24 ORDER BY e.source, e.start);

-- One row an entry that records usage, as written: steps beside totals, and what forks and copies repeat.
CREATE VIEW usage_records AS
SELECT u.key AS entry, CAST(u.key >> 24 AS BIGINT) AS session, u.provider, u.model, u.response_id, u.input, u.output,
       u.cache_read, u.cache_write, u.reasoning,
       CAST(CASE WHEN coalesce(u.input, u.output, u.cache_read, u.cache_write) IS NULL THEN u.total
                 ELSE coalesce(u.input, 0) + coalesce(u.output, 0) + coalesce(u.cache_read, 0) + coalesce(u.cache_write, 0)
            END AS BIGINT) AS total, u.total AS total_written,
       u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write, u.cost_total,
       CAST(u.what = 1 AS BIGINT) AS step
FROM _usage u WHERE u.what IN (0, 1, 4);

-- What was spent, once, in sessions that are not all in too. A session is read only for an answer without a time of its own.
CREATE VIEW _answers AS
SELECT u.key, CAST(u.key >> 24 AS BIGINT) AS session, CAST(coalesce(u.time_ms, s.created_ms) AS BIGINT) AS time_ms, q.day, q.local_day,
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
  LEFT JOIN _quarters q ON q.quarter_ms = coalesce(u.time_ms, s.created_ms) - coalesce(u.time_ms, s.created_ms) % 900000
  LEFT JOIN _stepped w ON w.key = u.key
WHERE u.counted = 1 AND u.what <> 3;

-- Each answer once. Whose it was is asked of the rows that are left. Where all sessions are in, which is looked at once, no row
-- is asked whether its own is.
CREATE VIEW usage AS
SELECT u.key AS entry, u.session,
       (SELECT r.agent FROM _sessions s JOIN _roots r USING (root) WHERE s.session = u.session) AS agent,
       (SELECT s.cwd FROM _sessions s WHERE s.session = u.session) AS cwd, u.time_ms, u.day, u.local_day,
       u.provider, u.model, u.response_id, u.input, u.output, u.cache_read, u.cache_write, u.reasoning,
       CAST(u.total AS BIGINT) AS total, u.total_written,
       u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write, u.cost_total,
       CAST((SELECT count(1) FROM _usage c WHERE c.said = u.said AND c.counted IS NOT NULL) AS BIGINT) AS records
FROM _answers u
WHERE (SELECT count(1) FROM _sessions WHERE path = '') = 0 OR u.session NOT IN (SELECT session FROM _sessions WHERE path = '');

CREATE VIEW _spent AS
SELECT s.session, r.agent, s.cwd, q.day, q.local_day, u.provider, u.model, u.answers, u.input, u.output, u.cache_read, u.cache_write,
       u.reasoning, u.total, u.cost_input, u.cost_output, u.cost_cache_read, u.cost_cache_write, u.cost_total
FROM _sessions s JOIN _roots r USING (root)
  JOIN _usage_sums u ON u.block >> 16 = s.session AND u.block BETWEEN s.session << 16 AND (s.session << 16) + 65535
  LEFT JOIN _quarters q ON q.quarter_ms = u.quarter_ms
WHERE s.path <> '';

CREATE VIEW usage_by_day AS
SELECT day, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY day;

CREATE VIEW usage_by_local_day AS
SELECT local_day, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY local_day;

CREATE VIEW usage_by_model AS
SELECT provider, model, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY provider, model;

CREATE VIEW usage_by_provider AS
SELECT provider, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY provider;

CREATE VIEW usage_by_project AS
SELECT cwd, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY cwd;

CREATE VIEW usage_by_agent AS
SELECT agent, CAST(sum(answers) AS BIGINT) AS answers, CAST(count(DISTINCT session) AS BIGINT) AS sessions,
       CAST(sum(input) AS BIGINT) AS input, CAST(sum(output) AS BIGINT) AS output,
       CAST(sum(cache_read) AS BIGINT) AS cache_read, CAST(sum(cache_write) AS BIGINT) AS cache_write,
       CAST(sum(reasoning) AS BIGINT) AS reasoning, CAST(sum(total) AS BIGINT) AS total,
       CAST(sum(cost_input) AS DOUBLE) AS cost_input, CAST(sum(cost_output) AS DOUBLE) AS cost_output,
       CAST(sum(cost_cache_read) AS DOUBLE) AS cost_cache_read, CAST(sum(cost_cache_write) AS DOUBLE) AS cost_cache_write,
       CAST(sum(cost_total) AS DOUBLE) AS cost_total
FROM _spent GROUP BY agent;

CREATE VIEW compactions AS
SELECT key AS entry, CAST(key >> 24 AS BIGINT) AS session, first_kept, tokens_before FROM _compactions;

-- Files that an entry says were read or modified: arguments of calls, details of compactions and summaries, patches.
CREATE VIEW touches AS
SELECT f.key AS entry, CAST(f.key >> 24 AS BIGINT) AS session, f.ordinal,
       CAST(coalesce(e.time_ms, e.taken_ms, s.created_ms) AS BIGINT) AS time_ms, f.path AS path_written,
       CAST(CASE WHEN s.cwd = '' OR substr(f.path, 1, 1) IN ('/', '~', '\') OR substr(f.path, 2, 1) = ':' THEN f.path
                 WHEN substr(f.path, 1, 2) = './' THEN s.cwd || substr(f.path, 2)
                 ELSE s.cwd || '/' || f.path END AS TEXT) AS path,
       f.modified, e.kind AS told_by
FROM _files f JOIN _entries e USING (key) JOIN _sessions s ON s.session = f.key >> 24;

-- Which sessions touched a file.
CREATE VIEW files AS
SELECT path, session, CAST(sum(NOT modified) AS BIGINT) AS reads, CAST(sum(modified) AS BIGINT) AS modifications,
       CAST(min(time_ms) AS BIGINT) AS first_ms, CAST(max(time_ms) AS BIGINT) AS last_ms
FROM touches GROUP BY path, session;

CREATE VIEW labels AS
SELECT l.key AS entry, CAST(l.key >> 24 AS BIGINT) AS session, l.target, l.text FROM _labels l;

CREATE VIEW problems AS
SELECT 'bytes' AS what, r.path AS root, s.relative, p.start, p.length, p.provisional, p.reason,
       CAST((SELECT min(session) FROM _session_sources ss WHERE ss.source = s.source) AS BIGINT) AS session
FROM _problems p JOIN _sources s USING (source) JOIN _roots r USING (root)
UNION ALL
SELECT CASE WHEN t.unread THEN 'unread' ELSE 'file' END, r.path, t.relative, NULL, NULL, 0, t.reason, NULL
FROM _strays t JOIN _roots r USING (root)
UNION ALL
SELECT 'unread', r.path, s.relative, NULL, NULL, 0, s.unread,
       (SELECT min(session) FROM _session_sources ss WHERE ss.source = s.source)
FROM _sources s JOIN _roots r USING (root) WHERE s.unread IS NOT NULL
UNION ALL
SELECT 'root', r.path, '', NULL, NULL, 0, r.error, NULL FROM _roots r WHERE r.error IS NOT NULL;

CREATE VIEW sources AS
SELECT s.source, r.agent, r.path AS root, s.relative, s.length AS size, CAST((s.mtime_ns - s.mtime_ns % 1000000) / 1000000 AS BIGINT) AS mtime_ms, s.consumed,
       ss.session, ss.part
FROM _sources s JOIN _roots r USING (root) LEFT JOIN _session_sources ss USING (source);

CREATE VIEW changes AS SELECT seq, session, what, id, path FROM _changes;

CREATE VIEW freshness AS
SELECT last_scan_ms, last_batch,
       CAST((SELECT count(1) FROM _outbox) AS BIGINT) AS outstanding_items,
       CAST((SELECT coalesce(sum(bytes), 0) FROM _outbox) AS BIGINT) AS outstanding_bytes,
       index_id,
       CAST(coalesce((SELECT min(seq) FROM _changes), 1) AS BIGINT) AS first_change,
       CAST(coalesce((SELECT max(seq) FROM _changes), 0) AS BIGINT) AS last_change
FROM _store;

INSERT INTO _store VALUES (1, lower(hex(randomblob(8))), 0, NULL, 0, lower(hex(randomblob(8))), NULL, 0, '', NULL);
