"""The English half of the grammar."""

from __future__ import annotations

from ..calendar import Frame
from ..mentions import Mention
from .grammar import findings
from .words import EnglishScan


def mentions(text: str, frame: Frame, *, asked: bool) -> list[Mention]:
    """What an English text says of time, left to right, none overlapping."""
    return list(findings(EnglishScan(text, frame, asked=asked)))
