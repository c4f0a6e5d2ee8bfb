-- Which of these users wait already, and which events of these partitions an operator decided to go without.
SELECT ARRAY(SELECT DISTINCT p.user_id FROM log.parked p
             WHERE p.processor = %(processor)s AND p.generation = %(generation)s
               AND p.user_id = ANY (%(users)s::text[])),
       ARRAY(SELECT d.event_id FROM log.dropped d
             WHERE d.processor = %(processor)s AND d.partition = ANY (%(partitions)s::smallint[]));
