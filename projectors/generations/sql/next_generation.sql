SELECT coalesce(max(generation), 0) + 1 FROM log.generations WHERE projection = %(projection)s;
