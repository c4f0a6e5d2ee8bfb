"""The top rules of the Chinese grammar: moments, offsets, ranges and bounds, from left to right in a text."""

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from .. import calendar
from ..calendar import Frame, Span, add_days, in_week
from ..clock import at, half_of, part
from ..cycles import (
    Cycle,
    after,
    before,
    each,
    monthly,
    nearest,
    settle,
    since,
    yearly,
)
from ..scan import Found, Mention, counted_day, given, listed, listed_day, packrat
from .dates import RANGE, day_of_month
from .numbers import length, positional, value
from .periods import AFTER, BEFORE, offset, period
from .times import hours, within
from .words import PARTS, SENTENCE, STARTS, UNITS, WEEKDAYS
from .words import ChineseScan as Scan

# A text without these characters has no Chinese time expression.
_TELLTALE = re.compile(
    r"[0-9０-９年会當当更月日天周週星礼禮季时時点點分秒早晚晨夜午今明昨前后後节節历曆初春夏秋冬世旬元除夕七双雙国國现現刚剛最近阵陣目马馬立五平安跨琴聽尋听寻家舊旧号號刻鐘钟诞誕阳陽腊臘晓曉昏昼晝假]|二二八"
)
_SINCE = listed("以来 起 开始")
_TO_NOW = listed("至今 迄今")
_EVERY = listed("每 每逢 每隔 隔 逢")
_ALSO = listed("和 跟 与 及 、")
_DAILY = listed("天天 夜夜 周周 月月 年年")
# Characters before 逢 in words for a meeting: 相逢, 重逢.
_MEETING = frozenset("相重适遭欣恰正久")
# The words after 早上好 and similar greetings.
_GREETED = listed("$ ， , 。 . ！ ! 、 ~ 啊 呀 哦 喔")
_BETWEEN = ("之间", "间", "期间", "中间", "这段时间")


@packrat
def moment(scan: Scan, i: int) -> Found | None:
    """Parses a period, a day with a time, or a time alone. Returns the longest reading at word `i`."""
    words = scan.words
    best = offset(scan, i)
    dated = period(scan, i)
    if dated is not None and (best is None or dated[1] >= best[1]):
        best = dated
    if best is not None:
        return _with_hours(scan, best)
    timed = hours(scan, i)
    if timed is None:
        return None
    time, j = timed
    alone = scan.before(i) not in listed("在 于 从 到 至 约 等 会")
    if time.loose and (alone or words[i] in ("早", "晚")):
        return None
    if time.name and words[j] == "好" and words[j + 1] in _GREETED:
        return None
    span = time.on(calendar.day(scan.frame.today))
    sure = 0.35 if time.grain == "part_of_day" else 0.55
    return (replace(span, sure=sure, ambiguous=True), j) if span else None


def _with_hours(scan: Scan, found: Found) -> Found:
    words = scan.words
    for _ in range(2):
        reading, j = found
        if reading.grain not in ("day", "part_of_day") or (
            isinstance(reading, Span) and reading.start is None
        ):
            break
        k = scan.skip(j, "的", ",", "，", "、", "在")
        half = half_of(reading) if isinstance(reading, Span) else None
        timed = within(scan, k, half) or within(scan, j, half)
        if timed is None or reading.grain == timed[0].grain == "part_of_day":
            break
        little = timed[0].loose and timed[0].grain != "part_of_day" and value(words[k]) == 1
        if little and k == j and words[k + 2] in ("也", "都"):
            break  # 一点也不
        combined = each(reading, partial(at, clock=timed[0], now=scan.frame.now), timed[0].grain)
        if combined is None:
            break
        found = combined, timed[1]
    if found[0].grain == "weekend":  # either day of the weekend
        timed = within(scan, scan.skip(found[1], "的"), None)
        return (found[0], timed[1]) if timed is not None else found
    return found


@packrat
def _bound(scan: Scan, i: int) -> Found | None:
    return moment(scan, i) or _bare(scan, i)


def _bare(scan: Scan, i: int) -> Found | None:
    """Parses a number that is a year or a day only because of the other side of a range: "1995 - 1997年"."""
    number = value(scan.words[i])
    if number is None:
        return None
    if len(scan.words[i]) == 4 and positional(scan.words[i]) and 1900 <= number <= 2150:
        return given(calendar.year(number), i + 1)
    return (monthly(number, sure=0.6, bare=True), i + 1) if 1 <= number <= 31 else None


