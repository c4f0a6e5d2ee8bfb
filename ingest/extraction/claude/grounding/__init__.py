"""Grounds the cards of a model in the words of the turns."""
