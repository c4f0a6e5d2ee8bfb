-- Whoever has no card left looks like somebody who never had one.
DELETE FROM card_counts WHERE user_id = ANY (%(users)s::text[]) AND cards = 0;
