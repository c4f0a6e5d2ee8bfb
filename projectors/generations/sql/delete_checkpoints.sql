-- What was parked with this generation's checkpoints goes with them.
DELETE FROM log.checkpoints WHERE processor = %(projection)s AND generation = %(generation)s;
