SELECT log.rename_tables(%(old)s, %(new)s);
