SELECT e.dedupe_key
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(keys)s::text[]) AS wanted(partition, user_id, dedupe_key)
JOIN log.events e USING (partition, user_id, dedupe_key);
