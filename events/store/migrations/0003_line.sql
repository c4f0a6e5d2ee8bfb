-- An event line, for archives and for the relay. The payload comes last and as stored, because the digest covers these
-- bytes. A payload with line breaks becomes a JSON string, so the line stays one line. The planner inlines the body.
CREATE FUNCTION log.line(e log.events) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN concat(
    '{"partition":', (e).partition, ',"position":', (e).position, ',"digest":"', encode((e).digest, 'hex'),
    '","event_id":"', (e).event_id, '","user_id":', to_json((e).user_id), ',"stream":', to_json((e).stream),
    ',"version":', (e).version, ',"type":', to_json((e).type), ',"schema_version":', (e).schema_version,
    ',"dedupe_key":', coalesce(to_json((e).dedupe_key)::text, 'null'),
    ',"occurred_at":', to_json((e).occurred_at), ',"recorded_at":', to_json((e).recorded_at),
    ',"actor":', to_json((e).actor),
    ',"causation_id":', coalesce(to_json((e).causation_id)::text, 'null'),
    ',"correlation_id":', coalesce(to_json((e).correlation_id)::text, 'null'),
    CASE WHEN strpos((e).data::text, E'\n') > 0 THEN ',"text":' || to_json((e).data::text)
         ELSE ',"data":' || (e).data::text END,
    '}');
