INSERT INTO sealing.salts (partition, position, user_id, salt)
SELECT %(partition)s, s.position, s.user_id, decode(s.salt, 'hex')
FROM unnest(%(positions)s::bigint[], %(users)s::text[], %(salts)s::text[]) AS s(position, user_id, salt);
