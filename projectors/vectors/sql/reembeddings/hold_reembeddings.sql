SELECT FROM reembeddings WHERE user_id = ANY (%(users)s::text[]) AND done_at IS NULL FOR UPDATE;
