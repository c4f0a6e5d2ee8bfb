-- Takes the locks of an append, and appends nothing. The function sets a short timeout, and an erasure reads meanwhile.
SELECT count(*), set_config('idle_in_transaction_session_timeout', '60s', true)
FROM sealing.append('[]', ARRAY[%(partition)s]::smallint[], '{}', '', '{}', '{}', '{}');
