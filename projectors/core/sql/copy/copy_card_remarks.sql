COPY {into} (user_id, target, partition, position) FROM STDIN;
