COPY {into} (
    user_id, arbitration_id, project_id, entity, concept_key, old_card, new_card, old_value, new_value, reason,
    evidence, status, opened_at, settled_at, position
) FROM STDIN;
