"""Verbs that read the memory: recall, context, when, concepts, arbitrations."""
