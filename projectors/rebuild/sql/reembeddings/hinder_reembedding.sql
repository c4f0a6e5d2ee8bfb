UPDATE log.reembeddings SET hindrance = %(hindrance)s
WHERE reembedding_id = %(reembedding_id)s AND done_at IS NULL AND hindrance IS DISTINCT FROM %(hindrance)s;
