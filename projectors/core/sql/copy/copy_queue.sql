COPY {into} (user_id, queue_id, status, position, queued_at, entry) FROM STDIN;
