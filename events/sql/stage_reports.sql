SELECT stage, worker, state, detail, changed_at, seen_at FROM log.stages ORDER BY stage, worker;
