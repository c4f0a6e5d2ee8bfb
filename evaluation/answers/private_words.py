"""Keeps the words of turns out of a recorded reading: a stretch of a turn becomes its place, and comes back from it."""

from collections.abc import Mapping
from typing import Any

PLACES = "places"
"""The one field of an object that stands for a text: its parts, each a text or ``[turn, start, end]``."""

_LEAST = 24  # Characters of a turn that are private. Fewer are words that any answer may hold.
_LEAST_CJK = 8
_LEAST_OF_QUOTE = 2


class PlaceInvalidError(ValueError):
    """A place lies outside the turns."""


def without_words(value: Any, turns: Mapping[int, str], *, quote: bool = False) -> Any:
    """Returns a JSON value whose texts hold no stretch of a turn: each becomes its place.

    ``turns`` are the texts by number. A field ``quote`` becomes places as far as possible, other texts where a stretch
    is long enough to be a sentence. :func:`with_words` is the way back.
    An object that is a place already becomes empty.
    """
    if isinstance(value, dict):
        if value.keys() == {PLACES}:
            return {}  # A model that writes places itself writes no card.
        return {name: without_words(each, turns, quote=name == "quote") for name, each in value.items()}
    if isinstance(value, list):
        return [without_words(each, turns, quote=quote) for each in value]
    if isinstance(value, str):
        parts = _parts(value, turns, quote=quote)
        return value if parts == [value] else {PLACES: parts}
    return value


def with_words(value: Any, turns: Mapping[int, str]) -> Any:
    """Returns the value of :func:`without_words` with its words. Raises :class:`PlaceInvalidError`."""
    if isinstance(value, dict):
        if value.keys() == {PLACES}:
            return "".join(_restored(part, turns) for part in value[PLACES])
        return {name: with_words(each, turns) for name, each in value.items()}
    if isinstance(value, list):
        return [with_words(each, turns) for each in value]
    return value


def _parts(text: str, turns: Mapping[int, str], *, quote: bool) -> list[str | list[int]]:
    parts: list[str | list[int]] = []
    kept = place = 0
    while place < len(text):
        found = _longest(text, place, turns, quote=quote)
        if found is None:
            place += 1
            continue
        if kept < place:
            parts.append(text[kept:place])
        parts.append(found)
        place += found[2] - found[1]
        kept = place
    if kept < len(text) or not parts:
        parts.append(text[kept:])
    return parts


def _longest(text: str, place: int, turns: Mapping[int, str], *, quote: bool) -> list[int] | None:
    """Returns the place of the longest stretch of a turn that ``text`` repeats from ``place`` on."""
    least = _LEAST_OF_QUOTE if quote else _LEAST if text[place].isascii() else _LEAST_CJK
    if len(text) - place < least:
        return None
    best: list[int] | None = None
    for number, words in turns.items():
        start = words.find(text[place : place + least])
        while start >= 0:
            length = least
            while (
                place + length < len(text)
                and start + length < len(words)
                and text[place + length] == words[start + length]
            ):
                length += 1
            if best is None or length > best[2] - best[1]:
                best = [number, start, start + length]
            start = words.find(text[place : place + least], start + 1)
    return best


def _restored(part: Any, turns: Mapping[int, str]) -> str:
    if isinstance(part, str):
        return part
    if isinstance(part, list) and len(part) == 3 and all(isinstance(each, int) for each in part):
        number, start, end = part
        if number in turns and 0 <= start <= end <= len(turns[number]):
            return turns[number][start:end]
    raise PlaceInvalidError(f"{part!r} is no place in the turns of the reading")
