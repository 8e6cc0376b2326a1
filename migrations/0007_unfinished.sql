-- Sources with something behind their last whole line: every search asks for them, and there are few.
CREATE INDEX _sources_unfinished ON _sources (source) WHERE consumed < size;
