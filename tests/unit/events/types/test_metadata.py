"""The metadata of a turn: one text for equal objects, and bounds."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.types.metadata import (
    MAX_BYTES,
    MAX_DEPTH,
    MAX_NUMBER,
    MetadataInvalidError,
    holds,
    metadata_of,
    metadata_text,
)
from events.types.turn_contract import TurnInvalidError, fields_of, parse_turn
from tests.support.tables import examples_and

WORDS = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers(-9, 9) | st.floats(-9, 9, width=16) | WORDS
VALUES = SCALARS | st.lists(SCALARS | st.lists(SCALARS, max_size=2), max_size=3)
OBJECTS = st.dictionaries(WORDS, VALUES | st.dictionaries(WORDS, SCALARS, max_size=3), max_size=4)


def nested(levels: int) -> object:
    return {"a": nested(levels - 1)} if levels > 1 else {"a": 1}


@given(OBJECTS)
def test_an_object_comes_back_and_contains_itself(given: dict[str, object]) -> None:
    text = metadata_text(given)
    assert (metadata_of(text) or {}) == given
    assert metadata_text(text) == text == metadata_text(dict(reversed(given.items())))
    assert holds(given, given)
    assert holds(given, dict(list(given.items())[:1]))
    assert not holds(given, {**given, "another key": 1})


@examples_and(
    ({"a": float("nan")}, "number"),
    ({"a": MAX_NUMBER + 2}, "number beyond"),
    ({"a": "x" * MAX_BYTES}, f"at most {MAX_BYTES}"),
    ('{"a": "' + "x" * 100_000 + '"}', f"at most {MAX_BYTES}"),
    (nested(MAX_DEPTH + 1), "levels"),
    ("[" * 3_000, "JSON"),
    ('{"a":' * 4_000, "JSON"),
)
def test_metadata_out_of_bounds_is_refused_with_the_remedy(wrong: object, why: str) -> None:
    with pytest.raises(MetadataInvalidError, match=why):
        metadata_text(wrong)


def test_the_edges_are_taken_and_empty_metadata_are_none() -> None:
    assert metadata_text(nested(MAX_DEPTH)) is not None
    assert metadata_text({"a": MAX_NUMBER, "b": -MAX_NUMBER}) is not None
    nothing: list[object] = [None, "", "  ", "{}", {}]
    assert [metadata_text(each) for each in nothing] == [None] * 5


def test_a_boolean_is_no_number_and_a_list_holds_its_items_in_any_order() -> None:
    assert not holds({"a": True}, {"a": 1})
    assert holds({"a": 1}, {"a": 1.0})
    assert holds({"a": [1, {"b": 2, "c": 3}]}, {"a": [{"c": 3}, 1]})
    assert not holds({"a": "b"}, {"a": ["b"]})


def test_the_queue_and_json_take_the_same_metadata() -> None:
    at = datetime(2026, 5, 8, tzinfo=UTC)
    several: list[dict[str, object] | None] = [{"b": 1, "a": "台北"}, {}, None]
    for metadata in several:
        fields = fields_of({"user_id": "u", "text": "x", "metadata": metadata})
        _, turn = parse_turn(fields, entry_time=at, entry_id="1-0")
        assert turn.metadata == metadata_text(metadata)
    with pytest.raises(TurnInvalidError, match="metadata: must be a JSON object"):
        fields_of({"user_id": "u", "text": "x", "metadata": "{}"})
    with pytest.raises(TurnInvalidError, match="metadata: is not valid JSON"):
        parse_turn({"user_id": "u", "text": "x", "metadata": "{"}, entry_time=at, entry_id="1-0")
