"""The closed word lists of both languages, from ``tables/words.txt``."""

import re
from importlib import resources


def table(name: str) -> str:
    return resources.files("ingest.extraction.rules").joinpath("tables", name).read_text(encoding="utf-8")


def rows(text: str) -> list[str]:
    """Returns the lines of a table without comments and blank lines."""
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


WORDS: dict[str, tuple[str, ...]] = {}
KEYS: dict[str, dict[str, str]] = {}
"""The concept key of each word of a list with keys ("tool": "firefox" is a "browser")."""
for _line in rows(table("words.txt")):
    _name, _, _words = _line.partition(": ")
    _list, _, _key = _name.partition(".")
    WORDS[_list] = (*WORDS.get(_list, ()), *_words.split("|"))
    if _key:
        KEYS.setdefault(_list, {}).update((word.casefold(), _key) for word in _words.split("|"))
SETS = {name: frozenset(word.casefold() for word in words) for name, words in WORDS.items()}


def either(name: str) -> str:
    """Returns the words of a list as alternatives of a pattern, the longer ones first."""
    return "|".join(
        word.replace(".", r"\.").replace("+", r"\+") for word in sorted(WORDS[name], key=len, reverse=True)
    )


_PATTERNS = {row.partition(" ")[0]: row.partition(" ")[2] for row in rows(table("frames.txt"))}


def pattern(name: str) -> re.Pattern[str]:
    """Returns a pattern of ``tables/frames.txt``, compiled with its flags."""
    flags, _, source = _PATTERNS[name].partition(": ")
    return re.compile(f"(?{flags}){source}" if flags else source)
