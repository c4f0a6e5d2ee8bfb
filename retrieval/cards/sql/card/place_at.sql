-- The last position recorded by an instant, by binary search. Positions and `recorded_at` grow together.
WITH RECURSIVE search(low, high) AS (
    SELECT 0::bigint, h.position FROM log.heads h WHERE h.partition = %(partition)s
    UNION ALL
    SELECT CASE WHEN e.recorded_at <= %(known_at)s THEN e.position ELSE search.low END,
           CASE WHEN e.recorded_at <= %(known_at)s THEN search.high ELSE e.position - 1 END
    FROM search
    JOIN log.events e ON e.partition = %(partition)s AND e.position = (search.low + search.high + 1) / 2
    WHERE search.low < search.high
)
SELECT low FROM search WHERE low >= high;
