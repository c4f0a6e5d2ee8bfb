DELETE FROM log.generations WHERE projection = %(projection)s AND generation = %(generation)s;
