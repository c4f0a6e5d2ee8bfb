-- Segments that were last written before: of before, or kept under a later name to be overwritten.
SELECT count(*)::integer FROM pg_ls_waldir() WHERE modification < %(since)s AND name ~ '^[0-9A-F]{24}$';
