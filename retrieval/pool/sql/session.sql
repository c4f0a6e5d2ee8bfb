-- Every query here reads one user's few rows through an index and is over in milliseconds. Whatever the statistics
-- say of fresh tables, a scan of all rows, workers to start or code to compile would only cost time. No query may
-- outlive its asker either: what a lost cancel leaves behind ends by itself.
SELECT set_config('enable_seqscan', 'off', false), set_config('max_parallel_workers_per_gather', '0', false),
       set_config('jit', 'off', false),
       -- A plan made for nobody in particular reads all the cards of whoever has very many.
       set_config('plan_cache_mode', 'force_custom_plan', false), set_config('statement_timeout', '5s', false),
       -- The index of vectors holds everybody's: it goes on until enough of this user's are found.
       set_config('hnsw.iterative_scan', 'relaxed_order', false), set_config('hnsw.ef_search', '200', false);
