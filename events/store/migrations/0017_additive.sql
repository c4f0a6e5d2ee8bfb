-- The curator may only add. Its role has no right on log.append: it appends through these functions, which refuse every
-- other type of event and every other actor. `cardlog log verify` runs every migration once more beside the tables.
CREATE OR REPLACE FUNCTION log.refuse_unless_additive(batch json) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    refused record;
BEGIN
    SELECT item.type, item.actor INTO refused FROM json_to_recordset(batch) AS item(type text, actor text)
    WHERE item.actor IS DISTINCT FROM 'curator' OR item.type IS NULL
       OR item.type NOT IN ('CuratorRan', 'CardsConnected', 'ThreadOpened', 'CardsThreaded', 'InsightDerived')
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the curator may not append % as %: it only adds relations, threads, insights and its runs',
            refused.type, refused.actor USING ERRCODE = 'insufficient_privilege';
    END IF;
END $$;
REVOKE ALL ON FUNCTION log.refuse_unless_additive(json) FROM PUBLIC;

CREATE OR REPLACE FUNCTION log.append_additive(batch json)
RETURNS TABLE (ordinal bigint, partition smallint, "position" bigint, version bigint, recorded_at timestamptz,
               duplicate boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM log.refuse_unless_additive(batch);
    RETURN QUERY SELECT * FROM log.append(batch);
END $$;
REVOKE ALL ON FUNCTION log.append_additive(json) FROM PUBLIC;

CREATE OR REPLACE FUNCTION sealing.append_additive(
    batch json, partitions smallint[], subjects integer[], salts bytea, users text[], wrapped bytea[], fresh boolean[]
)
RETURNS TABLE (ordinal bigint, partition smallint, "position" bigint, version bigint, recorded_at timestamptz,
               duplicate boolean)
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM log.refuse_unless_additive(batch);
    RETURN QUERY SELECT * FROM sealing.append(batch, partitions, subjects, salts, users, wrapped, fresh);
END $$;
REVOKE ALL ON FUNCTION sealing.append_additive(json, smallint[], integer[], bytea, text[], bytea[], boolean[])
    FROM PUBLIC;
