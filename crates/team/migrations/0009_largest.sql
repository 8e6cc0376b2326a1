-- As in the catalogue: of sessions that are as large as each other their files say which comes
-- first, and not the order in which they were pushed. Here no host is this machine, whose sessions
-- come first there.
CREATE OR REPLACE VIEW sessionary_catalogue.largest_sessions WITH (security_invoker = true) AS
  SELECT session, agent, cwd, name, first_message, bytes, entries, messages, tokens, cost, errors,
    modified_ms, id, path, host
  FROM sessionary_catalogue.sessions
  ORDER BY bytes DESC, created_ms IS NULL, created_ms, path COLLATE "C", agent COLLATE "C",
    host COLLATE "C", root COLLATE "C", session;
