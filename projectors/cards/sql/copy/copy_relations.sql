COPY {into} (
    user_id, from_card, to_card, predicate, implied, reason, confidence, event_id, created_at, actor, refused
) FROM STDIN;
