"""The tables: words of each language, holidays, eras, lunar years. A line that begins with # is a comment."""

from functools import lru_cache
from importlib import resources


def rows(name: str) -> list[list[str]]:
    """Returns the rows of a table in the folder ``lists``, each as its columns, which tabs separate."""
    text = resources.files(__package__).joinpath("lists", f"{name}.txt").read_text(encoding="utf-8")
    return [line.split("\t") for line in text.splitlines() if line and line[0] != "#"]


@lru_cache(maxsize=4)
def _lists(language: str) -> dict[str, dict[str, str]]:
    """Returns the words of each list of a language, each with its value. A list without values has empty ones."""
    found: dict[str, dict[str, str]] = {}
    for name, value, words in rows(language):
        found.setdefault(name, {}).update(dict.fromkeys(words.split(), value))
    return found


def words_of(name: str) -> frozenset[str]:
    """Returns the words of a list, which is named as in "english.leads"."""
    return frozenset(values_of(name))


def values_of(name: str) -> dict[str, str]:
    """Returns the value of each word of a list."""
    language, _, key = name.partition(".")
    return _lists(language)[key]


def numbers_of(name: str) -> dict[str, int]:
    """Returns the value of each word of a list whose values are numbers."""
    return {word: int(value) for word, value in values_of(name).items()}
