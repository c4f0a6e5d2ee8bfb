SELECT ordinal, partition, position, version, recorded_at, duplicate
FROM sealing.append(%(batch)s::text::json, %(partitions)s::smallint[], %(subjects)s::integer[], %(salts)s::bytea,
                    %(users)s::text[], %(wrapped)s::bytea[], %(fresh)s::boolean[]);
