-- Does the log know the user, and does it hold an event of this id? One partition never holds an id twice.
SELECT EXISTS (SELECT FROM log.events WHERE partition = %(partition)s AND user_id = %(user_id)s),
       EXISTS (SELECT FROM log.events WHERE event_id = %(event_id)s::uuid);
