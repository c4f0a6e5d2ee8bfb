"""Chinese periods and offsets: 上周, 今年上半年, 2021年的第二周, 九十年代, 三年前, 两周内."""

from dataclasses import replace
from datetime import timedelta

from .. import calendar
from ..calendar import Grain, Span, add_days, add_months
from ..cycles import Reading, each, settle, weekly, yearly
from ..lengths import Length
from ..scan import Found, given, listed, packrat
from ..shares import share
from ..tables import numbers_of, values_of
from .dates import dated, day_of_month, day_word, de, holiday, named_together, numeric
from .numbers import length, neighbours, value
from .period_parts import DAYS_OF_MONTH, HALVES, SHARES, after_event, period_part
from .words import LENGTHS, SEASONS, WEEKDAYS
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
        return given(calendar.unit("half_year", frame.now, shift), j + 2)
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
    return given(scan.weekend(i), i + 1) if scan.words[i] == "周末" else None


# The approximate number of days before today that each word covers.
_VAGUE = numbers_of("chinese.vague")
# Words after a length that say what comes at its end: 还有三天就考试, 再两个月毕业.
_ARRIVES = frozenset({"就", "便", "要", "就要", "就是"})
_ENDS = ("结束", "結束", "到期", "毕业", "畢業", "退休", "开学", "開學", "放假")
_A_DAY = Length(((1, "day"),))


def _neighbour(scan: Scan, reading: Reading, i: int) -> Found | None:
    """Parses days before or after a day: 春节前三天, 圣诞节的后一天, 中秋节前一周."""
    words = scan.words
    j = de(scan, i)
    word = words[j]
    if reading.grain != "day" or word not in ("前", "后", "第", "之前", "之后"):
        return None
    if word == "第":
        if words[j + 1] != "二" or words[j + 2] != "天":
            return None
        lasting, stop, sign = _A_DAY, j + 3, 1
    else:
        found = length(scan, j + 1)
        if found is None or found[0].fine:
            return None
        lasting, stop, sign = found[0], found[1], -1 if word in ("前", "之前") else 1
    frame = scan.frame

    def beside(span: Span) -> Span:
        there = lasting.from_(span.begins, frame, sign)
        if lasting == _A_DAY:
            return replace(calendar.day(there), sure=span.sure, ambiguous=span.ambiguous)
        low, high = (there, span.begins) if sign < 0 else (add_days(span.begins, 1), add_days(there, 1))
        return replace(span, start=low, end=high, grain=lasting.grain, instant=False)

    return given(each(reading, beside, lasting.grain), stop)


@packrat
def period(scan: Scan, i: int) -> Found | None:
    """Parses the longest period at word `i`, narrowed by up to four following parts."""
    found = _root(scan, i)
    if found is None:
        return None
    for _ in range(4):
        reading, j = found
        beside = _neighbour(scan, reading, j)
        if beside is not None:
            found = beside
            continue
        k = scan.skip(de(scan, j), ",", "，") if reading.grain == "week" else de(scan, j)
        part = period_part(scan, k) if reading.grain not in ("day", "part_of_day") else None
        if part is None:
            break
        sample = settle(reading, scan.frame, -1)
        inner = part[0](sample) if sample is not None else None
        if inner is None:
            break
        narrowed = each(reading, part[0], inner.grain)
        if narrowed is None:
            break
        found = narrowed, part[1]
    return found


@packrat
def _root(scan: Scan, i: int) -> Found | None:
    best: Found | None = None
    for rule in _NUMBER_RULES if value(scan.words[i]) is not None else _WORD_RULES:
        found = rule(scan, i)
        if found is not None and (best is None or found[1] > best[1]):
            best = found
    return best


