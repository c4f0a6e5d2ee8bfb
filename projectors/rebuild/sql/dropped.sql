-- Events that an operator dropped for this projection.
SELECT partition, position FROM log.dropped WHERE processor = %(projection)s;
