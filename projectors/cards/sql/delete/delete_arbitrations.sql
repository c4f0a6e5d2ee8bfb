DELETE FROM arbitrations a
USING unnest(%(users)s::text[], %(arbitrations)s::uuid[]) AS gone(user_id, arbitration_id)
WHERE a.user_id = gone.user_id AND a.arbitration_id = gone.arbitration_id;
