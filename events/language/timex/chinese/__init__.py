"""The Chinese half of the grammar, for traditional and simplified characters."""

from __future__ import annotations

import re

from ..calendar import Frame
from ..mentions import Mention
from .grammar import findings
from .words import ChineseScan

# A text with none of these characters, and no digit, says nothing of time.
_TELLTALE = re.compile(
    r"[0-9０-９年月日天周週星礼禮季时時点點分秒早晚晨夜午今明昨前后後节節历曆初春夏秋冬世旬元除夕七双雙国國现現刚剛最近阵陣目马馬立五平安跨]"
)


def mentions(text: str, frame: Frame, *, asked: bool) -> list[Mention]:
    """What a Chinese text says of time, left to right, none overlapping."""
    if _TELLTALE.search(text) is None:
        return []
    return list(findings(ChineseScan(text, frame, asked=asked)))
