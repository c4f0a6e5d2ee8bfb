WITH chained AS (
    SELECT e.position, e.digest, row_number() OVER (ORDER BY e.position) AS expected,
           log.chain_step(lag(e.digest, 1, sha256('')) OVER (ORDER BY e.position),
                          log.canonical(e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type,
                                        e.schema_version, e.dedupe_key, e.occurred_at, e.recorded_at, e.actor,
                                        e.causation_id, e.correlation_id, e.data), NULL) AS recomputed
    FROM log.events e WHERE e.partition = %(partition)s
), summary AS (
    SELECT count(*) AS count, min(expected) FILTER (WHERE position <> expected) AS hole,
           min(position) FILTER (WHERE digest IS DISTINCT FROM recomputed) AS broken,
           coalesce(max(position), 0) AS last
    FROM chained
)
SELECT s.count, s.hole, s.broken, s.last,
       (SELECT digest FROM log.events e WHERE e.partition = %(partition)s AND e.position = s.last), h.position, h.digest
FROM summary s CROSS JOIN log.heads h WHERE h.partition = %(partition)s;
