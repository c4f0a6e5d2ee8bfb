COPY {into} (
    user_id, card_id, event_id, changed_at, old_value, new_value, old_content, reason
) FROM STDIN;
