-- What opens the sealed payloads at some places, as sealing.readable adds it: two lines in hexadecimal.
SELECT p.partition, p.position,
       concat(E'\n', (SELECT encode(s.salt, 'hex') FROM sealing.salts s
                      WHERE s.partition = p.partition AND s.position = p.position),
              E'\n', (SELECT encode(k.wrapped, 'hex') FROM sealing.subject_keys k WHERE k.user_id = p.user_id))
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[], %(users)s::text[]) AS p(partition, position, user_id);
