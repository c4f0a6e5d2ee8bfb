DELETE FROM log.parked
WHERE processor = %(processor)s AND generation = %(generation)s AND user_id = %(user_id)s
  AND partition = %(partition)s AND position <= %(position)s;
