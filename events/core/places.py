"""Where a fact belongs in the document: the place of each registered concept key, and of all other facts.

The registry is ``places.json``. A place that ends with ``/-`` is a list. One that ends with ``/-/name`` is a list of
objects that the fact names.
"""

from collections.abc import Iterable
from functools import cache, lru_cache
from importlib.resources import files
from itertools import takewhile
from uuid import UUID

import orjson

from events.core.pointers import Tokens, join, split
from events.core.schema import DYNAMIC, UNCATEGORIZED
from events.language.concepts import canonical_key, normalise_entity

APPEND = "-"
BEGINNINGS: dict[Tokens, str] = {
    ("healthProfile", "conditions"): "since",
    ("healthProfile", "medications"): "startDate",
}
"""The member that tells when a fact began, by the list of the objects that have one."""
_NO_KEY = "fact"


@cache
def _places() -> dict[str, Tokens]:
    rows = orjson.loads(files("events.core").joinpath("places.json").read_bytes())
    return {key: split(pointer) for key, pointer in rows.items()}


def registered_place(key: str) -> Tokens | None:
    """Returns the place of a canonical concept key; None for an unregistered key."""
    return _places().get(key)


def place_of(entity: str, concept_key: str, card_id: UUID, *, single: bool) -> Tokens:
    """Returns the place of a fact. Facts of one identity have one place.

    Facts about others than the user are in a dynamic category of the other's name. A fact of an unknown key is in a
    dynamic category of the key. A fact without a key is uncategorized.
    """
    return _place(normalise_entity(entity), canonical_key(concept_key), single) or (
        UNCATEGORIZED,
        f"fact_{card_id.hex[-12:]}",
    )


@lru_cache(maxsize=4096)
def _place(entity: str, key: str, single: bool) -> Tokens | None:
    if entity == "user":
        if (registered := _places().get(key)) is not None:
            return registered
        if key == _NO_KEY:
            return None
        return (DYNAMIC, camel(key), "data", *(("value",) if single else ("values", APPEND)))
    return (DYNAMIC, entity, "data", camel(key), *(() if single else (APPEND,)))


def camel(key: str) -> str:
    """Returns a concept key as a member of the document: ``exercise_routine`` is ``exerciseRoutine``."""
    first, *others = key.split("_")
    return first + "".join(word[:1].upper() + word[1:] for word in others)


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
