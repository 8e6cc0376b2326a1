-- Of a long session in a database: what was known where a turn began before which nothing is expected to change.
ALTER TABLE _checkpoints ADD COLUMN turn TEXT; -- a CRC-64, and the JSON of which it is; NULL: it is read from its first row