@packrat
def _rolling(scan: Scan, i: int) -> Found | None:
    """Parses a length until or from now: 过去三个月, 最近5天, 未来两周, 前1周, 后1年, 这几天, 近三年来."""
    words, frame = scan.words, scan.frame
    word = words[i]
    if word in listed("还剩 还有 剩下 再 再过 过"):
        return _left(scan, i)
    sign = {"back": -1, "ahead": 1}.get(LENGTHS.get(word, ""), 0)
    if not sign or (word in ("前", "后", "之前", "之后") and after_event(scan, i)):
        return None
    j = scan.skip(de(scan, i + 1), "这", "大约", "约")
    long = length(scan, j)
    if long is None:
        recent = Span(add_days(frame.today, -30), frame.now, "month", sure=0.4, ambiguous=True)
        return (recent, i + 1) if word in ("最近", "近来") else None
    lasting, stop = long
    count, unit = lasting.parts[0]
    if (word == "这" and count == 1) or (word in ("上", "下") and words[j] in ("半", "一")):
        return None
    if word == "前" and words[stop] == "的时候":
        return None
    stop = scan.skip(stop, "来", "以来", "内", "以内", "之内", "里", "间", "期间")
    stop = scan.skip(stop, "中")
    if unit == "quarter" and len(lasting.parts) == 1:
        return given(calendar.units("quarter", frame.now, int(count), sign), stop)
    span = lasting.rolling(frame, sign)
    return span.doubted(0.6) if word == "这" or (word in ("前", "后") and count == 1) else span, stop


def _left(scan: Scan, i: int) -> Found | None:
    """Parses a length that is left until something: 还剩5分钟, 还有三天就考试, 再过两周."""
    words, frame = scan.words, scan.frame
    long = length(scan, i + 1)
    if long is None:
        return None
    passes = words[i] in ("再过", "过")
    arrives = words[long[1]] in _ARRIVES or scan.text.startswith(_ENDS, scan.begins[long[1]])
    if passes or (arrives and words[i - 1 : i] != ["一"]):
        if passes and scan.tense(i) < 0:
            return None
        stop = scan.skip(long[1], "后", "之后", "以后") if passes else long[1]
        return given(long[0].shifted(long[0].now(frame), frame, 1), stop)
    fine = words[i] != "再" and long[0].fine and len(long[0].parts) == 1
    return (long[0].rolling(frame, 1), long[1]) if fine else None


@packrat
def _alone(scan: Scan, i: int) -> Found | None:
    """Parses a part of the present year or month: 上半年, 第一季, 月底, 年初, 下旬, 春天."""
    words, frame = scan.words, scan.frame
    word = words[i]
    if word in ("月", "年") and words[i + 1] in SHARES:
        counted = scan.tight(i) and (
            value(scan.before(i)) is not None or scan.before(i) in listed("个 半 每 整 第")
        )
        span = calendar.unit("month" if word == "月" else "year", frame.now)
        if counted or span is None:
            return None
        shared = share(span, SHARES[words[i + 1]])
        return (shared.doubted(0.85), i + 2) if shared else None
    if word in _VAGUE:
        grain: Grain = "week" if _VAGUE[word] < 14 else "month" if _VAGUE[word] < 365 else "year"
        begin = add_days(frame.today, -_VAGUE[word])
        return Span(begin, frame.now, grain, sure=0.4, ambiguous=True, vague=True), i + 1
    if word in HALVES and word not in ("上半", "下半"):
        return given(calendar.half(frame.now.year, HALVES[word]), i + 1)
    halved = word in ("上半", "下半")
    of_week = halved and words[i + 1] in ("周", "星期", "礼拜")
    if of_week or word in DAYS_OF_MONTH or (halved and words[i + 1 : i + 3] == ["个", "月"]):
        part = period_part(scan, i)
        whole = calendar.unit("week" if of_week else "month", frame.now)
        return given(part[0](whole), part[1]) if part and whole else None
    near = neighbours(word) if words[i + 1] in ("月", "月份") else None
    if near is not None and near[1] <= 12:
        return yearly(lambda number: calendar.months(number, near[0], 2, "month"), "month", 0.8), i + 2
    name = SEASONS.get(word)
    told = scan.text[max(0, scan.begins[i] - 3) : scan.begins[i]]
    if name is not None and not told.endswith(("那年", "那年的", "某年", "某年的")):
        return yearly(lambda number: calendar.season(number, name), "season", 0.75), i + 1
    quartered = _quarter(scan, i)
    if quartered is not None:
        return quartered
    number = scan.digits(i + 1, 2) if word == "第" and words[i + 2] == "周" else None
    week = calendar.iso_week(frame.now.isocalendar().year, number) if number else None
    return (week.doubted(0.6), i + 3) if week else None


