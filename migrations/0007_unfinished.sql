-- Sources with something behind their last whole line, or that grew while they were read: every search asks for them, and
-- there are few.
CREATE INDEX _sources_unfinished ON _sources (source) WHERE consumed < size OR racy;
