-- A run that begins anew soon reaches its earlier share again, because the cache has the vectors.
UPDATE log.reembeddings SET share = greatest(share, %(share)s), hindrance = NULL
WHERE reembedding_id = %(reembedding_id)s AND done_at IS NULL;
