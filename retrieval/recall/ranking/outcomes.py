"""Questions about what helped: an attempt that worked answers "what helped?", and one that failed does not."""

from __future__ import annotations

import re
from collections.abc import Collection

from events.language.chinese_script import to_simplified

ANSWERS, CONTRARY = 1.5, 0.6
_READ = 500
_FAILED = re.compile(
    r"\b(?:didn'?t|did not|doesn'?t|does not|hasn'?t|has not|haven'?t|have not|never|not) (?:\w+ )?"
    r"(?:help|helped|work|worked)\b|\bfailed\b|\bwithout success\b"
    r"|(?:没|没有|无|不)(?:什么)?(?:用|效|效果|帮助|帮上忙)",
    re.IGNORECASE,
)
_WORKED = re.compile(
    r"\b(?:what|which|anything|something|that|who|how)\b[^.?!]{0,80}\b(?:help|helps|helped|work|works|worked|relieved?|"
    r"eased?|improved?)\b|(?:有帮助|有用|有效|见效|帮到|帮上忙|改善)",
    re.IGNORECASE,
)


def outcome_asked(question: str) -> str | None:
    """Returns the tag of the attempts that ``question`` asks for, ``"worked"`` or ``"failed"``, or None."""
    text = to_simplified(question[:_READ]).replace("’", "'")
    if _FAILED.search(text):
        return "failed"
    return "worked" if _WORKED.search(text) else None


def outcome_factor(question: str, tags: Collection[str]) -> float:
    """Returns the factor of a card with ``tags``: above 1 when the question asks for such an attempt."""
    if "attempt" not in tags or "problem" not in tags or (asked := outcome_asked(question)) is None:
        return 1.0
    if asked in tags:
        return ANSWERS
    return CONTRARY if ("failed" if asked == "worked" else "worked") in tags else 1.0
