-- name: recent_mode
-- The project and the mode of the latest card of a session. A card without a mode is of the general mode.
SELECT c.project_id, coalesce(c.mode, 'general') FROM cards.event_cards c
WHERE c.user_id = %(user_id)s AND c.session_id = %(session_id)s AND NOT c.retracted
ORDER BY c.position DESC
LIMIT 1;

-- name: reembedding
SELECT cards, least(1, reached::float8 / greatest(position, 1)) AS share, done_at FROM vectors.reembeddings
WHERE user_id = %(user_id)s AND event_id = %(event_id)s;

-- name: reembedding_of_everybody
SELECT reembedding_id, requested_at, done_at, cards, share::float8 AS share, hindrance FROM log.reembeddings
WHERE mode = %(mode)s ORDER BY done_at IS NULL DESC, requested_at DESC LIMIT 1;

-- name: reembedding_requests
-- The last re-embeddings that a user asked for, the newest first.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s AND e.type = 'ModeReembedded'
ORDER BY e.version DESC
LIMIT 200;

-- name: reembeddings_there
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'vectors' AND c.relname = 'reembeddings');
