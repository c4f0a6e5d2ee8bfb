"""Tables of names: each row is one thing, with its English and its Chinese names.

``countries.txt``, ``languages.txt`` and ``cities.txt`` are derived by :mod:`scripts.name_tables`. The other
tables are our own. They hold general knowledge, and their words were chosen by going through a field: the greatest
employers of the Chinese-speaking and of the English-speaking world, the common trades, the provinces and states. A row
is a code, the English names with the canonical one first, and the Chinese names. A table is read when it is first used.
"""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from importlib import resources
from typing import Literal, NamedTuple

from events.language.chinese_script import to_simplified

NameClass = Literal[
    "place", "nationality", "language", "organisation", "school", "occupation", "colour", "status", "diet"
]

GREAT = "+"
"""The mark of a city of a million people."""

_TABLES: dict[NameClass, tuple[str, ...]] = {
    "place": ("aliases", "countries", "regions", "cities"),
    "nationality": ("aliases", "countries"),
    "language": ("spoken", "languages"),
    "organisation": ("organisations",),
    "school": ("schools",),
    "occupation": ("occupations",),
    "colour": ("colours",),
    "status": ("statuses",),
    "diet": ("diets",),
}
"""The tables of each class of names. Of two tables that know a name, the first counts."""

_DERIVED = frozenset(("countries", "languages", "cities"))
_LONGEST_COUNTRY = 8


class Row(NamedTuple):
    """One thing: its code, and its folded names with ``|`` between them. The first English name is canonical."""

    code: str
    english: str
    chinese: str


class _Names(NamedTuple):
    """``canonical`` is the canonical name by every name, and ``code`` the code by the canonical name."""

    canonical: dict[str, str]
    code: dict[str, str]


def latin(name: str) -> str:
    """Returns a Latin name in lower case and without accents."""
    folded = name.casefold().replace("’", "'")
    if folded.isascii():
        return folded
    plain = unicodedata.normalize("NFD", folded)
    return unicodedata.normalize("NFC", "".join(c for c in plain if not "\u0300" <= c <= "\u036f"))


def rows(table: str) -> Iterator[Row]:
    """Yields the rows of a table. ``table`` is the name of a file in the folder ``lists``, without its ending."""
    text = resources.files("events.language").joinpath("lists", f"{table}.txt").read_text(encoding="utf-8")
    # A derived table is in simplified script already.
    for line in (text if table in _DERIVED else to_simplified(text)).split("\n"):
        if line and line[0] != "#":
            yield Row(*line.split("\t"))


def tables_of(kind: NameClass) -> tuple[str, ...]:
    """Returns the names of the tables of a class."""
    return _TABLES[kind]


@lru_cache(maxsize=len(_TABLES))
def _names(kind: NameClass) -> _Names:
    canonical: dict[str, str] = {}
    codes: dict[str, str] = {}
    for table in _TABLES[kind]:
        for code, english, chinese in rows(table):
            head, *others = english.split("|")
            first = canonical.setdefault(head, head)
            codes.setdefault(first, code)
            for name in (*others, *chinese.split("|")):
                canonical.setdefault(name, first)
    return _Names(canonical, codes)


def canonical_name(kind: NameClass, name: str) -> str | None:
    """Returns the canonical English name of the thing that ``name`` names, or None for an unknown name.

    ``name`` is in lower case and in simplified script. The canonical name of a canonical name is the name itself. A
    city may stand with its country: "paris, france", 日本东京.
    """
    known = _names(kind).canonical
    if (found := known.get(latin(name))) is not None:
        return found
    return _city_of(name) if kind == "place" else None


def _city_of(name: str) -> str | None:
    """Returns the canonical name of a city that is named with its own country, or None."""
    names = _names("place")
    city, comma, country = name.rpartition(",")
    if comma:
        splits = [(country.strip(), city.strip())]
    else:
        splits = [(name[:end], name[end:]) for end in range(2, min(len(name) - 1, _LONGEST_COUNTRY))]
    for around, inside in splits:
        whole = _names("nationality").canonical.get(latin(around))
        part = names.canonical.get(latin(inside.rstrip("市县")))
        if (
            whole is not None
            and part is not None
            and part != whole
            and names.code[part].rstrip(GREAT) == names.code[whole]
        ):
            return part
    return None
