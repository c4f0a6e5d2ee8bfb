"""The places of the core document that concepts touch, as JSON Pointers (RFC 6901). All functions are pure."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from itertools import takewhile

from events.core.places import APPEND, camel, registered_place
from events.core.pointers import join
from events.core.schema import DYNAMIC
from events.language.concepts import canonical_key


@lru_cache(maxsize=8192)
def pointer_of(concept_key: str) -> str:
    """Returns the place of a concept key. The place of a list item is that of its list."""
    key = canonical_key(concept_key)
    place = registered_place(key) or (DYNAMIC, camel(key))
    return join(takewhile(lambda token: token != APPEND, place))


def related_paths(concept_keys: Iterable[str]) -> tuple[str, ...]:
    """Returns the distinct places of concept keys, sorted."""
    return tuple(sorted({pointer_of(key) for key in concept_keys}))


def touches(path: str, asked: str) -> bool:
    """True when ``path`` is the asked place or lies below it. The index of a list item in ``asked`` does not count."""
    steps, wanted = path.split("/"), [step for step in asked.rstrip("/").split("/") if not step.isdigit()]
    return steps[: len(wanted)] == wanted
