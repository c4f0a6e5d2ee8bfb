SELECT (SELECT sum(position)::bigint FROM log.heads),
       (SELECT count(*) FROM log.events WHERE type = 'ExtractionFailed');
