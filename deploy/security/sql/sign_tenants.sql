INSERT INTO log.tenant_key (inner_pad, outer_pad) VALUES (%(inner)s, %(outer)s)
ON CONFLICT (singleton) DO UPDATE SET inner_pad = excluded.inner_pad, outer_pad = excluded.outer_pad
WHERE tenant_key.inner_pad <> excluded.inner_pad;
