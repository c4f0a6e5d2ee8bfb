SELECT generation FROM log.generations WHERE projection = %(projection)s AND status = 'live';
