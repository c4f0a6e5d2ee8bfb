"""The commands of people: note, alias, merge, split, distinct."""
