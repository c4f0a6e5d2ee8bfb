"""The Chinese grammar of time expressions, for traditional and simplified characters."""

import re

from ..calendar import Frame
from ..scan import Mention
from .grammar import findings
from .words import ChineseScan

# A text without these characters has no Chinese time expression.
_TELLTALE = re.compile(
    r"[0-9０-９年会當当更月日天周週星礼禮季时時点點分秒早晚晨夜午今明昨前后後节節历曆初春夏秋冬世旬元除夕七双雙国國现現刚剛最近阵陣目马馬立五平安跨琴聽尋听寻家舊旧号號刻鐘钟诞誕阳陽腊臘晓曉昏昼晝假]|二二八"
)


def mentions(text: str, frame: Frame, *, asked: bool) -> list[Mention]:
    """Returns the time expressions of a Chinese text from left to right, without overlaps."""
    if _TELLTALE.search(text) is None:
        return []
    return list(findings(ChineseScan(text, frame, asked=asked)))
