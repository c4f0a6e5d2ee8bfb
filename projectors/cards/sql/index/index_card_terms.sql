-- Rows lie user by user, and so do the keys: what is gathered in memory is soon complete, and the less there is of
-- it the better it stays in the processor's cache (1M events, 2 cores, all three such indexes: 9.1 s with 16 MB,
-- 13.3 s with 256 MB). They are built side by side; helpers of their own would take each other's place (15.3 s).
SET LOCAL maintenance_work_mem = '16MB';
SET LOCAL max_parallel_maintenance_workers = 0;
-- Keys are hashed together with their user, so one user's posting lists never meet another's.
CREATE INDEX cards_term_keys ON cards USING gin (term_keys) WITH (gin_pending_list_limit = 64);
