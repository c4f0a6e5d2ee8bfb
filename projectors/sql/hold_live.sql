-- Shared, so that many runners fold at once while a swap waits for all of them and they for it.
SELECT generation FROM log.generations WHERE projection = %(projection)s AND status = 'live' FOR SHARE;
