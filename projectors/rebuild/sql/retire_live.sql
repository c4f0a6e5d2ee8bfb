UPDATE log.generations SET status = 'retired' WHERE projection = %(projection)s AND status = 'live'
RETURNING generation;
