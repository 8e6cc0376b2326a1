-- Of the archive, as it was when this catalogue wrote to it last: how often it was changed.
ALTER TABLE _store ADD COLUMN archive_changes INTEGER NOT NULL DEFAULT 0;
-- And when what is gone below this root was last looked up in it: how often something was forgotten; NULL: that is not known.
ALTER TABLE _roots ADD COLUMN archive_forgets INTEGER;
