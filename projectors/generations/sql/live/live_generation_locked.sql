-- Read after the lock was won, so what it says holds until the transaction ends.
SELECT generation FROM log.generations WHERE projection = %(projection)s AND status = 'live';
