"""Where the values of a document come from, and what differs between two documents, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import orjson

from events.core.evolution.old_pointers import resolved
from events.core.patches import Op, applied_one
from events.core.pointers import MISSING, Tokens, join, split, value_at
from events.core.state import Mark, mark_of
from events.types.json_values import Json

_SHOWN = 200


def marked_places(marks: Json, place: Tokens = ()) -> Iterator[tuple[Tokens, Mark]]:
    """Yields the place of every value in the tree of marks at ``place``, with its mark."""
    if isinstance(marks, dict):
        for name, each in marks.items():
            yield from marked_places(each, (*place, name))
    elif isinstance(marks, list):
        for number, each in enumerate(marks):
            yield from marked_places(each, (*place, str(number)))
    elif marks is not MISSING:
        yield place, mark_of(marks)


def told(before: Json, ops: Sequence[Op]) -> list[str]:
    """Returns a JSON Patch of ``before`` as lines for people."""
    lines = []
    for op in ops:
        name, path = op["op"], op["path"]
        old = value_at(before, split(path))
        if name == "remove":
            lines.append(f"{path}: {_short(old)} removed")
        elif name == "move":
            lines.append(f"{op['from']} moved to {path}")
        elif name == "copy":
            lines.append(f"{op['from']} copied to {path}")
        elif name in ("add", "replace"):
            inserted = isinstance(value_at(before, split(path)[:-1]), list) and name == "add"
            if old is MISSING or inserted:
                lines.append(f"{path}: {_short(op['value'])} added")
            else:
                lines.append(f"{path}: {_short(old)} → {_short(op['value'])}")
        before = applied_one(before, op)
    return lines


def snippets(document: Json, paths: Sequence[str]) -> list[dict[str, Json]]:
    """Returns the values at pointers. ``found`` is false for a place that is not there.

    A pointer from before a promotion gives the value at its place of today, which ``moved_to`` names.
    """
    found = []
    for path in paths:
        asked = split(path)
        place = resolved(document, asked)
        value = value_at(document, place)
        missing = value is MISSING
        snippet = {"path": path, "found": not missing, "value": None if missing else value}
        found.append(snippet if missing or place == asked else snippet | {"moved_to": join(place)})
    return found


def facts_at(document: Json, places: Sequence[Tokens]) -> list[tuple[str, str]]:
    """Returns the values below places as lines: a pointer and a text. Empty values are left out.

    The values of a list of plain values are one line. The lines are in the order of ``places`` and of their names.
    """
    found: dict[str, str] = {}
    for place in places:
        place = resolved(document, place)  # noqa: PLW2901 - an old pointer stands for the new one
        value = value_at(document, place)
        if value is not MISSING:
            found.update(_lines(place, value))
    return list(found.items())


def goals_of(document: Json) -> list[str]:
    """Returns what the user wants, plans and wishes, a text for each, in the order of the document."""
    goals = document.get("goals", {})
    lists = [goals.get(name, []) for name in ("goals", "plans", "wishes")]
    found = [_told(each) for values in lists if isinstance(values, list) for each in values]
    return list(dict.fromkeys(each for each in found if each))


def _told(value: Json) -> str:
    """Returns a goal as text: its name, and then its other members."""
    if not isinstance(value, dict):
        return _plain(value)
    first = next((name for name in ("name", "title", "goal", "description") if name in value), None)
    rest = [f"{name}: {_plain(value[name])}" for name in sorted(value) if name != first]
    return "; ".join([*([_plain(value[first])] if first else []), *rest])


def _lines(place: Tokens, value: Json) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name in sorted(value):
            yield from _lines((*place, name), value[name])
    elif isinstance(value, list):
        if all(not isinstance(each, dict | list) for each in value):
            if value:
                yield join(place), ", ".join(map(_plain, value))
        else:
            for number, each in enumerate(value):
                yield from _lines((*place, str(number)), each)
    elif value is not None and value != "":
        yield join(place), _plain(value)


def _plain(value: Json) -> str:
    return value if isinstance(value, str) else orjson.dumps(value).decode()


def _short(value: Json) -> str:
    text = value if isinstance(value, str) else orjson.dumps(value, default=str).decode()
    return text if len(text) <= _SHOWN else text[:_SHOWN] + " …"
