"""Labels: lines of fields that come again and again, and what they add to the line that they label."""

from __future__ import annotations

from uuid import UUID

import pytest

from projectors.cards.card import StoredCard
from retrieval.query.question import understand
from retrieval.recall.ranking.labels import Line, adds_a_word, fields_of, labelled, possible_labels
from tests.support.cards import NOW, card


def lines(*texts: str) -> list[StoredCard]:
    return [
        card(card_id=UUID(int=n), kind="event", content=text, episode=True, occurred_at=NOW)
        for n, text in enumerate(texts)
    ]


@pytest.mark.parametrize(
    ("text", "fields"),
    [
        ("Area: garden. Entry: G7.", ("area", "entry")),
        ("Area: garden | Entry: G7", ("area", "entry")),
        ("區域：花園。編號：七", ("區域", "編號")),
        ("Area: garden", ()),
        ("Area: garden. We dug a pond.", ()),
        ("She said: dig a pond. It rained.", ()),
        ("", ()),
        ("a: b. " * 200, ()),
    ],
)
def test_a_line_of_fields_has_their_names_and_any_other_text_has_none(
    text: str, fields: tuple[str, ...]
) -> None:
    assert fields_of(text) == fields


def test_a_line_of_fields_may_be_a_label_unless_a_field_is_asked_for() -> None:
    told = lines("Area: garden. Entry no: 1.", "We dug a pond in the garden")
    assert possible_labels(told, understand("What did we do in the garden?", NOW)) == [UUID(int=0)]
    assert possible_labels(told, understand("What is the entry no of the garden?", NOW)) == []


def test_a_label_stands_below_its_line_or_above_it_where_the_session_begins_with_a_label() -> None:
    label, again = "Area: garden. Entry: 2.", "Area: roof. Entry: 1."
    around = [
        Line(UUID(int=1), "We dug a pond", above=True),
        Line(UUID(int=2), "Two tiles were loose", above=False),
        Line(UUID(int=3), again, above=True),
    ]
    assert labelled(label, "Monday", around) == UUID(int=1)
    assert labelled(label, again, around) == UUID(int=2)
    assert labelled(label, "Monday", around[1:]) is None
    assert labelled(label, "Monday", around[:2]) is None


@pytest.mark.parametrize(
    ("question", "adds"),
    [
        ("What happened with the gardens?", True),
        ("Which horticulture work was done?", True),
        ("Who dug the pond?", False),
        ("Who dug the garden pond?", True),
        ("花園裡挖了什麼？", True),
    ],
)
def test_a_label_adds_what_its_line_does_not_say(question: str, adds: bool) -> None:
    label, line = lines("Area: garden 花園. Section: horti.", "Dana dug a pond")
    assert adds_a_word(label, line, understand(question, NOW)) is adds
