"""Words name people by name and tie, and only words that say so link two of them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.people.mentions import Link, Mention, read
from tests.support.tables import rows

_MARKS = {"stated": "=", "identity": "=", "apart": "#"}


def _mention(each: Mention) -> str:
    return each.handle + ("" if each.certain else "?") + (">" if each.role == "quoted" else "")


def _link(each: Link) -> str:
    return f"{each.one}{_MARKS[each.kind]}{each.other}"


@pytest.mark.parametrize("row", rows(__file__, "people.txt"), ids=lambda row: row[0])
def test_words_name_people(row: list[str]) -> None:
    said, people, links = [*row, "", ""][:3]
    found = read(said)
    assert " ".join(map(_mention, found.mentions)) == people.strip()
    assert " ".join(map(_link, found.links)) == links.strip()


def test_the_words_before_tell_whom_a_name_means() -> None:
    assert read("Noor is late", before="My sister Noor called").mentions[0].handle == "noor|sister"


@given(st.one_of(st.text(), st.text("Aa '.我姐叫 mysister", max_size=80)))
def test_any_text_is_read(text: str) -> None:
    found = read(text)
    assert all(len(each.handle) < 300 for each in found.mentions)
