SELECT digest FROM audit.entries WHERE position = %(position)s;
