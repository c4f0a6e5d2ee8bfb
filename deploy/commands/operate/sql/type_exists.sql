SELECT EXISTS (SELECT FROM log.events WHERE type = %(type)s);
