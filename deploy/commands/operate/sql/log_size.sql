SELECT pg_table_size('log.events'), pg_indexes_size('log.events');
