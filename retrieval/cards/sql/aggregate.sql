-- The axes asked for are all that is computed of the inner select.
SELECT {axes}, count(*) AS count, (sum(count(*)) OVER ())::bigint AS total
FROM (
    SELECT c.kind, c.project_id, c.context_layer, c.session_id, c.agent_id, c.document_id, c.speaker, c.mode,
           c.concept_key, c.entity, c.value, c.cardinality, c.provenance, c.episode, c.importance, c.sentiment,
           floor(c.confidence::numeric * 10) / 10 AS confidence, floor(c.weight::numeric * 10) / 10 AS weight,
           date_trunc(%(bucket)s, c.created_at, %(timezone)s) AS created_at,
           date_trunc(%(bucket)s, c.occurred_at, %(timezone)s) AS occurred_at,
           date_trunc(%(bucket)s, c.effective_at, %(timezone)s) AS effective_at,
           date_trunc(%(bucket)s, c.superseded_at, %(timezone)s) AS superseded_at,
           date_trunc(%(bucket)s, c.last_verified, %(timezone)s) AS last_verified,
           date_trunc(%(bucket)s, coalesce(c.occurred_at, c.effective_at), %(timezone)s) AS time,
           {status} AS status{lists}
    FROM {cards} c{joins}
    WHERE c.kind = ANY (%(kinds)s::text[]) AND {slice}
) slice
GROUP BY {axes}
ORDER BY {order}
LIMIT %(limit)s;
