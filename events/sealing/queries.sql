-- name: keys_after
SELECT user_id, wrapped FROM sealing.subject_keys WHERE user_id > %(after)s ORDER BY user_id LIMIT %(limit)s;

-- name: key_of_each_wrapper
SELECT k.user_id, k.wrapped
FROM (SELECT min(user_id) AS user_id FROM sealing.subject_keys GROUP BY substring(wrapped FOR 8)) w
JOIN sealing.subject_keys k USING (user_id);

-- name: keys_by_wrapper
SELECT encode(substring(wrapped FOR 8), 'hex'), count(*) FROM sealing.subject_keys GROUP BY 1;

-- name: other_key
-- A subject that has another key here than the given one. Nobody could open its imported events.
SELECT g.user_id
FROM unnest(%(users)s::text[], %(wrapped)s::text[]) AS g(user_id, wrapped)
JOIN sealing.subject_keys k ON k.user_id = g.user_id
WHERE k.wrapped <> decode(g.wrapped, 'hex')
LIMIT 1;

-- name: wrapped_keys
SELECT user_id, wrapped FROM sealing.subject_keys WHERE user_id = ANY (%(users)s::text[]);

-- name: append_sealed
SELECT ordinal, partition, position, version, recorded_at, duplicate
FROM sealing.append(%(batch)s::text::json, %(partitions)s::smallint[], %(subjects)s::integer[], %(salts)s::bytea,
                    %(users)s::text[], %(wrapped)s::bytea[], %(fresh)s::boolean[]);

-- name: append_sealed_additive
SELECT ordinal, partition, position, version, recorded_at, duplicate
FROM sealing.append_additive(%(batch)s::text::json, %(partitions)s::smallint[], %(subjects)s::integer[],
                             %(salts)s::bytea, %(users)s::text[], %(wrapped)s::bytea[], %(fresh)s::boolean[]);

-- name: destroy_events
SELECT sealing.destroy_events(%(user_id)s, %(event_ids)s::uuid[]);

-- name: destroy_subject
SELECT sealing.destroy_subject(%(user_id)s);

-- name: import_keys
INSERT INTO sealing.subject_keys (user_id, wrapped)
SELECT DISTINCT ON (user_id) user_id, decode(wrapped, 'hex')
FROM unnest(%(users)s::text[], %(wrapped)s::text[]) AS k(user_id, wrapped)
ON CONFLICT (user_id) DO NOTHING;

-- name: import_salts
INSERT INTO sealing.salts (partition, position, user_id, salt)
SELECT %(partition)s, s.position, s.user_id, decode(s.salt, 'hex')
FROM unnest(%(positions)s::bigint[], %(users)s::text[], %(salts)s::text[]) AS s(position, user_id, salt);

-- name: rewrap
SELECT sealing.rewrap(%(users)s::text[], %(before)s::bytea[], %(after)s::bytea[]);
