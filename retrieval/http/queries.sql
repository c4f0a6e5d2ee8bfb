-- name: ready
-- Fails when the tables are missing, and reads no row.
SELECT FROM cards.cards WHERE false;
