SELECT has_table_privilege('log.blueprints', 'INSERT');
