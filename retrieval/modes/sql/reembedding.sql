SELECT cards, least(1, reached::float8 / greatest(position, 1)) AS share, done_at FROM vectors.reembeddings
WHERE user_id = %(user_id)s AND event_id = %(event_id)s;
