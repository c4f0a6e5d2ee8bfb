SELECT (SELECT count(*) FROM log.parked), (SELECT sum(position)::bigint FROM log.heads);
