-- One kind at a time: its key is in the order of the pages, so a page is read from it without sorting.
SELECT {columns}, {status} AS status
FROM {cards} c
WHERE c.kind = %(kind)s AND {slice}
  AND (%(before)s::uuid IS NULL OR c.card_id < %(before)s::uuid)
ORDER BY c.card_id DESC
LIMIT %(limit)s;
