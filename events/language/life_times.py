"""Finds the times of a life: "when I was ten", "back in college", 小時候. No calendar tells when they were."""

import re

_WHO = r"(?:I|we|she|he|they|(?:my|our) \w+)"
_AGE = (
    r"(?:\d+|[a-z]+teen|[a-z]+ty|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|"
    r"(?:an? )?(?:little |small |young )?(?:child|kid|baby|toddler|boy|girl|teen|teenager|student)|"
    r"children|kids|little|small|young|younger|(?:in|at) (?:\w+ )?(?:school|college|university|kindergarten))"
)
_ENGLISH = re.compile(
    rf"\b(?:when|while) {_WHO} (?:was|were) (?:just |only |still |about |around )*{_AGE}\b(?: years? old)?"
    r"|\bas an? (?:little |small |young )?(?:child|kid|toddler|boy|girl|teen|teenager|student)\b"
    r"|\b(?:back )?in (?:my|our) (?:childhood|youth|teens|twenties|thirties|forties|school days|college days)\b"
    r"|\bback in (?:(?:high|primary|middle|elementary|grad) school|school|college|university|the day)\b"
    r"|\b(?:a (?:long )?while|a long time|long|years|ages|decades) ago\b",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"[\d一二三四五六七八九十两兩]{1,3}[岁歲](?:的?时候|的?時候|那年|时|時)|小时候|小時候|童年|年轻时|年輕時|年轻的时候|年輕的時候"
    r"|(?:大学|大學|高中|国中|國中|初中|小学|小學)(?:的?时候|的?時候|时期|時期|那年)|(?:很久|多年)(?:以前|之前|前)"
)
_BEFORE = re.compile(
    r"(?:\d+|few|several|some|many|couple of|two|three|four|five|six|seven|eight|nine|ten) $", re.IGNORECASE
)


def life_time(text: str) -> tuple[int, int] | None:
    """Returns the place of the first time of a life in ``text``, or None."""
    for found in _ENGLISH.finditer(text):
        if not found[0].lower().endswith(" ago") or _BEFORE.search(text, 0, found.start()) is None:
            return found.span()
    found_zh = None if text.isascii() else _CHINESE.search(text)
    return None if found_zh is None else found_zh.span()
