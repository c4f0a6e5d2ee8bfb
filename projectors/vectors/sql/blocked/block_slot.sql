INSERT INTO blocked_slots (slot, reason, since) VALUES (%(slot)s, %(reason)s, clock_timestamp())
ON CONFLICT (slot) DO UPDATE SET reason = excluded.reason WHERE blocked_slots.reason <> excluded.reason;
