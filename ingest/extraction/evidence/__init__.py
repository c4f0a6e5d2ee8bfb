"""Checks that the words of turns bear out a card."""
