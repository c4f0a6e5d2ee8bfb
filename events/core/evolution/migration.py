"""The operations of a promotion and of a reversion, made of the entry of the log and the document at hand.

They are made anew whenever a history is replayed. A value that is not there is left out, so an erasure or a rollback of
one value does not harm the others.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Literal

from events.core.patches import Op, applied_one
from events.core.pointers import MISSING, Tokens, join, split, value_at
from events.core.schema import DYNAMIC, EVOLUTION, META, evolution_log
from events.types.core import SchemaPromoted, SchemaProposed, SchemaReverted
from events.types.json_values import Json, JsonObject

EvolutionKind = Literal["proposal", "promotion", "reversion"]
_KEPT = ("description", "createdAt", "confidence", "usageCount")

LOG_END = f"/{META}/{EVOLUTION}/-"


def logged(
    payload: SchemaProposed | SchemaPromoted | SchemaReverted, at: datetime
) -> tuple[EvolutionKind, dict[str, object]]:
    """Returns the kind of a change of the schema, and its entry in the log of the document."""
    entry: dict[str, object] = {
        "timestamp": at.isoformat(),
        "newCategory": payload.name,
        "reason": payload.rationale,
    }
    if isinstance(payload, SchemaProposed):
        entry |= {
            "change": "proposed", "candidate": payload.candidate, "instances": list(payload.instances),
            "occurrences": payload.occurrences, "score": payload.score,
        }  # fmt: skip
        return "proposal", entry
    if isinstance(payload, SchemaPromoted):
        entry |= {
            "change": "promoted", "candidate": payload.candidate, "schema": payload.schema, "moved": payload.moved,
        }  # fmt: skip
        return "promotion", entry
    return "reversion", entry | {"change": "reverted"}


class _Moving:
    """A document while operations change it."""

    def __init__(self, document: Json) -> None:
        self.document = document
        self.ops: list[Op] = []

    def do(self, **op: object) -> None:
        self.document = applied_one(self.document, op)
        self.ops.append(op)

    def move(self, old: Tokens, new: Tokens) -> None:
        self.do(op="move", **{"from": join(old)}, path=join(new))

    def at(self, *tokens: str) -> Json:
        return value_at(self.document, tokens)

    def has(self, tokens: Tokens) -> bool:
        return value_at(self.document, tokens) is not MISSING


def migration(document: Json, entry: JsonObject) -> list[Op]:
    """Returns the operations of a change of the schema. The last one adds ``entry`` to the log of the document."""
    moving = _Moving(document)
    logged = dict(entry)
    if entry["change"] == "promoted":
        logged["was"] = _promote(moving, entry["newCategory"], entry["moved"])
    elif entry["change"] == "reverted":
        logged["moved"] = _revert(moving, entry["newCategory"])
    if not moving.has((META,)):
        moving.do(op="add", path=f"/{META}", value={EVOLUTION: []})
    moving.do(op="add", path=LOG_END, value=logged)
    return moving.ops


def _promote(moving: _Moving, name: str, moved: Mapping[str, str]) -> dict[str, object]:
    """Moves the values. Returns the kept members of the removed dynamic categories."""
    was: dict[str, object] = {}
    for old, new in ((split(old), split(new)) for old, new in moved.items()):
        if not moving.has(old) or moving.has(new):
            continue
        if len(new) > 1 and not moving.has((name,)):
            moving.do(op="add", path=join((name,)), value={})
        if not isinstance(moving.at(*new[:-1]), dict):
            continue
        moving.move(old, new)
    for old in map(split, moved):
        if old[0] != DYNAMIC or not isinstance(category := moving.at(*old[:2]), dict):
            continue
        if category.get("data") in (None, {}):
            was[old[1]] = {each: category[each] for each in _KEPT if each in category}
            moving.do(op="remove", path=join(old[:2]))
    if not moving.has((name,)):
        moving.do(op="add", path=join((name,)), value={})
    return was


def _revert(moving: _Moving, name: str) -> dict[str, str]:
    """Moves the values back. Returns the old pointer of each value, by the pointer in the category."""
    moved: dict[str, str] = {}
    was: dict[str, object] = {}
    back: list[tuple[str, str]] = []
    for entry in evolution_log(moving.document):
        if entry.get("newCategory") != name:
            continue
        if entry["change"] == "promoted":
            was |= entry["was"]
            back += [(new, old) for old, new in entry["moved"].items()]
        elif entry["change"] == "reverted":
            was, back = {}, []
    # The whole category goes last, because the other values are inside it.
    for new, old in sorted(back, key=lambda each: -each[0].count("/")):
        here, there = split(new), split(old)
        if not moving.has(here):
            moved[new] = old  # a later value of the old pointer belongs where it was
            continue
        if moving.has(there) and moving.at(*there) != {}:
            continue
        if there[0] == DYNAMIC:
            _wrap(moving, there[1], was)
        if isinstance(moving.at(*there[:-1]), dict):
            moving.move(here, there)
            moved[new] = old
    rest = moving.at(name)
    if rest is MISSING:
        return moved
    for member in list(rest) if isinstance(rest, dict) else []:
        _wrap(moving, name, was)
        home = name if isinstance(moving.at(DYNAMIC, name, "data"), dict) else f"{name}Values"
        _wrap(moving, home, was)
        there = _free(moving, (DYNAMIC, home, "data"), member)
        moving.move((name, member), there)
        moved[join((name, member))] = join(there)
    moving.do(op="remove", path=join((name,)))
    return moved


def _wrap(moving: _Moving, name: str, was: JsonObject) -> None:
    """Adds a dynamic category, as the service kept it, unless it is there."""
    if not moving.has((DYNAMIC, name)):
        kept = was.get(name, {"description": "", "usageCount": 1})
        moving.do(op="add", path=join((DYNAMIC, name)), value={**kept, "data": {}})


def _free(moving: _Moving, place: Tokens, member: str) -> Tokens:
    """Returns a place for ``member`` at which there is nothing yet."""
    there = (*place, member)
    number = 2
    while moving.has(there):
        there = (*place, f"{member}{number}")
        number += 1
    return there
