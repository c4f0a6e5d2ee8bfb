UPDATE cards c SET last_verified = verified.at
FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(instants)s::timestamptz[]) AS verified(user_id, card_id, at)
WHERE c.user_id = verified.user_id AND c.kind = 'event' AND c.card_id = verified.card_id
  AND c.last_verified < verified.at;
