-- A turn that was given up counts until its reextraction. The event of the reextraction has its id in the dedupe key.
SELECT (SELECT sum(position)::bigint FROM log.heads),
       (SELECT count(*) FROM log.events f
        WHERE f.type = 'ExtractionFailed' AND NOT EXISTS (
            SELECT FROM log.events r
            WHERE r.partition = f.partition AND r.user_id = f.user_id
              AND r.dedupe_key >= 'reading/' || f.event_id || '/' AND r.dedupe_key < 'reading/' || f.event_id || '0'));
