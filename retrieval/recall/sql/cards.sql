SELECT card_id, kind, content, entity, concept_key, value, cardinality, tags, occurred_at, occurred_until, effective_at,
       superseded_at, last_verified, created_at, said_at, project_id, context_layer, session_id, agent_id, document_id,
       speaker, turn_ids, source_span, metadata, provenance, confidence, weight, mentions, mode, ended, episode, topics, importance,
       sentiment, title, aliases, definition, retracted, contested, time_zone, time_grain, time_resolved, alternative_at, event_status,
       stated_status, participants, value_at, value_until, value_grain
FROM cards.cards
WHERE user_id = %(user_id)s AND kind = ANY (ARRAY['state', 'event', 'knowledge', 'reference'])
  AND card_id = ANY (%(cards)s::uuid[]);
