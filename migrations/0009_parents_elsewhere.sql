-- A parent is found also where its file was elsewhere when a session named it
-- (src/catalogue/parents.rs): by the last part of that path. This step has the parents of all
-- sessions looked for again.
CREATE INDEX _sessions_parent_file ON _sessions (
    CASE WHEN length(parent_session) <= 4096
        THEN substr(parent_session, 1 + length(rtrim(parent_session, replace(replace(parent_session, '/', ''), '\', '')))) END
) WHERE parent_session IS NOT NULL;
