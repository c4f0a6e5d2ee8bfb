-- Links that sign a browser in once, for the key that `cardlog up` made. A row holds the SHA-256 of the code in a link, so the
-- rows alone open nothing. `cardlog log verify` runs every migration once more beside the tables, so existing ones stay.
CREATE TABLE IF NOT EXISTS access.sign_in_links (
    digest     bytea PRIMARY KEY CHECK (octet_length(digest) = 32),
    key_id     text NOT NULL REFERENCES access.api_keys,
    expires_at timestamptz NOT NULL
);
REVOKE ALL ON access.sign_in_links FROM PUBLIC;

-- The key of a link, which is used up by this call; null for an unknown, used or expired link.
CREATE OR REPLACE FUNCTION access.use_link(given bytea) RETURNS text
LANGUAGE sql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
    WITH used AS (DELETE FROM access.sign_in_links WHERE digest = given RETURNING key_id, expires_at)
    SELECT key_id FROM used WHERE expires_at > now();
$$;
REVOKE ALL ON FUNCTION access.use_link(bytea) FROM PUBLIC;
