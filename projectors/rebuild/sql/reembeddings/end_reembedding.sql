UPDATE log.reembeddings SET share = 1, cards = %(cards)s, hindrance = NULL, done_at = now()
WHERE reembedding_id = %(reembedding_id)s AND done_at IS NULL;
