SELECT ordinal, partition, position, version, recorded_at, duplicate FROM log.append(%(batch)s::text::json);
