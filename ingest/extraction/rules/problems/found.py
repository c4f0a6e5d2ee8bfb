"""What a sentence says about a problem."""

import re
from dataclasses import dataclass
from typing import Literal

Step = Literal["opened", "attempted", "closed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """A find in one sentence. ``problem`` names the problem, or is None for the one that was told last.

    ``span`` are offsets in the sentence. ``about`` and ``with_`` are the spans of the words that name the problem and
    the approach.
    """

    step: Step
    span: tuple[int, int]
    about: tuple[int, int] | None = None
    with_: tuple[int, int] | None = None
    outcome: tuple[int, int] | None = None
    successful: bool | None = None
    suffix: str = ""


def group(found: re.Match[str], name: str) -> tuple[int, int] | None:
    """Returns the span of a group without white space at its edges, or None when it did not match."""
    begin, stop = found.span(name)
    if begin < 0:
        return None
    words = found[name]
    begin += len(words) - len(words.lstrip(" ,，"))
    stop -= len(words) - len(words.rstrip(" ,，.!。！"))
    return (begin, stop) if begin < stop else None
