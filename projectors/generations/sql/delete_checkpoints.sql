-- The foreign key deletes the parked events of this generation too.
DELETE FROM log.checkpoints WHERE processor = %(projection)s AND generation = %(generation)s;
