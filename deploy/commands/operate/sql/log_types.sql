-- One pass over the log: the number, the bytes and the first and last time of the events of each type and version.
SELECT type, schema_version, count(*) AS events, sum(octet_length(data::text))::bigint AS payload_bytes,
       min(recorded_at) AS first_recorded_at, max(recorded_at) AS last_recorded_at
FROM log.events
GROUP BY type, schema_version
ORDER BY type, schema_version;
