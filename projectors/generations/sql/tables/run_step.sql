SELECT log.run_step(coalesce(%(schema)s::text, current_schema()), %(kind)s, %(number)s);
