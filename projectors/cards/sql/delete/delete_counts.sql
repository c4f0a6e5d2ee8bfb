-- A user without cards has no row.
DELETE FROM card_counts WHERE user_id = ANY (%(users)s::text[]) AND cards = 0;
