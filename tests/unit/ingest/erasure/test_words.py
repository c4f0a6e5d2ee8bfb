"""An erasure looks into every text of every event type that is no identifier."""

import dataclasses
import types
from collections.abc import Iterator
from typing import Any, Union, get_args, get_origin, get_type_hints
from uuid import UUID

from events.types import codec
from events.types.cards import EventNoted
from events.types.references import ReferenceChanged, ReferenceName
from ingest.erasure.names import IDENTIFIERS, words_of
from tests.support.projectors.folding import NOW, ORIGIN


def holds_text(hint: Any) -> bool:
    """True when a value of the type may hold a text that is not one of a closed set."""
    if hint in (str, Any):
        return True
    return get_origin(hint) in (tuple, dict, list, Union, types.UnionType) and any(
        map(holds_text, get_args(hint))
    )


def parts_of(cls: type) -> Iterator[type]:
    """Yields a dataclass and every dataclass within its fields."""
    yield cls
    for hint in get_type_hints(cls).values():
        yield from _within(hint)


def _within(hint: Any) -> Iterator[type]:
    if dataclasses.is_dataclass(hint) and isinstance(hint, type):
        yield from parts_of(hint)
    for each in get_args(hint):
        yield from _within(each)


def texts_of_all_types() -> dict[type, set[str]]:
    codec.known_types()
    # Other tests declare event types of their own in the same process.
    own = [cls for cls in codec._BY_CLASS if not cls.__module__.startswith("tests.")]
    parts = {part for cls in own for part in parts_of(cls)}
    return {part: {name for name, hint in get_type_hints(part).items() if holds_text(hint)} for part in parts}


def test_every_identifier_is_a_text_of_an_event_type() -> None:
    texts = texts_of_all_types()
    assert {
        part: set(names) - texts[part] for part, names in IDENTIFIERS.items() if set(names) - texts[part]
    } == {}


def test_words_are_found_at_any_depth_and_identifiers_are_left_out() -> None:
    origin = dataclasses.replace(ORIGIN, session_id="Quillwort", metadata='{"with": "Zyxelia"}')
    changed = ReferenceChanged(
        reference_id=UUID(int=1),
        name=ReferenceName(kind="Quillwort", key="gifts"),
        op={"op": "set", "value": {"Orla": ["Bram"]}},
        data={"list": [{"text": "Cleo"}]},
        rendering="gifts: Cleo",
        tier="session",
        turn_ids=("Quillwort",),
    )
    noted = EventNoted(content="a walk", entity="Bea", tags=(), origin=origin, occurred_at=NOW)
    found = " ".join([*words_of(changed), *words_of(noted)])
    assert "Quillwort" not in found
    for name in ("Orla", "Bram", "Cleo", "Bea", "Zyxelia"):
        assert name in found
