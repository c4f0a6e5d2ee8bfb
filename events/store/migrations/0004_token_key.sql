-- What tokens are signed with, so that every service reads those of every other and nobody can invent one. A version 4
-- UUID has 122 random bits from the server's strong source; two of them make a key.
CREATE TABLE log.token_key (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    key bytea NOT NULL CHECK (octet_length(key) >= 32)
);
INSERT INTO log.token_key (key)
VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
REVOKE ALL ON log.token_key FROM PUBLIC;
