-- True when the role ignores row-level security, and true when searches under a policy may use their indexes.
SELECT r.rolsuper OR r.rolbypassrls,
       (SELECT bool_and(proleakproof) FROM pg_proc WHERE oid IN ('arrayoverlap'::regproc, 'arraycontains'::regproc))
FROM pg_roles r WHERE r.rolname = current_user;
