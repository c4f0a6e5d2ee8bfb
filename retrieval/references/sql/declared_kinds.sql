SELECT kind, description, schema, initial, declared_at FROM "references".kinds WHERE user_id = %(owner)s ORDER BY kind;
