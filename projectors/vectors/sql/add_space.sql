INSERT INTO spaces (slot, name, fingerprint) VALUES (%(slot)s, %(name)s, %(fingerprint)s) ON CONFLICT DO NOTHING;
