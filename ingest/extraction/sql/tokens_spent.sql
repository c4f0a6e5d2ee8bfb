-- What reading a user's turns has cost since an instant, as the log has it. What is no count says nothing, and must not
-- keep anybody from being asked: one bad payload would.
SELECT coalesce(sum(CASE WHEN spent.tokens ~ '^[0-9]{1,15}$' THEN spent.tokens::bigint END), 0)
FROM log.events e
CROSS JOIN LATERAL json_each_text(
    CASE WHEN e.type IN ('TurnsExtracted', 'ExtractionFailed') AND strpos(e.data::text, '\u0000') = 0
         THEN CASE WHEN json_typeof(e.data->'usage') = 'object' THEN e.data->'usage' END
    END) AS spent(name, tokens)
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.recorded_at >= %(since)s
  AND e.type IN ('TurnsExtracted', 'ExtractionFailed')
  AND spent.name IN ('input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens');
