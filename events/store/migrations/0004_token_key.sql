-- The key that signs tokens. All services share the key, so each reads the tokens of the others. A version 4 UUID has
-- 122 random bits from the server's strong source, and two UUIDs make a key.
CREATE TABLE log.token_key (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    key bytea NOT NULL CHECK (octet_length(key) >= 32)
);
INSERT INTO log.token_key (key)
VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
REVOKE ALL ON log.token_key FROM PUBLIC;
