-- Parked events count where they are missing: in the live generations.
SELECT (SELECT count(*) FROM log.parked p
        JOIN log.generations g ON g.projection = p.processor AND g.generation = p.generation AND g.status = 'live'),
       (SELECT sum(position)::bigint FROM log.heads);
