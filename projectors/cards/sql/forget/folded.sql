-- True when a row of the user was made of one of these events.
SELECT (EXISTS (SELECT FROM cards WHERE user_id = %(user_id)s AND card_id = ANY (%(events)s::uuid[]))
    -- The words of a reference come from its last op, and the id of its card from its creation.
    OR EXISTS (SELECT FROM reference_cards WHERE user_id = %(user_id)s)
    OR EXISTS (SELECT FROM statements WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]))
    OR EXISTS (SELECT FROM remarks WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]))
    OR EXISTS (SELECT FROM tag_aliases WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]))
    OR EXISTS (SELECT FROM relations WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]))) AS folded;
