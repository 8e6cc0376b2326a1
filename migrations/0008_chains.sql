-- Runs of entries whose parent is the entry before: the way up a session goes through bytes there, not through rows. Not all
-- of them are kept; what stands in no run is asked row by row.
CREATE TABLE _chains (
    key INTEGER PRIMARY KEY,         -- of the first entry; the others' follow it
    ids BLOB NOT NULL                -- six bytes of the CRC-64 of each one's id, little endian; zero = it has none
) STRICT;
