-- name: own_lists
-- A user's own references of a kind. The caller reads each one's present value from the log.
SELECT o.user_id, o.stream, o.reference_id, o.kind, o.key, o.project_id, o.team_id, o.version, o.data::text AS data,
       o.rendering, o.tier, o.tier_reason, o.archived, o.moved_to, o.created_at, o.updated_at, o.actor, o.partition,
       o.position
FROM "references".objects o
WHERE o.user_id = %(user_id)s AND o.kind = %(kind)s
ORDER BY o.stream
LIMIT 200;

-- name: proposal
SELECT kind, key, project_id, team_id, op, confidence, quote, turn_ids, status
FROM "references".proposals
WHERE user_id = %(user_id)s AND proposal_id = %(proposal_id)s;

-- name: retractable_cards
-- The current states of a user that have one of the concepts, or share a term.
SELECT card_id, content, concept_key, cardinality, term_keys[1:own_terms] AS terms
FROM cards.retractable_cards
WHERE user_id = %(user_id)s AND kind = 'state' AND project_id = %(project_id)s AND NOT gone
  AND effective_at <= %(at)s AND (superseded_at IS NULL OR superseded_at > %(at)s)
  AND (concept_key = ANY (%(concepts)s::text[]) OR term_keys && %(keys)s::integer[])
ORDER BY last_verified DESC, card_id
LIMIT 200;

-- name: retracted_card
SELECT concept_key, value, turn_ids FROM cards.retractable_cards
WHERE user_id = %(user_id)s AND kind = 'state' AND card_id = %(card_id)s AND NOT retracted;

-- name: retracted_events
-- The events that are the cards of turns: the episodes, and what was noted.
SELECT {event e}
FROM cards.retractable_cards c JOIN log.events e ON e.partition = %(partition)s AND e.position = c.position
WHERE c.user_id = %(user_id)s AND c.kind = 'event' AND c.turn_ids && %(turn_ids)s::text[];

-- name: retracted_statements
-- The events that state the fact of a card.
SELECT {event e}
FROM cards.retractable_statements s
JOIN log.events e ON e.partition = s.partition AND e.position = s.position
WHERE s.user_id = %(user_id)s AND s.card_id = %(card_id)s;

-- name: tier_candidates
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

-- name: forget_old_use
DELETE FROM log.reference_use WHERE day < %(today)s::date - greatest(%(pin_days)s, %(archive_days)s, 1) - 1;

-- name: tier_lock
-- One process reviews the tiers at a time. The others leave it to that process.
SELECT pg_try_advisory_xact_lock(7310868735423997541);
