-- The slots whose embedder fails now, with the reason and the remedy. Generations of an older build have no such table.
CREATE TABLE IF NOT EXISTS blocked_slots (slot text COLLATE "C" PRIMARY KEY, reason text NOT NULL, since timestamptz NOT NULL);
ALTER TABLE pending_vectors ADD COLUMN IF NOT EXISTS waits_for text COLLATE "C";
CREATE INDEX IF NOT EXISTS pending_vectors_blocked ON pending_vectors (waits_for) WHERE waits_for IS NOT NULL;
