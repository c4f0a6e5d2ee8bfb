INSERT INTO log.reference_use (user_id, stream, day, uses)
SELECT * FROM unnest(%(users)s::text[], %(streams)s::text[], %(days)s::date[], %(uses)s::integer[])
ON CONFLICT (user_id, stream, day) DO UPDATE SET uses = log.reference_use.uses + excluded.uses;
