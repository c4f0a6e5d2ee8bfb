DELETE FROM pending_vectors WHERE user_id = %(user_id)s
    AND (%(events)s::uuid[] IS NULL OR card_id = ANY (%(events)s::uuid[]));
