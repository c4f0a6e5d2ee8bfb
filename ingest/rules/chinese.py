"""The Chinese rules: the pattern table and the clauses its patterns are tried on."""

from __future__ import annotations

from ingest.rules import chinese_company, chinese_facts, chinese_work
from ingest.rules.chinese_grammar import clauses, expand
from ingest.rules.chinese_words import ATTRIBUTES
from ingest.rules.table import rules

__all__ = ["RULES", "clauses"]

RULES = rules(
    "chinese.txt",
    chinese_company.MAKES | chinese_facts.MAKES | chinese_work.MAKES,
    {"attributes": ATTRIBUTES},
    expand,
)
