-- One condition for each axis. A parameter that is NULL sets no condition.
c.user_id = %(user_id)s
AND (%(projects)s::text[] IS NULL OR c.project_id = ANY (%(projects)s::text[]))
AND (%(context_layer)s::text[] IS NULL OR c.context_layer = ANY (%(context_layer)s::text[]))
AND (%(session_id)s::text[] IS NULL OR c.session_id = ANY (%(session_id)s::text[]))
AND (%(agent_id)s::text[] IS NULL OR c.agent_id = ANY (%(agent_id)s::text[]))
AND (%(document_id)s::text[] IS NULL OR c.document_id = ANY (%(document_id)s::text[]))
AND (%(metadata)s::text IS NULL OR c.metadata::jsonb @> %(metadata)s::jsonb)
AND (%(speaker)s::text[] IS NULL OR c.speaker = ANY (%(speaker)s::text[]))
AND (%(mode)s::text[] IS NULL OR c.mode = ANY (%(mode)s::text[]))
AND (%(turn_id)s::text[] IS NULL OR c.turn_ids && %(turn_id)s::text[])
AND (%(concept_key)s::text[] IS NULL OR c.concept_key = ANY (%(concept_key)s::text[]))
AND (%(entity)s::text[] IS NULL OR c.entity = ANY (%(entity)s::text[]))
AND (%(value)s::text[] IS NULL OR lower(c.value) = ANY (%(value)s::text[]))
AND (%(cardinality)s::text IS NULL OR c.cardinality = %(cardinality)s::text)
AND (%(tag)s::text IS NULL OR (
        SELECT bool_and(lower(c.tags::text)::text[] && ARRAY(SELECT json_array_elements_text(meant.tags)))
        FROM json_array_elements(%(tag)s::text::json) AS meant(tags)))
AND (%(topic)s::text[] IS NULL OR c.topics && %(topic)s::text[])
AND (%(about)s::text[] IS NULL
     OR (c.term_keys && %(about_any)s::integer[]
         AND EXISTS (SELECT FROM unnest(%(about)s::text[]) AS name(keys)
                     WHERE c.term_keys[1:c.own_terms] @> name.keys::integer[])))
AND (%(provenance)s::text[] IS NULL OR c.provenance = ANY (%(provenance)s::text[]))
AND (%(min_confidence)s::float8 IS NULL OR c.confidence >= %(min_confidence)s::real)
AND (%(max_confidence)s::float8 IS NULL OR c.confidence <= %(max_confidence)s::real)
AND (%(min_weight)s::float8 IS NULL OR c.weight >= %(min_weight)s::real)
AND (%(episode)s::boolean IS NULL OR c.episode = %(episode)s::boolean)
AND (%(min_importance)s::integer IS NULL OR c.importance >= %(min_importance)s::integer)
AND (%(sentiment)s::text[] IS NULL OR c.sentiment = ANY (%(sentiment)s::text[]))
AND (%(created_from)s::timestamptz IS NULL OR c.created_at >= %(created_from)s::timestamptz)
AND (%(created_to)s::timestamptz IS NULL OR c.created_at < %(created_to)s::timestamptz)
AND (%(occurred_from)s::timestamptz IS NULL OR c.occurred_at >= %(occurred_from)s::timestamptz
     OR c.occurred_until > %(occurred_from)s::timestamptz)
AND (%(occurred_to)s::timestamptz IS NULL OR c.occurred_at < %(occurred_to)s::timestamptz)
AND (%(effective_from)s::timestamptz IS NULL OR c.effective_at >= %(effective_from)s::timestamptz)
AND (%(effective_to)s::timestamptz IS NULL OR c.effective_at < %(effective_to)s::timestamptz)
AND (%(superseded_from)s::timestamptz IS NULL OR c.superseded_at >= %(superseded_from)s::timestamptz)
AND (%(superseded_to)s::timestamptz IS NULL OR c.superseded_at < %(superseded_to)s::timestamptz)
AND (%(verified_from)s::timestamptz IS NULL OR c.last_verified >= %(verified_from)s::timestamptz)
AND (%(verified_to)s::timestamptz IS NULL OR c.last_verified < %(verified_to)s::timestamptz)
AND (%(predicate)s::text[] IS NULL AND %(related_to)s::uuid IS NULL
     OR c.card_id IN (
        SELECT side.card FROM {relations} r
        CROSS JOIN LATERAL (VALUES (r.from_card, r.to_card), (r.to_card, r.from_card)) AS side(card, other)
        WHERE r.user_id = %(user_id)s AND NOT r.refused
          AND (%(predicate)s::text[] IS NULL OR r.predicate = ANY (%(predicate)s::text[]))
          AND (%(related_to)s::uuid IS NULL OR side.other = %(related_to)s::uuid)
          AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz)))
AND (NOT %(collapse)s OR c.card_id <> ALL (%(duplicates)s::uuid[]))
AND (%(status)s::text[] IS NULL OR {status} = ANY (%(status)s::text[]))
