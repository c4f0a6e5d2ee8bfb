-- What a partition holds, and whether it holds all of it: positions are unique, so a count tells of a hole.
SELECT type, schema_version, count(*) FROM log.events
WHERE partition = %(partition)s AND position <= %(head)s
GROUP BY type, schema_version ORDER BY type, schema_version;
