-- In the order of the fields of StoredCard.
COPY {into} (
    card_id, kind, content, entity, concept_key, value, cardinality, tags, occurred_at, occurred_until, effective_at,
    superseded_at, last_verified, created_at, said_at, project_id, session_id, agent_id, document_id, context_layer,
    speaker, turn_ids, source_span, metadata, provenance, confidence, weight, mentions, mode, retracted, contested, ended,
    episode, topics, importance, sentiment, title, aliases, definition, time_zone, time_grain, time_resolved,
    alternative_at, event_status, stated_status, participants, value_at, value_until, value_grain, user_id, position, caused_by,
    name_keys, related_keys, term_keys, own_terms, pair_keys
) FROM STDIN;
