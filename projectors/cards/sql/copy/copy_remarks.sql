COPY {into} (user_id, target, event_id, partition, position) FROM STDIN;
