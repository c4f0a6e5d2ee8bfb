INSERT INTO {into} ({columns}) SELECT {columns} FROM {staged};
