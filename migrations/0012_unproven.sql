-- Which files were read on since all their blocks were compared with what was read of them? Looks compare the tail of a file
-- that grew, and somebody else compares the rest later. What older versions read on by its tail nobody has compared.
ALTER TABLE _sources ADD COLUMN unproven INTEGER NOT NULL DEFAULT 1;
CREATE INDEX _sources_unproven ON _sources (source) WHERE unproven;
