"""Numbers of every notation: 3, three, third, 三, 1,000, $1.5k, 2萬. Every reader of numbers uses this module."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

_TEENS = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen "
    "seventeen eighteen nineteen"
)
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
NUMBERS = {word: number for number, word in enumerate(_TEENS.split())}
NUMBERS |= {word: 20 + 10 * number for number, word in enumerate(_TENS.split())} | {"fourty": 40}
_NTHS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth "
    "fifteenth sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS = {word: number for number, word in enumerate(_NTHS.split(), 1)} | {"thirtieth": 30, "fortieth": 40}
MAGNITUDES = {"hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "trillion": 10**12}
_COUNTS = {
    "once": 1, "single": 1, "twice": 2, "couple": 2, "pair": 2, "both": 2, "double": 2, "thrice": 3, "triple": 3,
    "dozen": 12, "nil": 0,
}  # fmt: skip
# Words that are often no number. Alone, such a word may bear out a number, but states none.
_LOOSE = frozenset("zero one first once second single couple pair both double triple twice nil".split())  # noqa: SIM905
_SHORT = {"k": 1_000, "m": 10**6, "bn": 10**9}

_DIGITS = {
    sign: number for number, signs in enumerate(("零〇", "一", "二两兩", *"三四五六七八九")) for sign in signs
}
_STEPS = {"十": 10, "百": 100, "千": 1_000, "廿": 20, "卅": 30}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}
CHINESE = "".join((*_DIGITS, *_STEPS, *_LARGE))
"""The Chinese characters that write numbers."""
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)}
_TOKEN = re.compile(
    r"(?P<sign>(?:[A-Z]{1,3}(?=\$))?[$€£¥₩])?\s?"
    r"(?P<digits>\d{1,3}(?:,\d{3})+(?!\d)(?:\.\d{1,9})?|\d{1,18}(?:\.\d{1,9})?)"
    rf"(?:\s?(?P<scale>(?:k|m|bn|{'|'.join(MAGNITUDES)})\b|[百千]?[万萬亿億]|[百千]))?"
    rf"|(?P<han>[{CHINESE}]+)|(?P<word>[a-z]+)",
    re.IGNORECASE,
)


_NTH = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text, from `begin` to `stop` in code points, with its sign of currency and its scale.

    `written` is the number before its scale: 1.5 of "1.5k". `loose` is True for a word that often is no number
    ("second"), and for a letter that need not be a scale ("5m"). `ordinal` is True for third, 3rd and 第三.
    """

    begin: int
    stop: int
    value: float
    written: float
    currency: str = ""
    loose: bool = False
    ordinal: bool = False


def numbers(text: str) -> list[Number]:
    """Returns the numbers of a text from left to right. A scale belongs to its number: "$1.2 million", 3萬."""
    if not text.isascii():
        text = text.translate(_WIDE)
    tokens = [
        token for token in _TOKEN.finditer(text) if token["word"] is None or token["word"].lower() in _KNOWN
    ]
    words = [(token["word"] or "").lower() for token in tokens]
    return list(_numbers(text, tokens, [*words, "", ""]))


_KNOWN = frozenset({*NUMBERS, *ORDINALS, *MAGNITUDES, *_COUNTS, "and"})


def is_number_word(word: str) -> bool:
    """Returns True when a Latin word in lower case is a number or part of a number."""
    return (word in _KNOWN or word in _SHORT) and word != "and"


def _numbers(text: str, tokens: Sequence[re.Match[str]], words: list[str]) -> Iterator[Number]:
    i = 0
    while i < len(tokens):
        token, j = tokens[i], i + 1
        begin, stop = token.span()
        begin += len(token[0]) - len(token[0].lstrip())
        if token["digits"] is not None:
            written = float(token["digits"].replace(",", ""))
            scale = token["scale"] or ""
            factor = _SHORT.get(scale.lower()) or MAGNITUDES.get(scale.lower()) or chinese(scale) or 1
            loose = scale.lower() in ("k", "m") and not token["sign"]
            nth = _NTH.match(text, stop) is not None or text[begin - 1 : begin] == "第"
            yield Number(begin, stop, written * factor, written, token["sign"] or "", loose, nth)
        elif token["han"] is not None:
            number = float(chinese(token["han"][:24]) or 0)
            nth = text[begin - 1 : begin] == "第"
            yield Number(begin, stop, number, number, loose=number <= 1, ordinal=nth)
        elif words[i] in _COUNTS:
            yield Number(
                begin, stop, float(_COUNTS[words[i]]), float(_COUNTS[words[i]]), loose=words[i] in _LOOSE
            )
        else:
            run = i + 1  # the words of one number have only blanks and hyphens between them
            while run < len(tokens) and not text[tokens[run - 1].end() : tokens[run].start()].strip(" -"):
                run += 1
            found = spelled([*words[i:run], "", ""], 0)
            if found is not None:
                j = i + found[1]
                loose = found[1] == 1 and words[i] in _LOOSE
                nth = words[j - 1] in ORDINALS
                yield Number(
                    begin, tokens[j - 1].end(), float(found[0]), float(found[0]), loose=loose, ordinal=nth
                )
        i = j


def spelled(words: Sequence[str], i: int, *, ordinals: bool = True) -> tuple[int, int] | None:
    """Parses a number in English words at word `i`. Returns it and the next word. Two empty words end `words`."""
    total = group = last = 0
    j = i
    while True:
        word = words[j]
        value = NUMBERS.get(word)
        if value is not None:
            if last == 1 or (last == 10 and not 1 <= value <= 9):
                break
            group, last = group + value, 10 if value >= 20 else 1
        elif word in MAGNITUDES and j > i:
            if word == "hundred":
                group = max(group, 1) * 100
            else:
                total, group = total + group * MAGNITUDES[word], 0
            last = 0
        elif ordinals and word in ORDINALS and last != 1 and (last == 0 or ORDINALS[word] < 10):
            return total + group + ORDINALS[word], j + 1
        elif (
            word == "-"
            and last == 10
            and 0 < (NUMBERS.get(words[j + 1]) or ORDINALS.get(words[j + 1], 0)) < 10
        ):
            pass
        elif not (word == "and" and j > i and words[j - 1] in MAGNITUDES and words[j + 1] in NUMBERS):
            break
        j += 1
    return (total + group, j) if j > i else None


@lru_cache(maxsize=4096)
def chinese(word: str) -> int | None:
    """Returns the number of Chinese numerals: 廿三, 一百二十三, 两万五, 二〇一六. None for any other word."""
    if not word or len(word) > 24:
        return None
    if all(sign in _DIGITS for sign in word):
        return int("".join(str(_DIGITS[sign]) for sign in word))
    total = section = digit = 0
    last = 1
    for sign in word:
        if sign in _DIGITS:
            digit = _DIGITS[sign]
            last = 1 if sign in "零〇" else last
        elif sign in _STEPS:
            step = _STEPS[sign]
            section, digit, last = (
                section + (step if step in (20, 30) else (digit or 1) * step),
                0,
                step // 10,
            )
        elif sign in _LARGE:
            total, section, digit = (total + section + digit or 1) * _LARGE[sign], 0, 0
            last = _LARGE[sign] // 10
        else:
            return None
    return total + section + digit * (last if last > 1 and word[-2:-1] in "百千万萬亿億" else 1)
