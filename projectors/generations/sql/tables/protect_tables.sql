SELECT log.protect_tables(%(schema)s);
