SELECT slot FROM unnest(%(slots)s::text[]) AS blocked(slot)
WHERE EXISTS (SELECT FROM pending_vectors p WHERE p.waits_for = blocked.slot AND p.failure IS NULL);
