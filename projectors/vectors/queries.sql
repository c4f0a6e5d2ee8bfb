-- name: cached
SELECT content_hash, embedding FROM vector_cache.vectors
WHERE model = %(model)s AND content_hash = ANY (%(hashes)s::bytea[]);

-- name: digest
-- Two 64-bit sums over every column. The sums do not depend on the order of the rows. Vectors count by their exact bits.
WITH line AS (
    SELECT 'card_vectors_384' AS name, user_id, card_id, model, vector_send(embedding) AS bits FROM card_vectors_384
    UNION ALL SELECT 'card_vectors_768', user_id, card_id, model, vector_send(embedding) FROM card_vectors_768
    UNION ALL SELECT 'card_vectors_1024', user_id, card_id, model, vector_send(embedding) FROM card_vectors_1024
), content AS (
    SELECT name, (user_id, card_id, model)::text || encode(bits, 'base64') AS content FROM line
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM content GROUP BY name ORDER BY name;

-- name: events_of_cards
SELECT {event e}
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[]) AS own(partition, position)
JOIN log.events e ON e.partition = own.partition AND e.position = own.position;

-- name: spaces
SELECT slot, name, fingerprint FROM spaces;

-- name: waited_for
SELECT slot FROM unnest(%(slots)s::text[]) AS blocked(slot)
WHERE EXISTS (SELECT FROM pending_vectors p WHERE p.waits_for = blocked.slot AND p.failure IS NULL);

-- name: held
-- The number of rows of a user, by table.
SELECT 'card_vectors' AS table_name, (SELECT count(*) FROM card_vectors_384 WHERE user_id = %(user_id)s)
                     + (SELECT count(*) FROM card_vectors_768 WHERE user_id = %(user_id)s)
                     + (SELECT count(*) FROM card_vectors_1024 WHERE user_id = %(user_id)s);

-- name: held_pending
SELECT count(*) FROM pending_vectors WHERE user_id = %(user_id)s;

-- name: left
SELECT count(*), extract(epoch FROM clock_timestamp() - min(recorded_at))::float8
FROM pending_vectors WHERE failure IS NULL;

-- name: pending_up_to
SELECT count(*) FROM vectors.pending_vectors p
JOIN unnest(%(partitions)s::smallint[], %(positions)s::bigint[]) AS head(partition, position) USING (partition)
WHERE p.failure IS NULL AND p.position <= head.position;

-- name: take_pending
-- The newest cards come first, so that semantic search finds recent turns first. Several workers share the list: a row
-- is locked until its vector is stored. Cards of the slots `without` are left out.
WITH newest AS MATERIALIZED (
    SELECT p.user_id, p.card_id, p.partition, p.position FROM pending_vectors p
    WHERE p.failure IS NULL AND (p.waits_for IS NULL OR p.waits_for <> ALL (%(without)s::text[]))
    ORDER BY p.recorded_at DESC, p.position DESC
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
SELECT {event e}
FROM newest n JOIN log.events e ON e.partition = n.partition AND e.position = n.position;

-- name: card_events
-- The events of a user that made a vector, up to a position, in order.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.type = ANY (%(types)s::text[])
  AND e.position > %(after)s AND e.position <= %(until)s
ORDER BY e.position
LIMIT %(limit)s;

-- name: models_held
-- The embedder of the present vector of each card. A card that waits for its vector, or has none any more, is left out.
SELECT card_id, model FROM (
    SELECT user_id, card_id, model FROM card_vectors_384 UNION ALL SELECT user_id, card_id, model FROM card_vectors_768
    UNION ALL SELECT user_id, card_id, model FROM card_vectors_1024
) held
WHERE user_id = %(user_id)s AND card_id = ANY (%(cards)s::uuid[]);

-- name: reclassified
-- The events that gave cards of a user another mode, in order.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.type = 'CardReclassified'
ORDER BY e.position;

-- name: take_reembedding
-- The oldest open re-embedding that no other worker does. Its row is locked until the transaction ends: a fold or an
-- erasure that changes vectors of the same user waits for it.
SELECT user_id, name, project_id, event_id, partition, position, reached FROM reembeddings
WHERE done_at IS NULL AND event_id <> ALL (%(without)s::uuid[])
ORDER BY requested_at LIMIT 1
FOR UPDATE SKIP LOCKED;

-- name: add_cached
INSERT INTO vector_cache.vectors (model, content_hash, embedding)
SELECT %(model)s, content_hash, embedding
FROM unnest(%(hashes)s::bytea[], %(embeddings)s::vector[]) AS fresh(content_hash, embedding)
ON CONFLICT DO NOTHING;

-- name: add_space
INSERT INTO spaces (slot, name, fingerprint) VALUES (%(slot)s, %(name)s, %(fingerprint)s) ON CONFLICT DO NOTHING;

-- name: block_slot
INSERT INTO blocked_slots (slot, reason, since) VALUES (%(slot)s, %(reason)s, clock_timestamp())
ON CONFLICT (slot) DO UPDATE SET reason = excluded.reason WHERE blocked_slots.reason <> excluded.reason;

-- name: unblock_slots
DELETE FROM blocked_slots WHERE slot = ANY (%(slots)s::text[]);

-- name: copy_vectors
COPY {into} (user_id, card_id, model, embedding) FROM STDIN WITH (FORMAT binary);

-- name: forget_cached
-- The cache names no user. Another user of the same words only costs the time to embed them again.
DELETE FROM vector_cache.vectors WHERE content_hash = ANY (%(hashes)s::bytea[]);

-- name: forget_pending
DELETE FROM pending_vectors WHERE user_id = %(user_id)s
    AND (%(events)s::uuid[] IS NULL OR card_id = ANY (%(events)s::uuid[]));

-- name: forget_vectors
-- Deletes the vectors of a user: those of some events, or all of them for NULL.
WITH a AS (DELETE FROM card_vectors_384 WHERE user_id = %(user_id)s
               AND (%(events)s::uuid[] IS NULL OR card_id = ANY (%(events)s::uuid[]))),
     b AS (DELETE FROM card_vectors_768 WHERE user_id = %(user_id)s
               AND (%(events)s::uuid[] IS NULL OR card_id = ANY (%(events)s::uuid[])))
DELETE FROM card_vectors_1024 WHERE user_id = %(user_id)s
    AND (%(events)s::uuid[] IS NULL OR card_id = ANY (%(events)s::uuid[]));

-- name: add_pending
INSERT INTO pending_vectors (user_id, card_id, partition, position, recorded_at, waits_for)
SELECT * FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(partitions)s::smallint[], %(positions)s::bigint[],
                     %(times)s::timestamptz[], %(slots)s::text[])
