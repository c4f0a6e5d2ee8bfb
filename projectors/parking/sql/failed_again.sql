UPDATE log.parked SET reason = %(reason)s, attempts = attempts + 1
WHERE processor = %(processor)s AND generation = %(generation)s AND user_id = %(user_id)s
  AND partition = %(partition)s AND position = %(position)s;
