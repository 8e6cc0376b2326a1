-- What searches know of entries that lack what others have; no view tells it.

-- When was an entry written that does not say so? With the entry before it.
ALTER TABLE _entries ADD COLUMN taken_ms INTEGER; -- time of the last entry before it in its source that has one; NULL where it has its own

-- What did a compaction of version 1 keep first? Its entries have no ids.
ALTER TABLE _compactions ADD COLUMN first_kept_index INTEGER; -- counts the entries that pi reads, the header as 0

-- All sources are read again: no format has this revision.
UPDATE _sources SET revision = 4294967295;
