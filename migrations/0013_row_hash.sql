-- What a list copies to its reader unread is held against a hash of it. All rows are made anew.
ALTER TABLE _rows ADD COLUMN hash INTEGER NOT NULL DEFAULT 0;
