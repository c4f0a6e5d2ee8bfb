"""From values that hold by the cards to operations on the document."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from events.core.feed import CardValue
from events.core.patches import Op, applied_one, same
from events.core.places import APPEND, BEGINNINGS
from events.core.pointers import MISSING, Tokens, join, value_at
from events.core.schema import DYNAMIC
from events.types.json_values import Json, JsonObject

Slot = tuple[Tokens, str | None]
"""A place of the document, and the key of an item when the place is a list."""


@dataclass(frozen=True, slots=True)
class SlotChange:
    """The change of a slot from the cards. ``before`` and ``after`` are MISSING for an empty slot.

    ``by`` is the value that the change comes from; for a removal, the value that was there.
    """

    slot: Slot
    before: Json
    after: Json
    by: CardValue

    @classmethod
    def of(cls, slot: Slot, values: Sequence[CardValue]) -> SlotChange:
        """Returns the change that puts ``values`` into the empty slot."""
        return cls(slot, MISSING, _value(slot, values), values[-1])


def slot_changes(before: Sequence[CardValue], after: Sequence[CardValue]) -> list[SlotChange]:
    """Returns the slots whose value differs, removals first, in a fixed order."""
    old, new = _by_slot(before), _by_slot(after)
    found = []
    for slot in dict.fromkeys((*old, *new)):
        was, now = old.get(slot), new.get(slot)
        old_value = MISSING if was is None else _value(slot, was)
        new_value = MISSING if now is None else _value(slot, now)
        if was is None or now is None or not same(old_value, new_value):
            found.append(SlotChange(slot, old_value, new_value, (now or was or [])[-1]))
    return sorted(found, key=lambda each: (each.after is not MISSING, each.slot[0], each.slot[1] or ""))


def operations(document: Json, change: SlotChange) -> tuple[list[Op], tuple[int, ...]] | None:
    """Returns the operations of a change, with their guards. None: a value that no card gave is in the way."""
    place, key = change.slot
    ops: list[Op] = []
    guards: tuple[int, ...] = ()
    if key is None:
        held = value_at(document, place)
        if change.after is MISSING:
            if held is not MISSING and same(held, change.before):
                ops.append({"op": "remove", "path": join(place)})
        elif held is not MISSING and not (change.before is not MISSING and same(held, change.before)):
            return ([], ()) if same(held, change.after) else None
        else:
            document, ops = _with_parents(document, place, change.by)
            ops.append({"op": "add", "path": join(place), "value": change.after})
        return ops + _emptied(document, place, ops), guards
    items = value_at(document, place)
    if items is not MISSING and not isinstance(items, list):
        return ([], ()) if change.after is MISSING else None
    held_at = _index(items, change.before) if change.before is not MISSING else None
    if held_at is not None and (change.after is MISSING or _index(items, change.after) is None):
        item = (*place, str(held_at))
        guards = (0,)
        ops.append({"op": "test", "path": join(item), "value": value_at(document, item)})
        if change.after is MISSING:
            ops.append({"op": "remove", "path": join(item)})
        else:
            ops.append({"op": "replace", "path": join(item), "value": change.after})
    elif change.after is not MISSING and _index(items, change.after) is None:
        if items is MISSING:
            document, ops = _with_parents(document, place, change.by)
            ops.append({"op": "add", "path": join(place), "value": []})
        ops.append({"op": "add", "path": join((*place, APPEND)), "value": change.after})
    elif isinstance(change.before, dict) and isinstance(change.after, dict) and held_at is not None:
        ops += _members(
            value_at(document, (*place, str(held_at))), (*place, str(held_at)), change.before, change.after
        )
        guards = (0,) if ops else ()
    return ops + _emptied(document, place, ops), guards


def _members(item: Json, at: Tokens, before: JsonObject, after: JsonObject) -> list[Op]:
    """Returns the operations on the members of an item that keeps its name, after its guard.

    A member that no card gave stays.
    """
    name, *others = dict.fromkeys((*before, *after))
    ops: list[Op] = []
    for each in others:
        held, wanted = item.get(each, MISSING), after.get(each, MISSING)
        if not same(held, before.get(each, MISSING)) or same(held, wanted):
            continue
        op: Op = {"op": "remove", "path": join((*at, each))}
        ops.append(op if wanted is MISSING else {"op": "add", "path": join((*at, each)), "value": wanted})
    return [{"op": "test", "path": join((*at, name)), "value": item[name]}, *ops] if ops else []


def _by_slot(values: Iterable[CardValue]) -> Mapping[Slot, list[CardValue]]:
    found: dict[Slot, list[CardValue]] = {}
    for each in values:
        found.setdefault(slot_of(each), []).append(each)
    return found


def slot_of(value: CardValue) -> Slot:
    if APPEND in value.place:
        return value.place[: value.place.index(APPEND)], value.key
    return value.place, None


def _value(slot: Slot, values: Sequence[CardValue]) -> Json:
    latest = values[-1]
    if slot[1] is not None:
        rest = latest.place[len(slot[0]) + 1 :]
        if not rest:
            return latest.text
        began = BEGINNINGS.get(slot[0])
        told = {} if began is None or latest.began is None else {began: latest.began}
        return {rest[0]: latest.text, **told}
    texts = list(dict.fromkeys(each.text for each in values))
    return texts[0] if len(texts) == 1 else texts


def _index(items: Json, wanted: Json) -> int | None:
    """Returns the place of an item in a list. Objects with the wanted first member, their name, are the item."""
    if not isinstance(items, list):
        return None
    for number, item in enumerate(items):
        if isinstance(wanted, dict):
            name, value = next(iter(wanted.items()))
            named = item.get(name) if isinstance(item, dict) else None
            if isinstance(named, str) and named.casefold() == value.casefold():
                return number
        elif isinstance(item, str) and item.casefold() == wanted.casefold():
            return number
    return None


def _with_parents(document: Json, place: Tokens, by: CardValue) -> tuple[Json, list[Op]]:
    """Adds the objects that lead to ``place``, as far as they are missing."""
    ops: list[Op] = []
    for depth in range(1, len(place)):
        parent = place[:depth]
        if value_at(document, parent) is not MISSING:
            continue
        value: Json = {}
        if parent[0] == DYNAMIC and depth == 2:
            value = {"description": description_of(parent[1]), "confidence": by.confidence, "data": {}}
        op = {"op": "add", "path": join(parent), "value": value}
        document = applied_one(document, op)
        ops.append(op)
    return document, ops


def description_of(name: str) -> str:
    """Returns the description of a dynamic category that cards make."""
    return f"What was said about {name}"


def _emptied(document: Json, place: Tokens, ops: Sequence[Op]) -> list[Op]:
    """Removes a dynamic category that cards made, when its last value goes."""
    if place[0] != DYNAMIC or not any(op["op"] == "remove" for op in ops):
        return []
    for op in ops:
        document = applied_one(document, op)
    category = value_at(document, place[:2])
    if not isinstance(category, dict) or category.get("description") != description_of(place[1]):
        return []
    data = category.get("data")
    left = isinstance(data, dict) and any(each not in ([], {}) for each in data.values())
    return [] if left else [{"op": "remove", "path": join(place[:2])}]
