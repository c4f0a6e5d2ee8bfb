-- Both values come from one snapshot, because an append moves the head together with its rows.
SELECT h.position, (SELECT max(e.position) FROM log.events e WHERE e.partition = h.partition)
FROM log.heads h WHERE h.partition = %(partition)s;