@packrat
def span_of(scan: Scan, i: int) -> tuple[Span, int] | None:
    """Parses a range, a bound or a moment. Returns the widest reading at word `i`, with absolute dates."""
    words, word = scan.words, scan.words[i]
    opener = word if word in ("从", "自", "由", "自从") else ""
    j = i + 1 if opener else i
    if word in listed("截止 截止到 截止至 截至 直到 到 至"):
        return _deadline(scan, i)
    first = _bound(scan, j)
    if first is None:
        return None
    joined = _joined(scan, j, first, bool(opener))
    if joined is not None:
        return joined
    if moment(scan, j) is None:
        return None
    if words[first[1]] in _SINCE:
        span = scan.nearest(first[0], i)  # 九月开始: it began lately, or it begins soon
    else:
        span = scan.settle(first[0], i, 1 if words[first[1]] in BEFORE else 0)
    if span is None:
        return None
    open_side = _side(scan, span, first[1], bool(opener))
    return open_side or (since(span) if opener == "自从" else span, first[1])


def _deadline(scan: Scan, i: int) -> tuple[Span, int] | None:
    """Parses the end of a range that is open before: 截止到2018年, 到五月为止."""
    j = scan.skip(i + 1, "到", "至")
    found = moment(scan, j)
    if found is None:
        return None
    if scan.words[i] in ("到", "至") and scan.words[found[1]] not in ("为止", *BEFORE):
        return None
    span = nearest(found[0], scan.frame) if scan.words[i] == "截至" else scan.settle(found[0], i, 1)
    return given(
        before(span, included=True) if span else None, scan.skip(found[1], "为止", "前", "之前", "以前")
    )


def _joined(scan: Scan, i: int, first: Found, opened: bool) -> tuple[Span, int] | None:
    words = scan.words
    reading, j = first
    pairing = words[j] in ("和", "与", "跟", "及")
    if words[j : j + 2] == ["一", "直"] and words[j + 2] in RANGE:
        j += 2
    elif words[j] in ("开始", "起", "一直") and words[j + 1] in RANGE:
        j += 1
    if words[j] in _TO_NOW:
        span = settle(reading, scan.frame, -1)
        return given(_until_now(scan, span) if span else None, j + 1)
    last = _bound(scan, j + 1) if words[j] in RANGE or pairing else None
    if last is None:
        return None
    target, stop = last
    named = value(words[i]) if target.grain == "month" and j == i + 1 else None
    bare = moment(scan, i) is None
    if bare and named is not None and 1 <= named <= 12:  # 一到三月
        reading = yearly(lambda number: calendar.month(number, named), "month")
    elif (
        bare
        and target.grain != "year"
        and not (target.grain == "day" and isinstance(reading, Cycle) and opened)
    ):
        return None
    counts = words[stop] in listed("个 点 人 次 岁 块 元 % 月 .")
    if moment(scan, j + 1) is None and (reading.grain != "day" or counts):
        return None
    if pairing and words[stop] not in _BETWEEN:
        return None
    end = scan.skip(scan.skip(stop, "这段"), "为止", *_BETWEEN)
    return given(scan.join(reading, target, i), end)


def _until_now(scan: Scan, span: Span) -> Span:
    now = scan.frame.now
    return replace(span, start=span.opening, end=now, edge=None, through=now, instant=False)


def _side(scan: Scan, span: Span, i: int, opened: bool) -> tuple[Span, int] | None:
    """Parses 以前, 之后, 以来, 或更早 and similar words after a moment."""
    words = scan.words
    if span.end is None:
        return None
    j = scan.skip(i, "的")
    included = words[j] in ("或", "及", "或者", "以及")
    k = j + included
    word = words[k]
    if included and word in ("更早", "更晚"):
        return (before(span, included=True) if word == "更早" else since(span)), k + 1
    if word == "为止" or (word in BEFORE and not (word == "前" and words[k + 1] in ("后", "往"))):
        return before(span, included=included or word == "为止"), k + 1
    if word in AFTER:
        nth = value(words[k + 2]) if words[k + 1] == "第" and words[k + 3] in ("天", "日") else None
        if nth is not None and span.grain == "day":
            return calendar.day(add_days(span.ends, nth - 1)), k + 4
        return (since(span) if included else after(span)), k + 1
    if word not in _SINCE:
        return None
    starts = word == "开始" and not opened and span.grain in ("hour", "minute")
    return None if starts else (since(span), scan.skip(k + 1, "算"))


