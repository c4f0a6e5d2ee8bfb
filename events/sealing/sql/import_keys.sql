INSERT INTO sealing.subject_keys (user_id, wrapped)
SELECT DISTINCT ON (user_id) user_id, decode(wrapped, 'hex')
FROM unnest(%(users)s::text[], %(wrapped)s::text[]) AS k(user_id, wrapped)
ON CONFLICT (user_id) DO NOTHING;
