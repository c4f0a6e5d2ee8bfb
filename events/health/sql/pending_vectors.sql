-- Cards of the live generation that wait for their vector, and cards that cannot be embedded.
SELECT count(*) FILTER (WHERE failure IS NULL),
       extract(epoch FROM clock_timestamp() - min(recorded_at) FILTER (WHERE failure IS NULL))::float8,
       count(failure), max(failure)
FROM vectors.pending_vectors;
