SELECT e.position, e.event_id FROM log.events e
WHERE e.partition = %(partition)s AND e.position <= %(head)s AND e.type = %(type)s AND e.schema_version = %(version)s
  AND NOT EXISTS (SELECT FROM log.dropped d
                  WHERE d.processor = %(projection)s AND d.partition = e.partition AND d.position = e.position)
ORDER BY e.position LIMIT 1;
