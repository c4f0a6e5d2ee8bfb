-- name: see
-- Both settings hold for the session.
SELECT set_config('cardlog.tenant', %s, false), set_config('plan_cache_mode', %s, false);

-- name: session
-- Every query of the read service reads few rows of one user through an index, and takes milliseconds. The statistics
-- of fresh tables can mislead the planner, so sequential scans, parallel workers and JIT are off: they only cost time.
-- statement_timeout ends a query whose caller is gone and whose cancel was lost.
SELECT set_config('enable_seqscan', 'off', false), set_config('max_parallel_workers_per_gather', '0', false),
       set_config('jit', 'off', false), set_config('default_transaction_read_only', 'on', false),
       -- A generic plan would read all cards of a user who has very many cards.
       set_config('plan_cache_mode', 'force_custom_plan', false), set_config('statement_timeout', '5s', false),
       -- The vector index holds the vectors of all users. The iterative scan continues until it has enough of one user.
       set_config('hnsw.iterative_scan', 'relaxed_order', false), set_config('hnsw.ef_search', '200', false);
