-- Only an event with a reason was tried; the others wait behind it.
INSERT INTO log.parked (processor, generation, partition, user_id, position, event_id, reason, attempts)
SELECT %(processor)s, %(generation)s, e.partition, e.user_id, e.position, e.event_id, e.reason,
       (e.reason IS NOT NULL)::integer
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(positions)s::bigint[], %(events)s::uuid[],
            %(reasons)s::text[]) AS e(partition, user_id, position, event_id, reason);
