"""The Chinese rules: the pattern table and the clauses its patterns are tried on."""

from __future__ import annotations

from ingest.extraction.rules.chinese import changes, facts, identity, relationships, replies
from ingest.extraction.rules.chinese import work as chinese_work
from ingest.extraction.rules.chinese.grammar import clauses, expand
from ingest.extraction.rules.chinese.words import ATTRIBUTES
from ingest.extraction.rules.table import rules

__all__ = ["RULES", "clauses"]

RULES = rules(
    "chinese/patterns.txt",
    relationships.MAKES | facts.MAKES | replies.MAKES | identity.MAKES | chinese_work.MAKES | changes.MAKES,
    {"attributes": ATTRIBUTES},
    expand,
)
