"""Finds role play and fiction."""

from __future__ import annotations


def factual_length(text: str) -> int:
    return len(text)
