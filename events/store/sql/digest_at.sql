SELECT digest FROM log.events WHERE partition = %(partition)s AND position = %(position)s;
