SET LOCAL search_path = pg_catalog, public;
