-- One pass over the log: what kinds of events there are, how many, how long, and from when to when.
SELECT type, schema_version, count(*) AS events, sum(octet_length(data::text))::bigint AS payload_bytes,
       min(recorded_at) AS first_recorded_at, max(recorded_at) AS last_recorded_at
FROM log.events
GROUP BY type, schema_version
ORDER BY type, schema_version;
