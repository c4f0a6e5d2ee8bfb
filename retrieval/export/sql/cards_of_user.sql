-- The cards of a user with their relations and their earlier values, without the search keys.
SELECT c.kind AS card_kind, c.card_id,
       to_jsonb(c) - 'user_id' - 'kind' - 'term_keys' - 'own_terms' - 'pair_keys' - 'name_keys' - 'related_keys'
           || jsonb_build_object('card_kind', c.kind) AS card,
       (SELECT coalesce(jsonb_agg(to_jsonb(r) - 'user_id' - 'from_card' ORDER BY r.to_card, r.predicate), '[]')
        FROM cards.relations r WHERE r.user_id = c.user_id AND r.from_card = c.card_id) AS relations,
       (SELECT coalesce(jsonb_agg(to_jsonb(u) - 'user_id' - 'card_id' ORDER BY u.changed_at), '[]')
        FROM cards.card_update_log u WHERE u.user_id = c.user_id AND u.card_id = c.card_id) AS changes
FROM cards.cards c
WHERE c.user_id = %(user_id)s AND (c.kind, c.card_id) > (%(kind)s::text, %(card_id)s::uuid)
ORDER BY c.kind, c.card_id
LIMIT %(limit)s;
