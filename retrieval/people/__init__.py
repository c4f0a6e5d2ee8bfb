"""Reads of people: the list, one person, the cards that name a person."""
