-- Compares the digests of the next entries with the digests computed from the entry before.
WITH slice AS MATERIALIZED (
    SELECT e AS entry, e.position, e.digest FROM audit.entries e
    WHERE e.position > %(after)s AND e.position <= %(head)s
    ORDER BY e.position
    LIMIT %(limit)s
), chained AS (
    SELECT position, digest, %(after)s + row_number() OVER (ORDER BY position) AS expected,
           sha256(lag(digest, 1, %(digest)s::bytea) OVER (ORDER BY position) || sha256(audit.canonical(entry)))
               AS recomputed
    FROM slice
)
SELECT count(*), min(expected) FILTER (WHERE position <> expected),
       min(expected) FILTER (WHERE digest IS DISTINCT FROM recomputed),
       (SELECT digest FROM chained ORDER BY position DESC LIMIT 1)
FROM chained;
