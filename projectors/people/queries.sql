-- name: digest
-- Two 64-bit sums over every column. The sums do not depend on the order of the rows.
WITH line AS (
    SELECT 'entries' AS name, n::text AS content FROM entries n
    UNION ALL SELECT 'mentions', m::text FROM mentions m
    UNION ALL SELECT 'handles', h::text FROM handles h
    UNION ALL SELECT 'links', l::text FROM links l
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;

-- name: held
-- The number of rows of a user, by table.
SELECT 'entries', count(*) FROM entries WHERE user_id = %(user_id)s
UNION ALL SELECT 'mentions', count(*) FROM mentions WHERE user_id = %(user_id)s
UNION ALL SELECT 'handles', count(*) FROM handles WHERE user_id = %(user_id)s
UNION ALL SELECT 'links', count(*) FROM links WHERE user_id = %(user_id)s;

-- name: add_entry
INSERT INTO entries (user_id, event_id, position) VALUES (%(user_id)s, %(event_id)s, %(position)s);

-- name: add_mentions
INSERT INTO mentions (user_id, event_id, handle, name, roles, certain, said_at, turn_id)
SELECT u, e, h, n, string_to_array(r, ' '), c, s, t
FROM unnest(%(user_id)s::text[], %(event_id)s::uuid[], %(handle)s::text[], %(name)s::text[], %(roles)s::text[],
            %(certain)s::boolean[], %(said_at)s::timestamptz[], %(turn_id)s::text[]) AS m (u, e, h, n, r, c, s, t);

-- name: add_links
INSERT INTO links (user_id, event_id, one, other, kind, quote)
SELECT * FROM unnest(%(user_id)s::text[], %(event_id)s::uuid[], %(one)s::text[], %(other)s::text[], %(kind)s::text[],
                     %(quote)s::text[])
ON CONFLICT DO NOTHING;

-- name: add_handles
-- The sum of new mentions, added to the sum that is there.
INSERT INTO handles AS h (user_id, handle, name, certain, since, until, mentions)
SELECT * FROM unnest(%(user_id)s::text[], %(handle)s::text[], %(name)s::text[], %(certain)s::boolean[],
                     %(since)s::timestamptz[], %(until)s::timestamptz[], %(mentions)s::integer[])
ON CONFLICT (user_id, handle) DO UPDATE SET
    name = CASE WHEN (excluded.since, excluded.name COLLATE "C") < (h.since, h.name COLLATE "C")
                THEN excluded.name ELSE h.name END,
    certain = h.certain OR excluded.certain,
    since = least(h.since, excluded.since),
    until = greatest(h.until, excluded.until),
    mentions = h.mentions + excluded.mentions;

-- name: remove_mentions
-- Deletes what withdrawn cards told, and sums up the handles that they named again.
WITH gone AS (
    DELETE FROM mentions WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]) RETURNING handle
), links AS (
    DELETE FROM links WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[])
), touched AS (
    SELECT DISTINCT handle FROM gone
), left_over AS (
    SELECT m.handle, (array_agg(m.name ORDER BY m.said_at, m.name COLLATE "C"))[1] AS name, bool_or(m.certain) AS certain,
           min(m.said_at) AS since, max(m.said_at) AS until, count(*)::integer AS mentions
    FROM mentions m JOIN touched t ON t.handle = m.handle
    WHERE m.user_id = %(user_id)s AND NOT (m.event_id = ANY (%(events)s::uuid[]))
    GROUP BY m.handle
), emptied AS (
    DELETE FROM handles h USING touched t
    WHERE h.user_id = %(user_id)s AND h.handle = t.handle
      AND NOT EXISTS (SELECT FROM left_over l WHERE l.handle = h.handle)
)
UPDATE handles h SET name = l.name, certain = l.certain, since = l.since, until = l.until, mentions = l.mentions
FROM left_over l WHERE h.user_id = %(user_id)s AND h.handle = l.handle;

-- name: remove_entries
DELETE FROM entries WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]);

-- name: forget_user
WITH mentions AS (DELETE FROM mentions WHERE user_id = %(user_id)s),
     handles AS (DELETE FROM handles WHERE user_id = %(user_id)s),
     links AS (DELETE FROM links WHERE user_id = %(user_id)s)
DELETE FROM entries WHERE user_id = %(user_id)s;