def _quarter(scan: Scan, i: int) -> Found | None:
    words = scan.words
    j = scan.skip(i, "第")
    number = value(words[j])
    if words[i] == "q" and scan.digits(i + 1, 1) is not None:
        number, j, stop = scan.digits(i + 1, 1), i, i + 2
    elif words[i] == "首" and words[i + 1] in ("季", "季度"):
        number, stop = 1, i + 2
    elif number is not None and (words[j + 1] == "季度" or (j > i and words[j + 1] == "季")):
        stop = j + 2
    else:
        return None
    if number is None or not 1 <= number <= 4:
        return None
    which = number
    return yearly(lambda year_number: calendar.quarter(year_number, which), "quarter", 0.85), stop


@packrat
def _decade(scan: Scan, i: int) -> Found | None:
    """Parses a decade or a century: 九十年代, 上世纪90年代, 20世纪, 21世纪初."""
    words = scan.words
    hundred: int | None = None
    j = i
    number = value(words[i])
    if words[i] in ("上", "本", "这") and words[scan.skip(i + 1, "个")] == "世纪":
        hundred, j = scan.frame.now.year // 100 * 100 - 100 * (words[i] == "上"), scan.skip(i + 1, "个") + 1
    elif number is not None and words[i + 1] == "世纪" and 1 <= number <= 30:
        hundred, j = (number - 1) * 100, i + 2
    k = de(scan, j)
    number = value(words[k])
    if number is None or words[k + 1] != "年代":
        return given(calendar.century(hundred), j) if hundred else None
    if number % 10 == 0 and number <= 90:
        number += hundred if hundred is not None else 2000 if number <= 20 else 1900
    elif number % 10 or not 1000 <= number <= 2990 or hundred is not None:
        return None
    return given(calendar.decade(number), k + 2)


@packrat
def present(scan: Scan, i: int) -> Found | None:
    """Parses a word for now: 现在, 刚才, 马上."""
    if scan.words[i] not in listed(
        "现在 这会儿 当下 而家 依家 目前 此刻 当前 眼下 刚才 刚刚 方才 马上 立刻 如今"
    ):
        return None
    now = scan.frame.now
    return Span(now, now + timedelta(seconds=1), "second", instant=True, sure=0.8), i + 1


_NUMBER_RULES = (numeric, dated, holiday, _alone, _decade, day_of_month)
_WORD_RULES = (
    dated, day_word, named_together, relative, weekday, weekend, holiday, _rolling, _alone, _decade, present,
)  # fmt: skip


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
    if side in BEFORE or side in AFTER:
        if side == "后" and words[j + 1] in ("悔",):
            return None
        span = lasting.shifted(lasting.now(frame), frame, -1 if side in BEFORE else 1)
        if span is not None and words[i] in ("几", "数", "十几"):
            span = span.doubted(0.7)
        if span is not None and words[j + 1] == "的" and words[j + 2] in ("今天", "今日"):
            return replace(span, grain="day"), j + 3
        return (_inside(scan, span, j + 1) or (span, j + 1)) if span else None
    if side in ("内", "之内", "以内"):
        span = lasting.rolling(frame, -1 if scan.tense(i) < 0 else 1)
        ahead = not lasting.fine and span.begins > frame.today
        return (replace(span, start=frame.today) if ahead else span), j + 1  # today counts
    if side in ("来", "以来"):
        return lasting.rolling(frame, -1), j + 1
    stop = _goes_on(scan, i, long[1])
    return (lasting.lasting(frame), stop) if stop else None


def _inside(scan: Scan, span: Span, i: int) -> Found | None:
    """Parses a part of the week, month or year that a length leads to: 两周后的周末, 三年前的冬天."""
    k = scan.skip(i, "的")
    part = period_part(scan, k) if k > i or scan.words[k] in WEEKDAYS else None
    if span.grain not in ("week", "month", "year") or not span.instant or part is None:
        return None
    whole = calendar.unit(span.grain, span.begins)
    return given(part[0](whole) if whole else None, part[1])


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
