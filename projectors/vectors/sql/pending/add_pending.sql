INSERT INTO pending_vectors (user_id, card_id, partition, position, recorded_at)
SELECT * FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(partitions)s::smallint[], %(positions)s::bigint[],
                     %(times)s::timestamptz[]);
