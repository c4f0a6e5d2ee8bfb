COPY {into} (digest, partition, position, event_id, user_id, stream, version, type, schema_version, occurred_at,
                 recorded_at, actor, data, dedupe_key, causation_id, correlation_id, mac) FROM STDIN;
