SELECT log.drop_tables(%(schema)s);
