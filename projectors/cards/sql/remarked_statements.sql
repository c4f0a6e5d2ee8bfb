SELECT s.user_id, s.identity
FROM unnest(%(users)s::text[], %(targets)s::uuid[]) AS remark(user_id, target)
JOIN statements s ON s.user_id = remark.user_id AND s.event_id = remark.target;
