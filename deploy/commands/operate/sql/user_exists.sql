SELECT EXISTS (SELECT FROM log.events WHERE partition = %(partition)s::smallint AND user_id = %(user_id)s);
