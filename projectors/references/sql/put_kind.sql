INSERT INTO kinds (user_id, kind, description, schema, initial, declared_at)
VALUES (%(user_id)s, %(kind)s, %(description)s, %(schema)s, %(initial)s, %(at)s)
ON CONFLICT (user_id, kind) DO UPDATE SET description = excluded.description, schema = excluded.schema,
    initial = excluded.initial, declared_at = excluded.declared_at;
