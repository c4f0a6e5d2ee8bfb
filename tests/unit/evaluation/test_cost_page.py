"""The page about the cost of a model tells of the prompts and price lines as they are now."""

from __future__ import annotations

from evaluation.cost_page import PAGE, page


def test_the_page_is_as_its_script_writes_it() -> None:
    assert PAGE.read_text("utf-8") == page(), "run: python -m evaluation.cost_page"
