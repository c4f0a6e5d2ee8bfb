DELETE FROM reembeddings WHERE user_id = %(user_id)s
    AND (%(events)s::uuid[] IS NULL OR event_id = ANY (%(events)s::uuid[]));
