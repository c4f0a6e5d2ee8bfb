-- One process reviews the tiers at a time. The others leave it to that process.
SELECT pg_try_advisory_xact_lock(7310868735423997541);
