INSERT INTO words (user_id, word, term_key, gram_keys)
SELECT user_id, word, term_key, gram_keys::integer[]
FROM unnest(%(users)s::text[], %(words)s::text[], %(keys)s::integer[], %(grams)s::text[])
     AS seen(user_id, word, term_key, gram_keys)
ON CONFLICT DO NOTHING;
