-- The guards of a log in the given schema, each as text: functions, triggers, columns, constraints, indexes, policies.
SELECT 'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' AS name,
       CASE p.prokind
           WHEN 'a' THEN concat_ws(' ', a.aggtransfn::text, a.aggfinalfn::text, a.aggtranstype::regtype, a.agginitval,
                                   a.aggkind::text, a.aggmtransfn::text)
           ELSE pg_get_functiondef(p.oid) END AS definition
FROM pg_proc p LEFT JOIN pg_aggregate a ON a.aggfnoid = p.oid
WHERE p.pronamespace = %(schema)s::text::regnamespace
UNION ALL
SELECT 'trigger ' || t.tgname || ' on ' || c.relname, pg_get_triggerdef(t.oid) || ' enabled ' || t.tgenabled::text
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = %(schema)s::text::regnamespace AND NOT t.tgisinternal AND c.relname IN ('events', 'heads', 'entries', 'head')
UNION ALL
SELECT 'rule ' || r.rulename || ' on ' || c.relname, pg_get_ruledef(r.oid)
FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relkind IN ('r', 'p')
UNION ALL
SELECT 'column ' || c.relname || '.' || a.attname,
       concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation, a.attnotnull,
                 pg_get_expr(d.adbin, d.adrelid))
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname IN ('events', 'heads', 'entries', 'head') AND a.attnum > 0
  AND NOT a.attisdropped
UNION ALL
SELECT 'constraint ' || o.conname || ' on ' || c.relname, pg_get_constraintdef(o.oid)
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname IN ('events', 'heads', 'entries', 'head')
UNION ALL
SELECT 'index ' || i.relname, pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ' invalid' END
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname IN ('events', 'entries')
UNION ALL
SELECT 'policy ' || p.policyname || ' on ' || p.tablename,
       concat_ws(' ', p.permissive, p.roles::text, p.cmd, p.qual, p.with_check)
FROM pg_policies p WHERE p.schemaname = %(schema)s::text
UNION ALL
SELECT 'row security of ' || c.relname, concat_ws(' ', c.relrowsecurity, c.relforcerowsecurity)
FROM pg_class c
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname IN ('events', 'parked', 'dropped');
