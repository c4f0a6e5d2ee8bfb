SELECT to_regclass('audit.entries') IS NOT NULL;
