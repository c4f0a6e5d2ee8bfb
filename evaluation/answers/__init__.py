"""Measures the way from a conversation to an answer: conversations, recorded readings, questions and their keys."""
