-- The status of a card at the instant `at`. An event is superseded from when a later event replaced it. With `as_of`, an
-- event after that instant is in the future, unless its plan had been told by then. An edge stated by an actor counts
-- like an edge that a timeline implies.
CASE
    WHEN c.retracted OR c.card_id IN (
        SELECT r.to_card FROM {relations} r
        WHERE r.user_id = %(user_id)s AND NOT r.implied AND NOT r.refused AND r.predicate = 'retracts'
          AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz)) THEN 'retracted'
    WHEN c.contested THEN 'contested'
    WHEN CASE c.kind WHEN 'event' THEN %(as_of)s::timestamptz IS NOT NULL AND c.occurred_at > %(as_of)s::timestamptz
                                         AND (c.stated_status = 'happened' OR c.said_at > %(as_of)s::timestamptz)
                     ELSE c.effective_at > %(at)s::timestamptz END THEN 'future'
    WHEN c.superseded_at <= %(at)s::timestamptz THEN 'superseded'
    WHEN c.kind <> 'event' AND c.card_id IN (
        SELECT r.to_card FROM {relations} r
        JOIN cards.cards newer ON newer.user_id = r.user_id AND newer.card_id = r.from_card
                              AND newer.kind IN ('state', 'event', 'knowledge')
        WHERE r.user_id = %(user_id)s AND NOT r.implied AND NOT r.refused AND r.predicate IN ('update', 'state_change')
          AND NOT newer.retracted AND coalesce(newer.occurred_at, newer.effective_at) <= %(at)s::timestamptz
          AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz)) THEN 'superseded'
    ELSE 'current'
END
