-- A line of the archive a row. The payload comes last, and as it is stored: its digest covers those very bytes.
-- A payload written over several lines by hand is wrapped into a string, for a line must stay one line.
SELECT concat(
    '{"partition":', e.partition, ',"position":', e.position, ',"digest":"', encode(e.digest, 'hex'),
    '","event_id":"', e.event_id, '","user_id":', to_json(e.user_id), ',"stream":', to_json(e.stream),
    ',"version":', e.version, ',"type":', to_json(e.type), ',"schema_version":', e.schema_version,
    ',"dedupe_key":', coalesce(to_json(e.dedupe_key)::text, 'null'),
    ',"occurred_at":', to_json(e.occurred_at), ',"recorded_at":', to_json(e.recorded_at), ',"actor":', to_json(e.actor),
    ',"causation_id":', coalesce(to_json(e.causation_id)::text, 'null'),
    ',"correlation_id":', coalesce(to_json(e.correlation_id)::text, 'null'),
    CASE WHEN strpos(e.data::text, E'\n') > 0 THEN ',"text":' || to_json(e.data::text) ELSE ',"data":' || e.data::text END,
    E'}\n')
FROM log.events e
WHERE e.partition = %(partition)s AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
ORDER BY e.position;
