-- What reading a user's turns has cost since an instant, as the log has it.
SELECT coalesce(sum((e.data#>>'{usage,input_tokens}')::bigint + (e.data#>>'{usage,output_tokens}')::bigint
                    + (e.data#>>'{usage,cache_read_tokens}')::bigint
                    + (e.data#>>'{usage,cache_write_tokens}')::bigint), 0)::bigint
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.recorded_at >= %(since)s
  AND e.type IN ('TurnsExtracted', 'ExtractionFailed') AND e.data->'usage' IS NOT NULL;
