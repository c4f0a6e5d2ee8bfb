"""Chinese numbers and lengths of time."""

import re
from functools import lru_cache

from ..lengths import Length
from ..numerals import chinese
from ..scan import Scan, listed, packrat
from .words import UNITS

_DIGITS = {sign: number for number, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_TENS = {"十": 10, "百": 100, "千": 1000}


@lru_cache(maxsize=4096)
def value(word: str) -> int | None:
    """Returns the number that a word writes: "23", "廿三", "一百二十三", "二〇一六". None for any other word."""
    if word.isdecimal() and word.isascii():
        return int(word) if len(word) <= 9 else None
    return chinese(word) if len(word) <= 12 else None


def positional(word: str) -> bool:
    """True when the word writes a number digit by digit, as in years and telephone numbers."""
    return word.isdecimal() or all(c in _DIGITS for c in word)


@lru_cache(maxsize=4096)
def neighbours(word: str) -> tuple[int, int] | None:
    """Returns the two amounts in a word such as 三四, 十二三 or 二三十; None for any other word."""
    base = 10 if len(word) == 3 and word[0] == "十" else 0
    tens = 10 if len(word) == 3 and word[2] == "十" else 1
    pair = [_DIGITS.get(c, 0) for c in (word[1:] if base else word[:2])]
    if len(word) != (3 if base or tens > 1 else 2) or pair[0] == 0 or pair[1] != pair[0] + 1:
        return None
    return base + pair[0] * tens, base + pair[1] * tens


_PAIRING = listed("- ~ – — 到 至 或")
# Two numbers before these units are dates and clock times, unless a direction follows.
_DATED = listed("月 日 时 分 季 年 周")
# Words before and after which 日 or 月 counts: 近四月, 过去十日, 五日内, 四日后.
_COUNTING = listed("近 最近 过去 未来 今后 接下来 往后 随后")
_COUNTED = listed("内 之内 以内 后 之后 以后 前 之前 以前 来 以来 间")
_DUE = re.compile(r"要|得|须|须|必|请|請|交|缴|繳|截止|到期|完成|前往")


def _pair(scan: Scan, i: int) -> tuple[float, float, int] | None:
    """Parses two amounts of one unit: 三四天, 2-3个月, 三到五天前. Returns both, and the word of the unit."""
    words = scan.words
    near = (3, 5) if words[i] == "三五" else neighbours(words[i])
    if near is not None:
        return (*near, i + 1) if words[i + 1] in UNITS or words[i + 1] == "个" else None
    low, high, j = value(words[i]), value(words[i + 2]), i + 3
    if words[i + 1] not in _PAIRING or low is None or high is None or not low < high < 100:
        return None
    counts = words[j] in UNITS and (words[j] not in _DATED or words[j + 1] in _COUNTED)
    return (low, high, j) if counts or words[j] == "个" else None


@packrat
def number(scan: Scan, i: int) -> tuple[float, int] | None:
    """Parses an amount: "3", "2.5", "两", "几", "半", "十几"."""
    words, word = scan.words, scan.words[i]
    if word in ("几", "数"):
        tens = _TENS.get(words[i + 1])
        return (
            (3.0 * tens, i + 2) if tens and (words[i + 2] in UNITS or words[i + 2] == "个") else (3.0, i + 1)
        )
    if word == "半":
        return 0.5, i + 1
    found = value(word)
    if found is None:
        return None
    if words[i + 1] == "." and scan.tight(i + 1) and scan.tight(i + 2) and scan.digits(i + 2, 4) is not None:
        return float(f"{found}.{words[i + 2]}"), i + 3
    uncertain = words[i + 1] in ("几", "多", "来") and (words[i + 2] in UNITS or words[i + 2] == "个")
    return float(found), i + 1 + uncertain


def _spread(scan: Scan, i: int, j: int) -> int:
    """Returns the spread of the amount in words `i` to `j`: 几年, 十几年, 几十年, 二十多年."""
    words = scan.words
    if words[i] in ("几", "数"):
        return _TENS.get(words[i + 1], 1) if j > i + 1 else 1
    amount = value(words[i]) or 0
    return 10 if words[j - 1] in ("几", "多", "来") and j > i + 1 and amount % 10 == 0 and amount >= 10 else 0


def _counts_days(scan: Scan, i: int, j: int) -> bool:
    """True when the 日 at word `j` counts days, and is no day of the month."""
    words, last, after = scan.words, scan.before(i), scan.words[j + 1]
    if words[i] in ("几", "数", "两") or last in _COUNTING or after in ("内", "之内", "以内", "间"):
        return True
    if after not in _COUNTED or last in listed("月 - / 的 至 到"):
        return False
    if (value(words[i]) or 0) > 31 or after not in ("前", "之前", "以前"):
        return True
    return scan.tense(i) <= 0 and _DUE.search(scan.text[scan.stops[j + 1] : scan.stops[j + 1] + 8]) is None


@packrat
def _single(scan: Scan, i: int) -> tuple[Length, int] | None:
    words = scan.words
    if scan.before(i) in ("-", "~") and scan.tight(i) and i >= 2 and words[i - 2].isdecimal():
        return None  # the end of a range of amounts: "2-3秒后"
    if words[i] in ("一刻", "三刻") and words[i + 1] == "钟":
        return Length(((15 if words[i] == "一刻" else 45, "minute"),)), i + 2
    pair = _pair(scan, i)
    many = pair[1:] if pair else number(scan, i)
    if many is None:
        return None
    count, j = many
    counted = words[j] == "个"
    if counted:
        j += 1
        if words[j] == "半":
            count, j = count + 0.5, j + 1
        j = scan.skip(j, "多")
    unit = words[j]
    if (counted and unit in listed("日 时 分 晚")) or (unit == "日" and not _counts_days(scan, i, j)):
        return None
    if unit == "月" and not (counted or words[i] in ("半", "两") or scan.before(i) in _COUNTING):
        return None  # 三月 is March
    name = UNITS.get(unit)
    if name is None:
        return None
    j += 1
    if (
        name == "year"
        and not counted
        and (words[i][0] in "0零〇" or (count >= 1000 and positional(words[i])))
    ):
        return None
    if name == "day" and count == 0.5 and words[j] != "半":
        name, count = "hour", 12
    if name in ("xun", "quarter_hour"):
        name, count = ("day", count * 10) if name == "xun" else ("minute", count * 15)
    if words[j] == "半" and name in listed("year day month week hour"):
        count, j = count + 0.5, j + 1
    elif words[j] == "多":
        j += 1
    least = pair[0] * count / pair[1] if pair else None
    return Length(((count, name),), _spread(scan, i, many[1]), least), j


@packrat
def length(scan: Scan, i: int) -> tuple[Length, int] | None:
    """Parses a length of time: "两年", "三个半月", "8天又二十个小时". A lone "20时" or "5日" is not a length."""
    one = _single(scan, i)
    if one is None or scan.words[one[1] - 1] in ("时", "分"):
        return None
    total, j = one
    while True:
        k = scan.skip(j, "又", "零", "加", "和", "外加")
        more = _single(scan, k)
        if more is None or scan.words[k] == "半" or more[0].parts[0][1] == total.parts[-1][1]:
            return total, j
        total, j = total + more[0], more[1]
