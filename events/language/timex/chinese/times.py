"""Chinese times of day: "下午五点一刻", "晚上七点半到九点", "15时20分"."""

from dataclasses import replace

from ..clock import PARTS as PART_HOURS
from ..clock import Clock, Half, Hours, part, waking, waking_between
from ..scan import Scan, given, listed, packrat
from .dates import RANGE
from .numbers import neighbours, value
from .words import PARTS

Timed = tuple[Clock, int, bool]
"""A clock time, the next word, and True when the time is loose: "一点" may mean "a little"."""

_FIRM = listed("半 钟 整 左右 开会 见 出发 集合 多 前 后 之前 之后 以前 以后 的")
_MERIDIEM: dict[str, Half] = {"am": "am", "pm": "pm"}


@packrat
def clock(scan: Scan, i: int) -> Timed | None:
    """Parses a clock time without a part of the day before it."""
    words = scan.words
    if words[i] == "差":
        return _short_of(scan, i)
    if words[i] == "零点":
        return _minutes(scan, 0, i + 1, False)
    near = neighbours(words[i]) if words[i + 1] in ("点", "点钟") else None
    if near is not None:
        return Clock(near[0]), i + 2, False
    hour = value(words[i])
    if hour is None or hour > 24:
        return None
    if words[i + 1] == ":" and words[i].isdecimal():
        return _digital(scan, i, hour)
    half = _MERIDIEM.get(words[i + 1])
    if half is not None:
        return Clock(hour, half=half), i + 2, False
    if words[i + 1] not in ("点", "点钟", "时"):
        return None
    firm = words[i + 1] != "点" or words[i].isdecimal() or (words[i + 2] in _FIRM and words[i] != "一")
    return _minutes(scan, hour, i + 2, not firm)


def _short_of(scan: Scan, i: int) -> Timed | None:
    """Parses the minutes that are left until an hour: 差五分八点, 差一刻七点."""
    words = scan.words
    if words[i + 1] == "一刻":
        minutes, j = 15, scan.skip(i + 2, "钟")
    else:
        minutes, j = value(words[i + 1]) or 0, i + 3
        if words[i + 2] not in ("分", "分钟") or not 1 <= minutes <= 30:
            return None
    hour = value(words[scan.skip(j, "到")])
    j = scan.skip(j, "到") + 1
    if hour is None or not 1 <= hour <= 24 or words[j] not in ("点", "点钟"):
        return None
    return Clock(hour - 1 or 12, 60 - minutes, grain="minute"), j + 1, False


def _digital(scan: Scan, i: int, hour: int) -> Timed | None:
    minute = scan.digits(i + 2, 2)
    if minute is None or minute > 59 or len(scan.words[i + 2]) != 2:
        return None
    padded = scan.words[i].startswith("0")
    second = scan.digits(i + 4, 2) if scan.words[i + 3] == ":" else None
    if second is not None and second < 60:
        found, j = Clock(hour, minute, second, "second", padded=padded), i + 5
    else:
        found, j = Clock(hour, minute, grain="minute", padded=padded), i + 3
    half = _MERIDIEM.get(scan.words[j])
    return (replace(found, half=half), j + 1, False) if half else (found, j, False)


def _minutes(scan: Scan, hour: int, i: int, loose: bool) -> Timed:
    """Parses the minutes and seconds after the hour."""
    words = scan.words
    word = words[i]
    if word == "半":
        return Clock(hour, 30, grain="minute"), i + 1, False
    if word in ("一刻", "三刻"):
        return Clock(hour, 15 if word == "一刻" else 45, grain="minute"), i + 1, False
    if word in ("整", "钟"):
        return Clock(hour), i + 1, False
    j = scan.skip(i, "过", "零")
    minute = value(words[j])
    if minute is not None and minute < 60 and words[j] not in ("两",):
        if words[j + 1] in ("分", "分钟"):
            j += 2
        elif (
            words[j + 1] in ("个", "天", "年", "月", "次", "人", "点", "号", "小时", "日", "周", "星期")
            or minute < 5
        ):
            return Clock(hour), i, loose
        elif minute < 10 and j == i and words[j][0] not in "零〇0":
            return Clock(hour), i, True  # a decimal: 三点五
        else:
            j += 1
        second = value(words[j])
        if second is not None and second < 60 and words[j + 1] in ("秒", "秒钟"):
            return Clock(hour, minute, second, "second"), j + 2, False
        return Clock(hour, minute, grain="minute"), j, False
    return Clock(hour), i, loose


def part_of_day(scan: Scan, i: int) -> tuple[str, int] | None:
    return given(PARTS.get(scan.words[i]), scan.skip(i + 1, "的"))


def _first_hour(scan: Scan, i: int, *, named: bool) -> Timed | None:
    """Parses the number of the first hour of a range after a part of the day: 9 of 早上9-10点."""
    words = scan.words
    ranged = named and words[i + 1] in RANGE and words[i + 3] in ("点", "点钟", "时") and value(words[i + 2])
    hour = value(words[i]) if ranged else None
    return (Clock(hour), i + 1, False) if hour is not None and hour <= 24 else None


@packrat
def hours(scan: Scan, i: int) -> tuple[Hours, int] | None:
    """Parses a time of day or a range of times. A loose time counts only beside a date."""
    return within(scan, i, None)


def within(scan: Scan, i: int, half: Half | None) -> tuple[Hours, int] | None:
    """Parses a time of day after a named part of the day, as 八点 after 昨晚. `half` is the half of that part."""
    words = scan.words
    named = part_of_day(scan, i)
    name, j = named if named else ("", i)
    if named:
        half = PART_HOURS[name][2]
    j = scan.skip(j, "大约", "大概", "约")
    later = (
        words[i] in ("早", "晚") and words[j : j + 2] == ["一", "点"] and words[j + 2] not in _FIRM
    )  # 晚一点
    first = (clock(scan, j) or _first_hour(scan, j, named=named is not None)) if not later else None
    if first is None:
        if named is None:
            return None
        loose = words[i] in ("早", "晚", "一早", "白天")
        return replace(part(name), loose=loose), scan.skip(i + 1, "的") if words[i + 2] in PARTS else i + 1
    opened, j, loose = first
    if opened.open and half:
        opened = replace(opened, half=half)
    if words[j] in RANGE or words[j] in ("和", "与"):
        paired = words[j] in ("和", "与")
        named_last = part_of_day(scan, j + 1)
        last = clock(scan, named_last[1] if named_last else j + 1)
        if last is not None and not (paired and words[last[1]] not in ("之间", "间")):
            closed = last[0]
            if closed.open and named_last:
                closed = replace(closed, half=PART_HOURS[named_last[0]][2])
            stop = scan.skip(last[1], "之间", "间", "期间")
            return waking_between(opened, closed), stop
    return replace(waking(opened, loose=loose and half is None), name=name), scan.skip(j, "左右")
