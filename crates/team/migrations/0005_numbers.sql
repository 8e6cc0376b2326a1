-- Numbers of bundles, sources and sessions are those of the whole database. So that nobody takes
-- one which another writer is about to get, the server gives them out, and a row has one that was
-- given to its own transaction.

CREATE TABLE sessionary._taken (
  by xid8 NOT NULL,
  numbers int8multirange NOT NULL
);
CREATE INDEX ON sessionary._taken (by);

-- So many new numbers, for this transaction.
CREATE FUNCTION sessionary_catalogue._take(many integer) RETURNS SETOF bigint
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
  taken bigint[];
BEGIN
  -- Nothing more is added by transactions that have ended. What another one removes is left to it.
  DELETE FROM sessionary._taken WHERE ctid IN (
    SELECT ctid FROM sessionary._taken WHERE by < pg_snapshot_xmin(pg_current_snapshot())
    FOR UPDATE SKIP LOCKED);
  taken := ARRAY(SELECT nextval('sessionary_catalogue._numbers') FROM generate_series(1, many));
  INSERT INTO sessionary._taken
    SELECT pg_current_xact_id(), range_agg(int8range(number, number, '[]'))
    FROM unnest(taken) number HAVING count(*) > 0;
  RETURN QUERY SELECT unnest(taken);
END
$$;

CREATE FUNCTION sessionary_catalogue._is_taken(number bigint) RETURNS boolean
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
  RETURN EXISTS (SELECT FROM sessionary._taken
    WHERE by = pg_current_xact_id() AND numbers @> number);
END
$$;

DO $$
DECLARE
  writer text := 'sessionary_writer_' || current_database();
  its text;
  of text;
BEGIN
  EXECUTE format('REVOKE USAGE ON SEQUENCE sessionary_catalogue._numbers FROM %I', writer);
  FOREACH of IN ARRAY ARRAY['_take(integer)', '_is_taken(bigint)'] LOOP
    EXECUTE format('REVOKE ALL ON FUNCTION sessionary_catalogue.%s FROM PUBLIC', of);
    EXECUTE format('GRANT EXECUTE ON FUNCTION sessionary_catalogue.%s TO %I', of, writer);
  END LOOP;
  FOR of, its IN VALUES ('_bundles', 'bundle'), ('_sources', 'source'), ('_sessions', 'session')
  LOOP
    EXECUTE format('CREATE POLICY number ON sessionary_catalogue.%I AS RESTRICTIVE FOR INSERT
      WITH CHECK (sessionary_catalogue._is_taken(%I))', of, its);
  END LOOP;
END
$$;
