SELECT wanted.name, available.name IS NOT NULL, available.installed_version IS NOT NULL
FROM unnest(%(names)s::text[]) AS wanted(name)
LEFT JOIN pg_available_extensions available ON available.name = wanted.name;
