-- An event as a line of JSON: of an archive, and of what is published. The payload comes last, and as it is stored:
-- its digest covers those very bytes. A payload written over several lines by hand is wrapped into a string, for a
-- line must stay one line. The planner puts the body in the place of the call.
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
