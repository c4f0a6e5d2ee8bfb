-- The last position recorded by an instant, by binary search. Positions and `recorded_at` grow together.
-- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the sum out of the comparison.
WITH RECURSIVE search(low, high) AS (
    SELECT 0::bigint, h.position FROM log.heads h WHERE h.partition = %(partition)s
    UNION ALL
    SELECT CASE WHEN e.recorded_at <= %(known_at)s THEN e.position ELSE search.low END,
           CASE WHEN e.recorded_at <= %(known_at)s THEN search.high ELSE e.position - 1 END
    FROM search
    CROSS JOIN LATERAL (SELECT (search.low + search.high + 1) / 2 AS position OFFSET 0) middle
    JOIN log.events e ON e.partition = %(partition)s AND e.position = middle.position
    WHERE search.low < search.high
)
SELECT low FROM search WHERE low >= high;
