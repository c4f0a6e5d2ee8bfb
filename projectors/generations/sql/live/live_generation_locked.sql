-- The row is read after the lock is held, so it stays true until the transaction ends.
SELECT generation FROM log.generations WHERE projection = %(projection)s AND status = 'live';
