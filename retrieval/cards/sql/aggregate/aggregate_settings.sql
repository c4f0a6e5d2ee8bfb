-- The planner takes a slice for a handful of rows and would sort them; groups of a million are found by hashing.
SELECT set_config('enable_sort', 'off', true), set_config('work_mem', '64MB', true);
