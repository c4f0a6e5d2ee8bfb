"""Reads the pattern tables: the trigger words of each pattern, and the function that makes drafts of its matches.

A block is ``name: trigger words``, then the pattern on indented lines, which are joined unchanged. ``!`` before the
name marks a pattern that handles hedges itself. ``~`` marks a pattern that needs a time. ``@list`` inserts a word list.
The trigger word ``#`` stands for any number.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from importlib import resources

from ingest.extraction.rules.scene import Make, Rule

_INDENT = "    "
_MARKS = "!~"


def rules(
    file: str, makes: Mapping[str, Make], lists: Mapping[str, Iterable[str]], expand: Callable[[str], str]
) -> tuple[Rule, ...]:
    """Returns the rules of a table, in its order. Raises KeyError when ``makes`` or ``lists`` lacks a name."""
    text = resources.files("ingest.extraction.rules").joinpath(file).read_text(encoding="utf-8")
    return tuple(
        Rule(tuple(_words(head, lists)), expand(source), makes[name.strip(_MARKS)], "!" in name, "~" in name)
        for name, head, source in _blocks(text)
    )


def _blocks(text: str) -> Iterator[tuple[str, str, str]]:
    for block in text.split("\n\n"):
        lines = [line for line in block.splitlines() if line and not line.startswith("#")]
        if not lines:
            continue
        source = "".join(line.removeprefix(_INDENT) for line in lines if line.startswith(_INDENT))
        name, _, words = " ".join(line.strip() for line in lines if not line.startswith(_INDENT)).partition(
            ":"
        )
        yield name, words, source


def _words(head: str, lists: Mapping[str, Iterable[str]]) -> Iterator[str]:
    for word in head.split():
        if word.startswith("@"):
            yield from lists[word.removeprefix("@")]
        else:
            yield word
