UPDATE log.heads SET position = %(position)s, digest = %(digest)s, recorded_at = %(recorded_at)s
WHERE partition = %(partition)s;
