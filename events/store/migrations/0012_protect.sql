-- Row-level security on the tables of users that later migrations made.
SELECT log.protect('sealing.subject_keys');
SELECT log.protect('sealing.salts');
SELECT log.protect('erasure.tombstones');
