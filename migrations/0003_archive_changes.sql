-- How often something was kept, renamed or forgotten. A catalogue notes it: where it is less than that, this is an older copy of the archive.
ALTER TABLE store ADD COLUMN changes INTEGER NOT NULL DEFAULT 0;
-- How often something was forgotten. Where a catalogue has noted another number, it asks what is still there.
ALTER TABLE store ADD COLUMN forgets INTEGER NOT NULL DEFAULT 0;
