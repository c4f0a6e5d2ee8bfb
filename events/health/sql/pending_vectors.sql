-- Cards of the live generation that wait for their vector, and those that cannot have one.
SELECT count(*) FILTER (WHERE failure IS NULL),
       extract(epoch FROM clock_timestamp() - min(recorded_at) FILTER (WHERE failure IS NULL))::float8,
       count(failure), max(failure)
FROM vectors.pending_vectors;
