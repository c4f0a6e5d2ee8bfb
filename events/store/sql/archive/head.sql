SELECT position, digest FROM log.heads WHERE partition = %(partition)s;
