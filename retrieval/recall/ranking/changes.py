"""Decides if a text tells of a change: the ordinary verbs and phrases of changing, in English and Chinese."""

from __future__ import annotations

import re

from events.language.chinese_script import has_cjk, to_simplified

_ENGLISH = re.compile(
    r"\b(?:chang(?:ed|es|ing)|moved|switched|swapped|replaced|rescheduled|postponed|delayed|extended|shortened|"
    r"pushed (?:back|out|to|forward)|brought forward|raised|increased|lowered|reduced|decreased|dropped|cut|bumped|"
    r"upgraded|downgraded|updated|revised|adjusted|grown|grew|went (?:up|down)|down to|up to|"
    r"from \S+ to|instead(?! of being)|no longer|not any ?more|as of now|new(?:ly)?|now)\b"
)
_CHINESE = re.compile(
    r"改成|改到|改为|改在|改用|改名|换成|换到|换了|延到|延后|延长|推迟|提前|调到|调高|调低|调整|涨到|升到|降到|减到|加到|增加到|"
    r"缩短|搬到|变成|变为|更新|后来|不再|取消|现在|目前|新的"
)


def tells_of_a_change(text: str) -> bool:
    """True when ``text`` tells of a change. Any text is allowed; the time is linear in its length."""
    if _ENGLISH.search(text.casefold()):
        return True
    return has_cjk(text) and _CHINESE.search(to_simplified(text)) is not None
