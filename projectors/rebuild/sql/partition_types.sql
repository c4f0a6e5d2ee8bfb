-- The number of events of each type. Positions are unique, so a sum below the head means a hole.
SELECT type, schema_version, count(*) FROM log.events
WHERE partition = %(partition)s AND position <= %(head)s
GROUP BY type, schema_version ORDER BY type, schema_version;
