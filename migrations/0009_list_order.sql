-- What lists are sorted by, newest last: which rows are on a page is told without reading any of them.
CREATE INDEX _rows_in_order ON _rows (listed, modified_ms, file_ms, root, created_ms, length(json));
