"""The Chinese rules: the pattern table and the clauses its patterns are tried on."""

from __future__ import annotations

from ingest.rules.chinese_facts import MAKES
from ingest.rules.chinese_grammar import clauses, expand
from ingest.rules.chinese_words import ATTRIBUTES
from ingest.rules.table import rules

__all__ = ["RULES", "clauses"]

RULES = rules("chinese.txt", MAKES, {"attributes": ATTRIBUTES}, expand)
