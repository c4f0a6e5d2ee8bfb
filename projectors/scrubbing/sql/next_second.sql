-- The server tells the time of a file in whole seconds, so the next second must begin first.
WITH next AS MATERIALIZED (SELECT date_trunc('second', clock_timestamp()) + interval '1 second' AS at)
SELECT next.at FROM next, pg_sleep(extract(epoch FROM next.at - clock_timestamp()) + 0.05);
