TRUNCATE {staged};
