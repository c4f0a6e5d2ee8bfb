-- name: named_in
-- The cards that name a person, the last said first. A name that several people share counts where its turn also names
-- the person by a tie. No handle has more rows read than are wanted.
SELECT named.event_id, max(named.said_at) AS said_at
FROM (
    SELECT m.event_id, m.said_at
    FROM unnest(%(handles)s::text[]) AS own(handle)
    CROSS JOIN LATERAL (SELECT last.event_id, last.said_at FROM people.mentions last
                        WHERE last.user_id = %(user_id)s AND last.handle = own.handle
                        ORDER BY last.said_at DESC, last.event_id DESC LIMIT %(limit)s) m
    UNION ALL
    SELECT m.event_id, m.said_at FROM people.mentions m
    WHERE m.user_id = %(user_id)s AND m.handle = ANY (%(shared)s::text[])
      AND m.turn_id IN (SELECT t.turn_id FROM people.mentions t
                        WHERE t.user_id = %(user_id)s AND t.handle = ANY (%(tied)s::text[]))
) named
GROUP BY named.event_id
ORDER BY max(named.said_at) DESC, named.event_id DESC
LIMIT %(limit)s

-- name: mentions_of
-- The handles that some cards name, each with the turn of its card.
SELECT m.event_id, m.handle, m.name, m.roles, m.turn_id FROM people.mentions m
WHERE m.user_id = %(user_id)s AND m.event_id = ANY (%(cards)s::uuid[])
ORDER BY m.event_id, m.handle;

-- name: place_of
-- Where the log and the tables of people stand for one user, in one snapshot. A stretch of the partition with more than
-- `depth` events counts as told. An erasure that keeps the log leaves no event, and the sums of the tables show it.
-- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the choice of a position out of it.
-- The concatenation keeps a generic plan on the positions.
SELECT place.head,
       concat_ws(' ', place.generation, handles.number, handles.mentions,
                 (SELECT count(*) FROM people.entries n WHERE n.user_id = %(user_id)s)) AS tables,
       CASE WHEN place.head - place.since > %(depth)s THEN true
            ELSE EXISTS (SELECT FROM log.events e
                         WHERE e.partition = %(partition)s AND e.position > place.since
                           AND e.user_id || '' = %(user_id)s AND e.type = ANY (%(types)s::text[])) END AS changed,
       CASE WHEN place.head - place.folded > %(depth)s THEN true
            ELSE EXISTS (SELECT FROM log.events e
                         WHERE e.partition = %(partition)s AND e.position > place.folded
                           AND e.user_id || '' = %(user_id)s AND e.type = ANY (%(types)s::text[])) END AS unfolded
FROM (
    SELECT h.position AS head, live.generation, coalesce(live.position, 0) AS folded,
           coalesce(%(since)s::bigint, live.position, 0) AS since
    FROM log.heads h
    LEFT JOIN (SELECT c.partition, c.position, c.generation FROM log.checkpoints c
               JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                     AND g.status = 'live'
               WHERE c.processor = 'people') live ON live.partition = h.partition
    WHERE h.partition = %(partition)s
    OFFSET 0
) place
CROSS JOIN (SELECT count(*) AS number, sum(h.mentions) AS mentions FROM people.handles h
            WHERE h.user_id = %(user_id)s) handles;
