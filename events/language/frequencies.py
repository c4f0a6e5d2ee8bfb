"""How often something is done: the words of a frequency, in English and Chinese. All functions are pure."""

import re

_UNIT = r"(?:day|week|month|year|night|morning|afternoon|evening|weekday|weekend)"
_TIMES = r"(?:once|twice|(?:\d{1,2}|two|three|four|five|six|seven|several|a few) times)"
_ENGLISH = re.compile(
    rf"(?P<what>.+?),? (?P<often>(?:almost )?(?:{_TIMES} (?:(?:a|an|per|each|every) {_UNIT}|daily|weekly|monthly)|"
    rf"every (?:other |second |single )?(?:{_UNIT}|(?:mon|tues|wednes|thurs|fri|satur|sun)day)|"
    r"daily|weekly|monthly|nightly|regularly))",
    re.IGNORECASE,
)
_CHINESE = re.compile(
    r"(?P<often>每(?:[天日晚周週月年]|[个個]?星期|[个個]月)(?:[一二两兩三四五六七八九十\d]+次|[一二三四五六日天](?!次)|[早晚]上?)?)"
    r"(?P<what>.+)"
)


def with_frequency(text: str) -> tuple[str, str] | None:
    """Returns (activity, frequency): "walk daily" and 每天散步 have both. None: the text names no frequency."""
    found = _ENGLISH.fullmatch(text.strip()) or _CHINESE.fullmatch(text.strip())
    return None if found is None else (found["what"].strip(), found["often"].strip())
