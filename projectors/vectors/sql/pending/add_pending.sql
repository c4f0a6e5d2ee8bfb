INSERT INTO pending_vectors (user_id, card_id, partition, position, recorded_at, waits_for)
SELECT * FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(partitions)s::smallint[], %(positions)s::bigint[],
                     %(times)s::timestamptz[], %(slots)s::text[])
-- The words of a reference changed again before its vector was made.
ON CONFLICT (user_id, card_id) DO UPDATE SET
    partition = excluded.partition, position = excluded.position, recorded_at = excluded.recorded_at, failure = NULL,
    waits_for = excluded.waits_for;
