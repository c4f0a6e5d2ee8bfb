-- One snapshot while others append, and one notation for times.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL TimeZone = 'UTC';
