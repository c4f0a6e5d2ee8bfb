-- The query groups twice. The first grouping uses the stored values and is fast. The second uses the values of the axes,
-- for far fewer rows. The first grouping puts instants into quarters of an hour, because the days of every time zone
-- begin at one. It groups lists as a whole.
WITH fine AS MATERIALIZED (
    SELECT {held}, count(*) AS count
    FROM (
        SELECT c.kind, c.project_id, c.context_layer, c.session_id, c.agent_id, c.document_id, c.speaker, c.mode,
               c.concept_key, c.entity, c.value, c.cardinality, c.provenance, c.episode, c.importance, c.sentiment,
               c.confidence, c.weight, c.tags, c.topics,
               date_bin('15 minutes', c.created_at, '2000-01-01Z') AS created_at,
               date_bin('15 minutes', c.occurred_at, '2000-01-01Z') AS occurred_at,
               date_bin('15 minutes', c.effective_at, '2000-01-01Z') AS effective_at,
               date_bin('15 minutes', c.superseded_at, '2000-01-01Z') AS superseded_at,
               date_bin('15 minutes', c.last_verified, '2000-01-01Z') AS last_verified,
               date_bin('15 minutes', coalesce(c.occurred_at, c.effective_at), '2000-01-01Z') AS time,
               {status} AS status, {predicates} AS predicate
        FROM {cards} c
        WHERE c.kind = ANY (%(kinds)s::text[]) AND {slice}
    ) slice
    GROUP BY {held}
)
SELECT {made}, sum(count)::bigint AS count, (sum(sum(count)) OVER ())::bigint AS total
FROM fine{lists}
GROUP BY {places}
ORDER BY {order}
LIMIT %(limit)s;
