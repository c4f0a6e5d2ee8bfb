ANALYZE objects, proposals, members, kinds;
