-- Compares the digests of the next rows of one partition with the digests computed from the row before.
WITH slice AS MATERIALIZED (
    SELECT e.* FROM log.events e
    WHERE e.partition = %(partition)s AND e.position > %(after)s AND e.position <= %(head)s
    ORDER BY e.position
    LIMIT %(limit)s
), chained AS (
    SELECT e.position, e.digest, %(after)s + row_number() OVER (ORDER BY e.position) AS expected,
           log.chain_step(lag(e.digest, 1, %(digest)s::bytea) OVER (ORDER BY e.position),
                          log.canonical(e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type,
                                        e.schema_version, e.dedupe_key, e.occurred_at, e.recorded_at, e.actor,
                                        e.causation_id, e.correlation_id, e.data), NULL) AS recomputed
    FROM slice e
)
SELECT count(*), min(expected) FILTER (WHERE position <> expected),
       min(expected) FILTER (WHERE digest IS DISTINCT FROM recomputed),
       (SELECT digest FROM chained ORDER BY position DESC LIMIT 1)
FROM chained;
