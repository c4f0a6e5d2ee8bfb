INSERT INTO log.migrations (name) VALUES (%(name)s);
