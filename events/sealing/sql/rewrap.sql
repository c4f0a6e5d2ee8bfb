SELECT sealing.rewrap(%(users)s::text[], %(before)s::bytea[], %(after)s::bytea[]);
