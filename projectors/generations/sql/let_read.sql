SELECT log.let_read(%(schema)s);
