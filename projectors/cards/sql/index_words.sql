CREATE INDEX words_gram_keys ON words USING gin (gram_keys);
