SELECT pg_sleep(%(seconds)s);
