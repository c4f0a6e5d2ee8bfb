-- Events the projection shall go without, by decision.
SELECT partition, position FROM log.dropped WHERE processor = %(projection)s;
