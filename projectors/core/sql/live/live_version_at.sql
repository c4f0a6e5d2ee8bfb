-- The version in force at an instant.
SELECT coalesce(max(version), 0) AS version FROM core.changes WHERE user_id = %(user_id)s AND at <= %(as_of)s;
