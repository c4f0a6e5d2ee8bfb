"""The statements of ``ingest`` read the card tables through views only."""

import re
from pathlib import Path

import ingest
from events.platform.database import statement

FILES = sorted(Path(ingest.__path__[0]).rglob("*.sql"))
OF_CARDS = re.compile(r"""\b"?(?:cards|vectors)"?\s*\.\s*"?(\w+)""", re.IGNORECASE)


def test_statements_of_ingest_know_only_views_of_the_cards() -> None:
    texts = {path: re.sub(r"--[^\n]*", "", path.read_text("utf-8")) for path in FILES}
    assert texts, "ingest has statements"
    known = {(path, relation) for path, text in texts.items() for relation in OF_CARDS.findall(text)}
    views = set(
        re.findall(r"CREATE VIEW (\w+)", statement("projectors.cards", "tables_views").as_string(None))
    )
    assert views, "the card tables have views"
    assert {relation for _, relation in known} <= views, known


def test_modules_of_ingest_hold_no_statement_about_cards() -> None:
    """The contract on SQL files would not see a statement in a Python string."""
    wording = re.compile(r"\b(?:FROM|JOIN|INTO|UPDATE)\s+(?:cards|vectors)\.", re.IGNORECASE)
    found = [
        path for path in Path(ingest.__path__[0]).rglob("*.py") if wording.search(path.read_text("utf-8"))
    ]
    assert found == []
