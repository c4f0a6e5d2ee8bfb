DELETE FROM blocked_slots WHERE slot = ANY (%(slots)s::text[]);
