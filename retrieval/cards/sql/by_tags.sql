 LEFT JOIN LATERAL unnest(c.tags) AS by_tags(tags) ON true
