"""What a language's grammar hands back: where in the text, and what it means."""

from __future__ import annotations

from dataclasses import dataclass

from .calendar import Span
from .lengths import Length


@dataclass(frozen=True, slots=True)
class Mention:
    """A stretch of text, in code points, and its span; a length of time alone has no span."""

    begin: int
    stop: int
    span: Span | None
    length: Length | None = None
