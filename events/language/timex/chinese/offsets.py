"""Chinese offsets: a length before or after now, within a length, a length that goes on."""

from dataclasses import replace

from .. import calendar
from ..calendar import Span
from ..cycles import Reading
from ..scan import listed, packrat
from .numbers import length
from .period_parts import after_event, period_part
from .words import WEEKDAYS
from .words import ChineseScan as Scan

Found = tuple[Reading, int]
BEFORE = frozenset({"前", "之前", "以前"})
AFTER = frozenset({"后", "之后", "以后"})


@packrat
def offset(scan: Scan, i: int) -> Found | None:
    """Parses a length before or after now: 三个礼拜前, 两天后, 5分钟之前, 三天内, 之后5分钟."""
    words, frame = scan.words, scan.frame
    long = length(scan, i)
    if long is None:
        if words[i] not in ("之后", "后", "此后") or after_event(scan, i):
            return None
        long = length(scan, i + 1)
        return (long[0].rolling(frame, 1), long[1]) if long is not None and long[0].fine else None
    lasting, j = long
    j = scan.skip(j, "左右", "多")
    side = words[j]
    now = Span(frame.now, frame.now, "second") if lasting.fine else calendar.day(frame.today)
    if side in BEFORE or side in AFTER:
        if side == "后" and words[j + 1] in ("悔",):
            return None
        span = lasting.shifted(now, frame, -1 if side in BEFORE else 1)
        if span is not None and words[i] in ("几", "数", "十几"):
            span = span.doubted(0.7)
        if span is not None and words[j + 1] == "的" and words[j + 2] in ("今天", "今日"):
            return replace(span, grain="day"), j + 3
        return (_inside(scan, span, j + 1) or (span, j + 1)) if span else None
    if side in ("内", "之内", "以内"):
        span = lasting.rolling(frame, -1 if scan.tense(i) < 0 else 1)
        ahead = not lasting.fine and span.start is not None and span.start > frame.today
        return (replace(span, start=frame.today) if ahead else span), j + 1  # today counts
    if side in ("来", "以来"):
        return lasting.rolling(frame, -1), j + 1
    stop = _goes_on(scan, i, long[1])
    return (lasting.lasting(frame), stop) if stop else None


def _inside(scan: Scan, span: Span, i: int) -> Found | None:
    """Parses a part of the week, month or year that a length leads to: 两周后的周末, 三年前的冬天."""
    k = scan.skip(i, "的")
    if span.grain not in ("week", "month", "year") or span.vague or not span.instant or span.start is None:
        return None
    if k == i and scan.words[k] not in WEEKDAYS:
        return None
    whole = calendar.unit(span.grain, span.start)
    part = period_part(scan, k)
    inner = part[0](whole) if part and whole else None
    return (inner, part[1]) if inner and part else None


_LEFT = listed("还有 还剩 剩下 剩 只剩 差 再过 过 隔 第 再 的 新 这 那 上 下")


def _goes_on(scan: Scan, i: int, j: int) -> int:
    """Returns the word after a length that goes on until now: 三年了, 两年没见了. 0 for another length."""
    words = scan.words
    if scan.before(i) in _LEFT or (scan.before(i) == "有" and scan.before(i - 1) == "还"):
        return 0
    if words[j] == "了":
        return j + 1 if scan.text[scan.stops[j] : scan.stops[j] + 1] not in _AFTER_LE else 0
    if words[j] in ("没", "不") or words[j : j + 2] == ["都", "没"]:
        for k in range(j + 1, min(j + 7, len(scan))):
            if words[k] in "，。,.！？!?；、":
                break
            if words[k] == "了":
                return j if words[j] != "了" else j + 1
    return 0


_AFTER_LE = tuple("解不得结断事却然如")
