INSERT INTO reembeddings (user_id, name, project_id, event_id, partition, position, requested_at)
VALUES (%(user_id)s, %(name)s, %(project_id)s, %(event_id)s, %(partition)s, %(position)s, %(at)s)
ON CONFLICT (user_id, name, project_id) DO UPDATE SET
    event_id = excluded.event_id, position = excluded.position, requested_at = excluded.requested_at,
    reached = 0, cards = 0, done_at = NULL
WHERE reembeddings.position < excluded.position;
