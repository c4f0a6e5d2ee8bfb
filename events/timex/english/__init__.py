"""The English half of the grammar."""

from __future__ import annotations

from ..calendar import Frame
from ..mentions import Mention
from .grammar import TELLTALES, findings
from .words import EnglishScan


def mentions(text: str, frame: Frame) -> list[Mention]:
    """What an English text says of time, left to right, none overlapping."""
    scan = EnglishScan(text, frame)
    if not any(word in TELLTALES or word[:1].isdecimal() or "'" in word for word in scan.words):
        return []
    return list(findings(scan))
