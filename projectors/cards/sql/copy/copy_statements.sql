COPY {into} (user_id, identity, event_id, partition, position) FROM STDIN;
