"""The English grammar of time expressions."""

from ..calendar import Frame
from ..scan import Mention
from .grammar import findings
from .words import EnglishScan


def mentions(text: str, frame: Frame, *, asked: bool) -> list[Mention]:
    """Returns the time expressions of an English text from left to right, without overlaps."""
    return list(findings(EnglishScan(text, frame, asked=asked)))
