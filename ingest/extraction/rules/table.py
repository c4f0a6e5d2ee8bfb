"""The tables patterns are written in: which words call for a pattern, and who makes cards of its matches.

A block is ``name: trigger words``, then the pattern on indented lines that are joined as they are. ``!``
before the name marks a pattern that reads hedges itself, ``~`` one that needs a time; ``@list`` among the
words stands for a word list.
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
    """The rules of a table, in its order. Raises KeyError for a name nobody makes cards for."""
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
