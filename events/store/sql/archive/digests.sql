SELECT position, digest FROM log.events
WHERE partition = %(partition)s AND position BETWEEN %(first)s AND %(last)s
ORDER BY position;
