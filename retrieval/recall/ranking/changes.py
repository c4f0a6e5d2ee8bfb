"""What a text tells beside its topic: a change, a withdrawal, how things were before, and amounts.

The words are the ordinary verbs and phrases of English and Chinese. Any text is allowed, and the time is linear in its
length.
"""

from __future__ import annotations

import re

from events.language.chinese_script import has_cjk, to_simplified
from events.language.claims.claim import UNITS, amount
from events.language.terms import stem

_CHANGE = (
    re.compile(
        r"\b(?:chang(?:ed|es|ing)|moved|switched|swapped|replaced|rescheduled|postponed|delayed|extended|shortened|"
        r"pushed (?:back|out|to|forward)|brought forward|raised|increased|lowered|reduced|decreased|dropped|cut|bumped|"
        r"upgraded|downgraded|updated|revised|adjusted|grown|grew|went (?:up|down)|down to|up to|"
        r"from \S+ to|instead(?! of being)|no longer|not any ?more|as of now|new(?:ly)?|now(?! that\b))\b"
    ),
    re.compile(
        r"改成|改到|改为|改在|改用|改名|换成|换到|换了|延到|延后|延长|推迟|提前|调到|调高|调低|调整|涨到|升到|降到|减到|加到|增加到|"
        r"缩短|搬到|变成|变为|更新|后来|不再|取消|现在|目前|新的"
    ),
)
_WITHDRAWAL = (
    re.compile(
        r"\b(?:(?:is|are|was|were|has been|have been|had been) (?:now |since )?"
        r"(?:withdrawn|retracted|revoked|void(?:ed)?|invalid(?:ated)?|obsolete)"
        r"|no longer (?:accurate|valid|correct|true|current|appl(?:y|ies)|holds?)|disregard)\b"
    ),
    re.compile(r"作废|作罢|撤回|撤销|失效|无效|不再(?:有效|准确|正确|适用|成立)|不算数"),
)
_BEFORE = (
    re.compile(
        r"\b(?:originally|initially|at first|in the beginning|at the (?:start|beginning|outset)|to begin with|used to|"
        r"formerly|previously|had (?:planned|intended|hoped|meant|wanted))\b"
    ),
    re.compile(r"原本|原先|原来|本来|起初|起先|最初|当初|一开始|刚开始|以前|曾经"),
)
_DATED = re.compile(
    r"\b\d{4}-\d{1,2}(?:-\d{1,2})?\b|\b\d{1,2}[:/]\d{1,2}\b|\b\d{1,2} ?[ap]\.?m\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? \d{1,2}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\b"
    r"|\d{1,4}[年月点][\d年月日号点分]*"
)
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_CHINESE_UNIT = "|".join(sorted((unit for unit in UNITS if has_cjk(unit)), key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?P<sign>[$€£¥])?(?<![a-z\d.,-])(?P<n>{_NUMBER})(?:\s?(?:-|–|to|or|到|至)\s?(?P<most>{_NUMBER}))?\s?"
    rf"(?P<thousands>[万千])?(?P<unit>%|[a-z]+|{_CHINESE_UNIT}|[\u4e00-\u9fff]?)"
)
_SIGNS = {"$": "dollar", "€": "euro", "¥": "元", "£": "pound"}
_TIMES = {None: 1, "千": 1_000, "万": 10_000}


def tells_of_a_change(text: str) -> bool:
    """True when ``text`` tells of a change."""
    return _holds(_CHANGE, text)


def withdraws(text: str) -> bool:
    """True when ``text`` says that something told before does not hold. It tells nothing that holds instead."""
    return _holds(_WITHDRAWAL, text)


def tells_of_before(text: str) -> bool:
    """True when ``text`` tells how things were at first, and of no change since."""
    return _holds(_BEFORE, text) and not tells_of_a_change(text)


def amounts(text: str) -> dict[str, frozenset[str]]:
    """Returns the amounts that ``text`` tells, by what is counted: money, a share, hours, "nodes".

    Dates and times of day are left out. They tell when something happens, and another one is often another happening.
    """
    found: dict[str, set[str]] = {}
    for match in _AMOUNT.finditer(_DATED.sub(" ", to_simplified(text.casefold()))):
        unit = _SIGNS.get(match["sign"] or "", match["unit"])
        number = float((match["most"] or match["n"]).replace(",", "")) * _TIMES[match["thousands"]]
        kind, value = amount(number, unit) if unit in UNITS else (stem(unit), f"{number:g}")
        found.setdefault(kind, set()).add(value)
    return {kind: frozenset(values) for kind, values in found.items()}


def _holds(patterns: tuple[re.Pattern[str], re.Pattern[str]], text: str) -> bool:
    english, chinese = patterns
    if english.search(text.casefold()):
        return True
    return has_cjk(text) and chinese.search(to_simplified(text)) is not None
