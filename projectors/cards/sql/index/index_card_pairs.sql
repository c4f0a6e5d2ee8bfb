-- See index_card_terms.sql.
SET LOCAL maintenance_work_mem = '16MB';
SET LOCAL max_parallel_maintenance_workers = 0;
CREATE INDEX cards_pair_keys ON cards USING gin (pair_keys) WITH (gin_pending_list_limit = 64);
