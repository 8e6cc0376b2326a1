-- What is left out because it is excluded: nothing of it is stored but these numbers.
ALTER TABLE _store ADD COLUMN exclude INTEGER;                 -- hash of the globs by which was left out; NULL = none
ALTER TABLE _store ADD COLUMN wipe INTEGER NOT NULL DEFAULT 0; -- 1: what was removed may still be read in free space
ALTER TABLE _roots ADD COLUMN excluded INTEGER NOT NULL DEFAULT 0; -- files left out by the last look

-- Sessions left out by their working directory, so that their files are not opened at every look.
CREATE TABLE _excluded (
    root INTEGER NOT NULL,
    place INTEGER NOT NULL,          -- hash of the session's place below the root
    seal INTEGER NOT NULL,           -- hash of its main source's identity
    PRIMARY KEY (root, place)
) STRICT, WITHOUT ROWID;
