-- The archive's first shape. Nobody but sessionary reads it. Times are integer ms UTC, or ns where they end so.

-- One row: which archive this is. A catalogue that has read another one looks at all of it again.
CREATE TABLE store (
    id INTEGER PRIMARY KEY CHECK (id = 1),
    archive TEXT NOT NULL
) STRICT;

-- Whose sessions are kept. '*' stands for the agents without a row.
CREATE TABLE agents (
    agent TEXT PRIMARY KEY,
    is_kept INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- What is never kept again: SHA-256 of its agent, root and path.
CREATE TABLE forgotten (
    place BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

-- A file that belongs to a session, by the place where it lay.
CREATE TABLE sources (
    source INTEGER PRIMARY KEY AUTOINCREMENT,
    agent TEXT NOT NULL,
    root TEXT NOT NULL,
    relative TEXT NOT NULL,
    UNIQUE (agent, root, relative)
) STRICT;

-- What a source held: it grows with its file. When a file no longer begins with what is kept of it, the next generation begins.
CREATE TABLE generations (
    generation INTEGER PRIMARY KEY AUTOINCREMENT,
    source INTEGER NOT NULL REFERENCES sources,
    length INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,       -- of the file when it was last read
    begun_ms INTEGER NOT NULL,       -- when we read the first bytes of it
    kept_ms INTEGER NOT NULL         -- when we read the last bytes of it
) STRICT;
CREATE INDEX generations_by_source ON generations (source);

-- The parts tile a generation. `chain` is the SHA-256 of the chain before it and of the part's place, length and block.
CREATE TABLE parts (
    generation INTEGER NOT NULL REFERENCES generations,
    start INTEGER NOT NULL,
    length INTEGER NOT NULL,
    block INTEGER NOT NULL REFERENCES blocks,
    chain BLOB NOT NULL,
    PRIMARY KEY (generation, start)
) STRICT, WITHOUT ROWID;
CREATE INDEX parts_by_block ON parts (block);

-- Bytes, zstd, once for all parts that hold them.
CREATE TABLE blocks (
    block INTEGER PRIMARY KEY AUTOINCREMENT,
    sha256 BLOB NOT NULL UNIQUE,
    length INTEGER NOT NULL,         -- before compression
    data BLOB NOT NULL
) STRICT;

INSERT INTO store VALUES (1, lower(hex(randomblob(8))));
