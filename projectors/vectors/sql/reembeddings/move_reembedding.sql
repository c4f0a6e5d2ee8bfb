UPDATE reembeddings SET reached = %(reached)s, cards = cards + %(cards)s
WHERE user_id = %(user_id)s AND name = %(name)s AND project_id = %(project_id)s;
