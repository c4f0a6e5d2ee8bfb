-- A page of one kind. The primary key of a kind has the order of the pages, so the page needs no sorting.
SELECT {columns}, {status} AS status
FROM {cards} c
WHERE c.kind = %(kind)s AND {slice}
  AND (%(before)s::uuid IS NULL OR c.card_id < %(before)s::uuid)
ORDER BY c.card_id DESC
LIMIT %(limit)s;
