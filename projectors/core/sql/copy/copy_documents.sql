COPY {into} (user_id, version, position, document, marks, updated_at) FROM STDIN;
