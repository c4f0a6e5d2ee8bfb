COPY cards (
    user_id, kind, card_id, project_id, context_layer, created_at, occurred_at, occurred_until,
    effective_at, superseded_at, last_verified, said_at, session_id, agent_id, document_id, speaker, turn_ids,
    source_span, caused_by, concept_key, entity, value, cardinality, tags, confidence, weight, provenance,
    content, mentions, retracted, contested, ended, episode, topics, importance, sentiment, title, aliases,
    definition, name_keys, related_keys, position, mode, term_keys, own_terms, pair_keys
) FROM STDIN;
