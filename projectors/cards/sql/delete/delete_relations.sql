DELETE FROM relations r
USING unnest(%(users)s::text[], %(from_cards)s::uuid[], %(to_cards)s::uuid[], %(predicates)s::text[],
            %(implied)s::boolean[]) AS gone(user_id, from_card, to_card, predicate, implied)
WHERE r.user_id = gone.user_id AND r.from_card = gone.from_card AND r.to_card = gone.to_card
  AND r.predicate = gone.predicate AND r.implied = gone.implied;
