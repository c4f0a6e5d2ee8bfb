-- Both values come from one snapshot, because an append moves the head together with its rows.
SELECT h.position, (SELECT max(e.position) FROM audit.entries e) FROM audit.head h;
