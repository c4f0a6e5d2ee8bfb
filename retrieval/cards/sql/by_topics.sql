 LEFT JOIN LATERAL unnest(c.topics) AS by_topics(topics) ON true
