-- What is added below an own session changes nothing of what is seen of others': it is of own files,
-- and what says where something is says it below the folder of its host.

DO $$
DECLARE
  its text;
  of text;
BEGIN
  FOREACH of IN ARRAY ARRAY['_session_sources', '_entries'] LOOP
    EXECUTE format('CREATE POLICY own_source ON sessionary_catalogue.%I AS RESTRICTIVE FOR INSERT
      WITH CHECK (source IN (SELECT source FROM sessionary_catalogue._sources
        WHERE owner = current_user))', of);
  END LOOP;
  FOR of, its IN VALUES ('_sources', 'root_path'), ('_strays', 'root_path'),
    ('_sessions', 'root_path'), ('_sessions', 'path')
  LOOP
    EXECUTE format('CREATE POLICY %I ON sessionary_catalogue.%I AS RESTRICTIVE FOR INSERT
      WITH CHECK (EXISTS (SELECT FROM sessionary_catalogue._bundles b
        WHERE b.bundle = %2$I.bundle AND starts_with(%2$I.%3$I, b.host || ''/'')))',
      'own_' || its, of, its);
  END LOOP;
END
$$;
