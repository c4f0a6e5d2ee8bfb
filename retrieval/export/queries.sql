-- name: cards_of_user
-- The cards of a user with their relations and their earlier values, without the search keys. The order is that of the
-- primary key: for another one, each page would read all cards of the user.
SELECT c.card_id,
       to_jsonb(c) - 'user_id' - 'kind' - 'term_keys' - 'own_terms' - 'pair_keys' - 'name_keys' - 'related_keys'
           || jsonb_build_object('card_kind', c.kind) AS card,
       (SELECT coalesce(jsonb_agg(to_jsonb(r) - 'user_id' - 'from_card' ORDER BY r.to_card, r.predicate), '[]')
        FROM cards.relations r WHERE r.user_id = c.user_id AND r.from_card = c.card_id) AS relations,
       (SELECT coalesce(jsonb_agg(to_jsonb(u) - 'user_id' - 'card_id' ORDER BY u.changed_at), '[]')
        FROM cards.card_update_log u WHERE u.user_id = c.user_id AND u.card_id = c.card_id) AS changes
FROM cards.cards c
WHERE c.user_id = %(user_id)s AND c.card_id > %(after)s::uuid
ORDER BY c.card_id
LIMIT %(limit)s;

-- name: known_before
-- Does the log know the user, and does it hold an event of this id? One partition never holds an id twice.
SELECT EXISTS (SELECT FROM log.events WHERE partition = %(partition)s AND user_id = %(user_id)s),
       EXISTS (SELECT FROM log.events WHERE event_id = %(event_id)s::uuid);

-- name: users
-- The users of a tenant after a user, in order. In each partition the index gives one user after the other, without
-- reading the events between them.
WITH RECURSIVE found AS (
    SELECT p.partition, u.user_id, (NOT %(plain)s OR strpos(u.user_id, E'\x1f') = 0)::int AS number
    FROM generate_series(0, 63) AS p(partition)
    CROSS JOIN LATERAL (SELECT e.user_id FROM log.events e
                        WHERE e.partition = p.partition AND e.user_id > %(after)s AND e.user_id < %(end)s
                        ORDER BY e.user_id LIMIT 1) u
    UNION ALL
    SELECT f.partition, u.user_id, f.number + (NOT %(plain)s OR strpos(u.user_id, E'\x1f') = 0)::int
    FROM found f
    CROSS JOIN LATERAL (SELECT e.user_id FROM log.events e
                        WHERE e.partition = f.partition AND e.user_id < %(end)s
                          AND e.user_id >= CASE WHEN %(plain)s AND strpos(f.user_id, E'\x1f') > 0
                              THEN split_part(f.user_id, E'\x1f', 1) || ' ' ELSE f.user_id || E'\x01' END
                        ORDER BY e.user_id LIMIT 1) u
    WHERE f.number < %(limit)s
)
SELECT f.user_id, (SELECT max(t.erased_at) FROM erasure.tombstones t
                   WHERE t.user_id = f.user_id AND t.kind = 'user') AS erased_at
FROM found f
WHERE NOT %(plain)s OR strpos(f.user_id, E'\x1f') = 0
ORDER BY f.user_id
LIMIT %(limit)s;

-- name: users_among
-- Those of some users of whom something is known, in order.
SELECT u.user_id, (SELECT max(t.erased_at) FROM erasure.tombstones t
                   WHERE t.user_id = u.user_id AND t.kind = 'user') AS erased_at
FROM unnest(%(partitions)s::smallint[], %(users)s::text[]) AS u(partition, user_id)
WHERE EXISTS (SELECT FROM log.events e WHERE e.partition = u.partition AND e.user_id = u.user_id)
ORDER BY u.user_id COLLATE "C"
LIMIT %(limit)s;
