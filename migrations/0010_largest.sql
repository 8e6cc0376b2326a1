-- Of sessions that are as large as each other it is said by their files which comes first, as in
-- src/catalogue/ties.rs, and not by the order in which they were read.
DROP VIEW largest_sessions;
CREATE VIEW largest_sessions AS
SELECT session, agent, cwd, name, first_message, bytes, entries, messages, tokens, cost, errors, modified_ms, id, path
FROM sessions ORDER BY bytes DESC, host <> '', created_ms IS NULL, created_ms, path, agent, host, root, session;
