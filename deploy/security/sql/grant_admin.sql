-- Migrates, imports and repairs: a member of the owner of the log and of the folded tables.
GRANT CREATE, TEMPORARY ON DATABASE {database} TO {role};
GRANT {owner}, {readers}, {projectors} TO {role};
