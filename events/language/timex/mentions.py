"""The result of a language's grammar: a place in the text and its meaning."""

from __future__ import annotations

from dataclasses import dataclass

from .calendar import Span
from .lengths import Length


@dataclass(frozen=True, slots=True)
class Mention:
    """A place in a text, in code points, with its span. A length of time alone has no span."""

    begin: int
    stop: int
    span: Span | None
    length: Length | None = None
