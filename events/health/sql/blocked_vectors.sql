-- The slots whose embedder fails now, with the reason and the number of cards that wait for it.
SELECT b.slot, b.reason, waiting.cards FROM vectors.blocked_slots b
CROSS JOIN LATERAL (
    SELECT count(*) AS cards FROM vectors.pending_vectors p WHERE p.waits_for = b.slot AND p.failure IS NULL
) waiting
WHERE waiting.cards > 0
ORDER BY b.slot;
