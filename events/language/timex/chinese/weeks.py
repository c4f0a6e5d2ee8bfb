"""Chinese units relative to the present one, weekdays and weekends: 上周, 下下个月, 这个星期三."""

from events.language.timex.tables import values_of

from .. import calendar
from ..calendar import Span, add_days, add_months
from ..cycles import weekly
from ..lengths import Length
from ..scan import given, listed, packrat
from .dates import Found
from .words import WEEKDAYS
from .words import ChineseScan as Scan

_SHIFTS = {"今": 0, "上": -1, "下": 1, "这": 0, "本": 0, "当": 0, "该": 0, "同": 0}
_MOST_SHIFTS = 9
_KINDS = values_of("chinese.kinds")


@packrat
def relative(scan: Scan, i: int) -> Found | None:  # noqa: C901, PLR0912 - one branch a form of the expression
    """Parses a unit relative to the present one: 上周, 下下个月, 这个星期三, 本季度."""
    words, frame = scan.words, scan.frame
    word = words[i]
    far = word == "大" and words[i + 1] in ("上", "下") and words[i + 2] in ("周", "星期", "礼拜", "个")
    if far:  # 大上周 is the week before 上周
        i, word = i + 1, words[i + 1]
    shift = _SHIFTS.get(word)
    if shift is None:
        return None
    shift *= 2 if far else 1
    j = i + 1
    while words[j] == word and word in ("上", "下") and j - i < _MOST_SHIFTS:
        shift += _SHIFTS[word]
        j += 1
    if words[j] == "一" and words[j + 1] in listed("个 周 季 季度 年 世纪 小时 分钟 秒 钟头"):
        j += 1
    counted = words[j] == "个"
    if word == "今" and not counted:
        return None
    j += counted
    name = words[j]
    if name in WEEKDAYS:
        return near_weekday(scan, i, WEEKDAYS[name], shift), j + 1
    if name == "半" and words[j + 1] == "年":
        half = frame.now.month > 6
        span = calendar.half(frame.now.year, 1 + half)
        if shift:
            span = calendar.unit("half_year", frame.now, shift)
        return given(span, j + 2)
    if counted or words[j - 1] == "一":
        unit = {"小时": "hour", "钟头": "hour", "分钟": "minute", "秒": "second", "秒钟": "second"}.get(name)
        if unit is not None and shift:
            return Length(((1, unit),)).rolling(frame, shift), j + 1
        if name == "工作日" and shift:
            return calendar.day(calendar.add_working_days(frame.today, shift)), j + 1
    kind = _KINDS.get(name)
    if kind is None:
        return None
    if name == "年" and not (counted or words[j - 1] == "一" or word in ("这", "本", "当", "该", "上")):
        text = scan.text
        if shift != 1 or text[scan.begins[i] - 1 : scan.begins[i]] in listed("乡 地 楼 天 门 手 脚 之 以"):
            return None
        if text[scan.stops[j] : scan.stops[j] + 1] in tuple("味货糕夜轻级龄纪关终假"):
            return None
    if words[i : i + 2] == ["当", "年"]:
        return None
    span = calendar.unit(kind, frame.now, shift)
    if span is None:
        return None
    if word in ("该", "同", "当"):
        span = span.doubted(0.4)
    stop = scan.skip(j + 1, "的")
    if kind in ("week", "month") and words[stop] in ("今天", "今日"):
        there = add_days(frame.today, 7 * shift) if kind == "week" else add_months(frame.today, shift)
        return calendar.day(there), stop + 1
    return span, j + 1


def near_weekday(scan: Scan, i: int, weekday: int, shift: int) -> Span:
    """Returns the weekday of a week that Monday begins, with the other reading where there is one.

    Some calendars begin the week on Sunday, so 上周日 and every weekday told on a Sunday have a second reading. On a
    Sunday 这周五 is ahead when the sentence is about the future.
    """
    today = scan.frame.today
    counted = calendar.day(add_days(calendar.week_start(today), 7 * shift + weekday))
    if (today.weekday() == 6) == (weekday == 6):
        return counted
    if weekday == 6:
        other = calendar.day(add_days(calendar.week_start(today), 7 * shift - 1))
    else:
        other = calendar.day(add_days(today, 7 * shift + weekday + 1))
    if shift == 0 and weekday != 6 and scan.tense(i) > 0:
        return other.or_else(counted, 0.8)
    return counted.or_else(other, 0.85)


@packrat
def weekday(scan: Scan, i: int) -> Found | None:
    number = WEEKDAYS.get(scan.words[i])
    if number == 5 and scan.words[i + 1] == "日" and scan.words[i + 2] not in ("出", "落", "光"):
        span = calendar.unit("weekend", scan.frame.now, -1 if scan.tense(i) < 0 else 0)
        return (span.doubted(0.75), i + 2) if span else None
    return (weekly(number), i + 1) if number is not None else None


@packrat
def weekend(scan: Scan, i: int) -> Found | None:
    if scan.words[i] != "周末":
        return None
    back = scan.tense(i) < 0 and scan.frame.now.weekday() < 5
    span = calendar.unit("weekend", scan.frame.now, -1 if back else 0)
    return (span.doubted(0.75), i + 1) if span else None
