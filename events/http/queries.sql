-- name: token_key
SELECT log.key_of_tokens(%(proof)s);
