COPY {into} (user_id, version, event_id, position, kind, ops, guards, at, actor, trust, source, confidence, rationale, turn_ids, others) FROM STDIN;
