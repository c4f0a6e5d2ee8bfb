SELECT reembedding_id, requested_at, done_at, cards, share::float8 AS share, hindrance FROM log.reembeddings
WHERE mode = %(mode)s ORDER BY done_at IS NULL DESC, requested_at DESC LIMIT 1;
