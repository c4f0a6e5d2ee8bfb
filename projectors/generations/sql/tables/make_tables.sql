SELECT log.make_tables(%(schema)s);