-- The words of a reference changed again before its vector was made.
ON CONFLICT (user_id, card_id) DO UPDATE SET
    partition = excluded.partition, position = excluded.position, recorded_at = excluded.recorded_at, failure = NULL,
    waits_for = excluded.waits_for;

-- name: delete_pending
DELETE FROM pending_vectors p USING unnest(%(users)s::text[], %(cards)s::uuid[]) AS done(user_id, card_id)
WHERE p.user_id = done.user_id AND p.card_id = done.card_id;

-- name: fail_pending
UPDATE pending_vectors SET failure = %(failure)s WHERE user_id = %(user_id)s AND card_id = %(card_id)s;

-- name: mark_pending
UPDATE pending_vectors p SET waits_for = given.slot
FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(slots)s::text[]) AS given(user_id, card_id, slot)
WHERE p.user_id = given.user_id AND p.card_id = given.card_id;

-- name: add_reembedding
INSERT INTO reembeddings (user_id, name, project_id, event_id, partition, position, requested_at)
VALUES (%(user_id)s, %(name)s, %(project_id)s, %(event_id)s, %(partition)s, %(position)s, %(at)s)
ON CONFLICT (user_id, name, project_id) DO UPDATE SET
    event_id = excluded.event_id, position = excluded.position, requested_at = excluded.requested_at,
    reached = 0, cards = 0, done_at = NULL
WHERE reembeddings.position < excluded.position;

-- name: end_reembedding
UPDATE reembeddings SET done_at = clock_timestamp(), cards = %(cards)s
WHERE user_id = %(user_id)s AND name = %(name)s AND project_id = %(project_id)s;

-- name: forget_reembeddings
DELETE FROM reembeddings WHERE user_id = %(user_id)s
    AND (%(events)s::uuid[] IS NULL OR event_id = ANY (%(events)s::uuid[]));

-- name: hold_reembeddings
SELECT FROM reembeddings WHERE user_id = ANY (%(users)s::text[]) AND done_at IS NULL FOR UPDATE;

-- name: move_reembedding
UPDATE reembeddings SET reached = %(reached)s, cards = cards + %(cards)s
WHERE user_id = %(user_id)s AND name = %(name)s AND project_id = %(project_id)s;

-- name: withdraw_vectors_384
DELETE FROM card_vectors_384 v USING unnest(%(users)s::text[], %(cards)s::uuid[]) AS gone(user_id, card_id)
WHERE v.user_id = gone.user_id AND v.card_id = gone.card_id;

-- name: withdraw_vectors_768
DELETE FROM card_vectors_768 v USING unnest(%(users)s::text[], %(cards)s::uuid[]) AS gone(user_id, card_id)
WHERE v.user_id = gone.user_id AND v.card_id = gone.card_id;

-- name: withdraw_vectors_1024
DELETE FROM card_vectors_1024 v USING unnest(%(users)s::text[], %(cards)s::uuid[]) AS gone(user_id, card_id)
WHERE v.user_id = gone.user_id AND v.card_id = gone.card_id;
