-- The curator may propose that two people are one. A command merges them.
CREATE OR REPLACE FUNCTION log.refuse_unless_additive(batch json) RETURNS void
LANGUAGE plpgsql STABLE SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    refused record;
BEGIN
    SELECT item.type, item.actor INTO refused FROM json_to_recordset(batch) AS item(type text, actor text)
    WHERE item.actor IS DISTINCT FROM 'curator' OR item.type IS NULL
       OR item.type NOT IN ('CuratorRan', 'CardsConnected', 'ThreadOpened', 'CardsThreaded', 'InsightDerived',
                           'PersonMergeProposed')
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'the curator may not append % as %: it only adds relations, threads, insights, proposals and its runs',
            refused.type, refused.actor USING ERRCODE = 'insufficient_privilege';
    END IF;
END $$;