def findings(text: str, frame: Frame, *, asked: bool) -> Iterator[Mention]:
    """Yields the time expressions of a text from left to right, without overlaps."""
    if _TELLTALE.search(text) is None:
        return
    scan = Scan(text, frame, asked=asked)
    words = scan.words
    i, count = 0, len(scan)
    last: tuple[Span, int] | None = None
    week: tuple[Span, int] | None = None
    while i < count:
        word = words[i]
        if word not in STARTS and value(word) is None:
            i += 1
            continue
        scan.forget()
        if word in _EVERY or word in _DAILY:
            i = _past_set(scan, i)
            continue
        found = (_listed_day(scan, i, last) or _told_from(scan, i, last)) if last else None
        found = found or (_same_week(scan, i, week) if week else None) or span_of(scan, i)
        if found is not None:
            yield Mention(scan.begins[i], scan.stops[found[1] - 1], found[0])
            last = found
            week = found if word in _OF_WEEK and not WEEKDAYS.keys().isdisjoint(words[i : found[1]]) else None
            i = found[1]
            continue
        lasting = length(scan, i)
        if lasting is not None and not (word == "一" and scan.before(i) in listed("有 同 第 哪 某")):
            if scan.before(i) != "第":
                yield Mention(scan.begins[i], scan.stops[lasting[1] - 1], None, lasting[0])
            i = lasting[1] - 1
        i += 1


def _listed_day(scan: Scan, i: int, last: tuple[Span, int]) -> tuple[Span, int] | None:
    """Parses a listed day in the month of the day before it: 6月9日、12日和14日."""
    if last[1] != i - 1 or scan.before(i) not in (*_ALSO, ",", "，"):
        return None
    found = day_of_month(scan, i)
    return given(listed_day(last, value(scan.words[i]) or 0), found[1]) if found else None


# Days that an earlier date of the text counts, as days from it.
_FROM_DATE = {"翌日": 1, "次日": 1, "隔天": 1, "隔日": 1, "当天": 0, "当日": 0, "当晚": 0}
_NEAR = 60
"""The most characters between a date and a day that it counts."""


def _told_from(scan: Scan, i: int, last: tuple[Span, int]) -> tuple[Span, int] | None:
    """Parses a day that an earlier date of the text counts: 5月3日报到，次日开工."""
    words = scan.words
    second = words[i : i + 3] == ["第", "二", "天"]
    shift = 1 if second else _FROM_DATE.get(words[i])
    day = counted_day(scan, i, last, shift, _NEAR) if shift is not None else None
    if day is None:
        return None
    return _timed(scan, part("late").on(day) if words[i] == "当晚" else day, i + (3 if second else 1))


def _timed(scan: Scan, day: Span, i: int) -> tuple[Span, int] | None:
    reading, j = _with_hours(scan, (day, i))
    return (reading, j) if isinstance(reading, Span) else None


_OF_WEEK = listed("上 下 这 本")


def _same_week(scan: Scan, i: int, last: tuple[Span, int]) -> tuple[Span, int] | None:
    """Parses a weekday in the week of the weekday before it: 下周二开会，周五交报告."""
    number = WEEKDAYS.get(scan.words[i])
    if number is None or last[0].start is None:
        return None
    between = scan.text[scan.stops[last[1] - 1] : scan.begins[i]]
    if len(between) > _NEAR or SENTENCE.search(between):
        return None
    day = in_week(last[0], number)
    ends = last[0].begins < scan.frame.today and scan.tense(i) > 0  # 上周二送修，周五会取
    if ends or day.begins <= last[0].begins:
        return None
    return _timed(scan, replace(day, sure=0.8, ambiguous=last[0].ambiguous), i + 1)


def _past_set(scan: Scan, i: int) -> int:
    """Skips a repeated time such as 每周. It names no single time."""
    words = scan.words
    if words[i] == "逢" and scan.tight(i) and scan.before(i) in _MEETING:
        return i + 1
    if words[i] in _DAILY:
        return _past_cycle(scan, i + 1)
    j = scan.skip(scan.skip(i + 1, "个", "隔"), "一")
    j = scan.skip(j, "个")
    found = span_of(scan, j)
    lasting = length(scan, scan.skip(i + 1, "隔"))
    if found is not None:
        j = found[1]
    elif lasting is not None:
        j = lasting[1]
    elif words[j] in UNITS or words[j] in PARTS:
        j += 1
    else:
        return i + 1
    while words[j] in _ALSO and words[j + 1] in WEEKDAYS:
        j += 2  # 每周三和周六
    return _past_cycle(scan, j)


def _past_cycle(scan: Scan, i: int) -> int:
    """Skips the day and the time of day of a repeated time: 三月五日 after 每年, 早上八点 after 天天."""
    dated = period(scan, scan.skip(i, "的"))
    j = dated[1] if dated and isinstance(dated[0], Cycle) else i
    timed = hours(scan, scan.skip(j, "的"))
    return timed[1] if timed is not None else j
