"""The names that things in a text have in the other language, as search terms."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import NamedTuple, get_args

from events.language.chinese_script import to_simplified
from events.language.names import GREAT, NameClass, latin, rows, tables_of
from events.language.terms import analyse

_READ = 2000
_MOST = 12
_MOST_OF_ONE = 5
_LONGEST_NAME = 4
_WORD = re.compile(r"[A-Za-zÀ-ɏ][\w&.'’-]*")
_HAN_RUN = re.compile(r"[\u3400-\u9fff]{3,}")
_CAPITAL_ONLY = frozenset(("cities", "organisations", "languages", "schools"))
"""The tables with names that are also ordinary words: Nice, Apple. Such a name counts only with a capital."""
_SHORT = 3


class _Lexicon(NamedTuple):
    """The names in the other language by each name, with ``|`` between them."""

    chinese: dict[str, str]
    english: dict[str, str]
    capital: frozenset[str]


def other_names(text: str) -> tuple[str, ...]:
    """Returns the terms of the other-language names of what ``text`` names, at most 12, in reading order.

    "Did I go to Japan?" gives 日本, and 我住台北嗎 gives "taipei". The terms have the form that
    :func:`events.language.terms.analyse` gives them. Only the first 2,000 characters count. A text without known names
    gives no term.
    """
    lexicon = _lexicon()
    text = text[:_READ]
    own = frozenset(analyse(text))
    terms: dict[str, None] = {}
    for names in _found(text, own, lexicon):
        terms.update((term, None) for term in _terms(names) if term not in own)
        if len(terms) >= _MOST:
            break
    return tuple(terms)[:_MOST]


def _found(text: str, own: Iterable[str], lexicon: _Lexicon) -> Iterator[str]:
    yield from _english(text, lexicon)
    if text.isascii():
        return
    simplified = to_simplified(text)
    for name in sorted({*(term for term in own if len(term) > 1), *_pieces(simplified)}, key=simplified.find):
        if name in lexicon.chinese:
            yield lexicon.chinese[name]


def _english(text: str, lexicon: _Lexicon) -> Iterator[str]:
    words = [(match[0].rstrip(".'’-"), match.start()) for match in _WORD.finditer(text)]
    words = [(word.removesuffix("'s").removesuffix("’s"), start) for word, start in words]
    place = 0
    while place < len(words):
        for size in range(min(_LONGEST_NAME, len(words) - place), 0, -1):
            said = " ".join(word for word, _ in words[place : place + size])
            name = latin(said)
            if name not in lexicon.english and size == 1:
                name = name.removesuffix("s")
            if name in lexicon.english and _meant(said, name, lexicon):
                yield lexicon.english[name]
                place += size - 1
                break
        place += 1


def _meant(said: str, name: str, lexicon: _Lexicon) -> bool:
    if len(name) <= _SHORT:
        return said.isupper()
    return name not in lexicon.capital or said[0].isupper()


def _pieces(text: str) -> Iterator[str]:
    """Yields the runs of 3 to 8 Chinese characters. Shorter names are found as words."""
    for match in _HAN_RUN.finditer(text):
        run = match[0]
        for start in range(len(run) - 2):
            for stop in range(start + 3, min(start + 8, len(run)) + 1):
                yield run[start:stop]


@lru_cache(maxsize=4096)
def _terms(names: str) -> tuple[str, ...]:
    """Returns the terms of the names of one thing, the first names first.

    Of a Chinese name the whole word counts, or else the words in it. Single characters and long later names say too
    little. Of English names the first counts, and the names of one word.
    """
    found: dict[str, None] = {}
    for place, name in enumerate(names.split("|")):
        terms = analyse(name)
        if name.isascii():
            if place == 0 or " " not in name:
                found.update(dict.fromkeys(terms))
        elif name in terms:
            found[name] = None
        elif place == 0 or len(name) <= _SHORT:
            found.update((term, None) for term in terms if len(term) > 1)
    return tuple(found)[:_MOST_OF_ONE]


@lru_cache(maxsize=1)
def _lexicon() -> _Lexicon:
    chinese: dict[str, str] = {}
    english: dict[str, str] = {}
    capital: set[str] = set()
    lower: set[str] = set()
    for kind in get_args(NameClass):
        for table in tables_of(kind):
            for code, names, others in rows(table):
                words = names.split("|")
                for name in words:
                    english[name] = others if name not in english else f"{english[name]}|{others}"
                for other in others.split("|"):
                    chinese[other] = names if other not in chinese else f"{chinese[other]}|{names}"
                if table in _CAPITAL_ONLY and code[-1:] != GREAT:
                    capital.update(words)
                else:
                    lower.update(words)
    return _Lexicon(chinese, english, frozenset(capital - lower))
