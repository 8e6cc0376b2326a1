-- Every root's directories have a seal, not only those of agents that replace files by rename: a hash of what must be
-- the same for all that is known of the files in the directory to hold. While it is, no row of `_sources` is read.
DROP TABLE _folders;
CREATE TABLE _folders (
    root INTEGER NOT NULL,
    relative TEXT NOT NULL,
    seal INTEGER,                    -- NULL = compare its files in any case
    files INTEGER NOT NULL,          -- sources directly in it
    PRIMARY KEY (root, relative)
) STRICT, WITHOUT ROWID;
