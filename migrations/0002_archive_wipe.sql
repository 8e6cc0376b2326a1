-- While what was forgotten is still to be wiped from the file: a number, drawn anew by whoever forgets something, so that a wipe that began before does not take it for done. It stands here because a catalogue is a cache, and there may be several.
ALTER TABLE store ADD COLUMN unwiped INTEGER;

-- Before this it was noted in the catalogue, or nowhere.
UPDATE store SET unwiped = random() WHERE EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'sources');
