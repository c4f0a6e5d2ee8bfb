"""Verbs that ask the memory: recall, context, when, concepts, arbitrations."""
