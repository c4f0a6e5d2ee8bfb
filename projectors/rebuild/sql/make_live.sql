UPDATE log.generations SET status = 'live', live_at = clock_timestamp()
WHERE projection = %(projection)s AND generation = %(generation)s;
