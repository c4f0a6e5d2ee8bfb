-- name: ready
-- Fails when the tables are missing, and reads no row.
SELECT FROM cards.cards WHERE false;

-- name: usage
-- What models cost, summed by the wanted groups. NULL leaves the users out of the condition.
-- A value that is no count is ignored. Without this check, one bad payload would fail the query.
SELECT CASE WHEN %(by_day)s THEN (e.recorded_at AT TIME ZONE 'UTC')::date END AS day,
       CASE WHEN %(by_operation)s THEN e.type END AS event_type,
       CASE WHEN %(by_user)s THEN e.user_id END AS user_id,
       coalesce(sum(told.count) FILTER (WHERE spent.name = 'calls'), 0)::bigint AS calls,
       coalesce(sum(told.count) FILTER (WHERE spent.name = 'input_tokens'), 0)::bigint AS input_tokens,
       coalesce(sum(told.count) FILTER (WHERE spent.name = 'output_tokens'), 0)::bigint AS output_tokens,
       coalesce(sum(told.count) FILTER (WHERE spent.name = 'cache_read_tokens'), 0)::bigint AS cache_read_tokens,
       coalesce(sum(told.count) FILTER (WHERE spent.name = 'cache_write_tokens'), 0)::bigint AS cache_write_tokens,
       coalesce(sum(told.price), 0)::float8 AS cost_usd,
       count(*) FILTER (WHERE spent.name = 'cost_usd' AND spent.value IS NULL) AS unpriced
FROM log.events e
CROSS JOIN LATERAL json_each_text(
    CASE WHEN strpos(e.data::text, '\u0000') = 0 AND json_typeof(e.data->'usage') = 'object' THEN e.data->'usage' END
) AS spent(name, value)
CROSS JOIN LATERAL (
    SELECT CASE WHEN spent.name <> 'cost_usd' AND spent.value ~ '^[0-9]{1,12}$' THEN spent.value::bigint END AS count,
           CASE WHEN spent.name = 'cost_usd' AND spent.value ~ '^[0-9]{1,9}([.][0-9]{1,20})?([eE]-[0-9]{1,2})?$'
                THEN spent.value::float8 END AS price
) told
WHERE e.type IN ('TurnsExtracted', 'ExtractionFailed', 'CuratorRan')
  AND e.recorded_at >= %(since)s AND e.recorded_at < %(until)s
  AND log.tenant_of(e.user_id) = %(tenant)s
  AND (%(users)s::text[] IS NULL OR e.user_id = ANY (%(users)s::text[]))
GROUP BY 1, 2, 3
HAVING sum(told.count) FILTER (WHERE spent.name <> 'latency_ms') > 0
ORDER BY day DESC NULLS LAST, cost_usd DESC, calls DESC, event_type, user_id
LIMIT %(limit)s;

-- name: operations
-- What operators of a tenant asked for, the last first. NULL leaves the users out of the condition.
SELECT operation_id, user_id, action, projection, generation, verify, because, requested_by, requested_at, stage,
       share::float8 AS share, failed, outcome, done_at
FROM log.operations
WHERE log.tenant_of(user_id) = %(tenant)s AND (%(users)s::text[] IS NULL OR user_id = ANY (%(users)s::text[]))
ORDER BY requested_at DESC, operation_id
LIMIT %(limit)s;
