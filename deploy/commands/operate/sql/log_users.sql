SELECT count(*) FROM (SELECT DISTINCT partition, user_id FROM log.events) u;
