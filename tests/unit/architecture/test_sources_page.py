"""The tests that the page about the sources and the list of guards name exist."""

import re
from pathlib import Path

from tests.mutation.__main__ import guards, misfits

TESTS = Path(__file__).parents[2]
PAGE = (TESTS.parent / "docs" / "sources.md").read_text("utf-8")
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.splitlines()
    if line.startswith("| ") and not line.startswith("| requirement ")
]


def test_every_test_that_the_page_names_exists() -> None:
    named = re.findall(r"`([^`\s]+)::([^`\s]+)`", PAGE)
    assert len(named) > 100
    assert [
        f"{path}::{test}"
        for path, test in named
        if not (TESTS / path).is_file()
        or not re.search(rf"^(async )?def {test}\(", (TESTS / path).read_text("utf-8"), re.MULTILINE)
    ] == []


def test_every_row_has_a_state_and_one_that_works_has_a_test() -> None:
    assert len(ROWS) > 100
    for requirement, _, state, test in ROWS:
        assert state == "●" or re.match("[◐○] ", state), requirement
        assert "::" in test or state != "●", requirement


def test_every_guard_and_its_tests_exist() -> None:
    assert misfits(guards()) == []
