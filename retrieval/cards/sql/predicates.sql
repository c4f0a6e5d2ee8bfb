ARRAY(SELECT DISTINCT r.predicate FROM {relations} r
      WHERE r.user_id = c.user_id AND NOT r.refused AND (r.from_card = c.card_id OR r.to_card = c.card_id)
      ORDER BY r.predicate)
