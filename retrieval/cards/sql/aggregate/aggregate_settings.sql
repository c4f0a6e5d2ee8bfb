-- The planner expects few rows in a slice and would sort them. Hashing is faster for a million rows.
SELECT set_config('enable_sort', 'off', true), set_config('work_mem', '64MB', true);
