-- Folds the log of all tenants into tables that belong to the owner of the log. It appends nothing.
GRANT TEMPORARY ON DATABASE {database} TO {role};
GRANT EXECUTE ON FUNCTION log.may_see_every_tenant(), log.run_step(text, text, integer), log.make_tables(text),
    log.protect_tables(text), log.rename_tables(text, text), log.drop_tables(text) TO {role};
GRANT SELECT ON log.events, sealing.subject_keys, sealing.salts TO {role};
GRANT SELECT, UPDATE ON log.reembeddings TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE
    ON log.checkpoints, log.generations, log.parked, log.dropped, log.heartbeats, log.reference_use TO {role};
GRANT {projectors} TO {role};
