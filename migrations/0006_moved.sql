-- Whether a session was in another repository before, so that what was said there stands in its files.
ALTER TABLE _sessions ADD COLUMN has_moved INTEGER NOT NULL DEFAULT 0;
