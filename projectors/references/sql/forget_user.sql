-- The counts of reads are no part of the fold, and they go with their user.
WITH objects AS (DELETE FROM objects WHERE user_id = %(user_id)s),
     proposals AS (DELETE FROM proposals WHERE user_id = %(user_id)s),
     members AS (DELETE FROM members WHERE user_id = %(user_id)s OR member = %(user_id)s),
     kinds AS (DELETE FROM kinds WHERE user_id = %(user_id)s)
DELETE FROM log.reference_use WHERE user_id = %(user_id)s;
