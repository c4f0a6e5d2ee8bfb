INSERT INTO log.generations (projection, generation, status, live_at)
VALUES (%(projection)s, %(generation)s, %(status)s,
        CASE WHEN %(status)s::text = 'live' THEN clock_timestamp() END);
