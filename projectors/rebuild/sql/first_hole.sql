SELECT coalesce(min(expected) FILTER (WHERE position <> expected), count(*) + 1)
FROM (SELECT position, row_number() OVER (ORDER BY position) AS expected
      FROM log.events WHERE partition = %(partition)s AND position <= %(head)s) numbered;
