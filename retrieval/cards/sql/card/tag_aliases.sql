SELECT alias, tag FROM cards.tag_aliases WHERE user_id = %(user_id)s;
