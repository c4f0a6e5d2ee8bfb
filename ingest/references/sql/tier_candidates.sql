-- The references whose use asks for another tier: much used ones that are not pinned, and ones that nobody touched.
SELECT o.user_id, o.kind, o.key, o.project_id, o.team_id, o.tier, o.updated_at,
       coalesce(used.recent, 0) AS recent, coalesce(used.days, 0) AS days,
       greatest(o.updated_at, coalesce(used.last_day + 1, 'epoch'::date)::timestamptz) AS touched_at
FROM "references".objects o
LEFT JOIN LATERAL (
    SELECT sum(u.uses) FILTER (WHERE u.day > %(today)s::date - %(pin_days)s::integer) AS recent,
           count(*) FILTER (WHERE u.day > %(today)s::date - %(pin_days)s::integer) AS days,
           max(u.day) AS last_day
    FROM log.reference_use u WHERE u.user_id = o.user_id AND u.stream = o.stream
) used ON true
WHERE NOT o.archived AND o.moved_to IS NULL
  AND (%(pin_uses)s::integer > 0 AND o.tier <> 'pinned' AND used.recent >= %(pin_uses)s AND used.days >= %(least_days)s
       OR %(archive_days)s::integer > 0 AND o.tier <> 'archive'
          AND greatest(o.updated_at, coalesce(used.last_day + 1, 'epoch'::date)::timestamptz)
              < %(today)s::date - %(archive_days)s::integer)
ORDER BY o.user_id, o.stream
LIMIT 1000;
