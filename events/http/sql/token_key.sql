SELECT key FROM log.token_key;
