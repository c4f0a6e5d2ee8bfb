"""What a text tells beside its topic: a change, a withdrawal, how things were before, amounts, times and places.

The words are the ordinary verbs and phrases of English and Chinese. Any text is allowed, and the time is linear in its
length.
"""

from __future__ import annotations

import re

from events.language.chinese_script import has_cjk, to_simplified
from events.language.claims.chinese import chinese_number
from events.language.claims.claim import UNITS, amount
from events.language.terms import stem

_BRIEF, _BRIEF_CHINESE = 120, 50  # characters
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
_BRIEF_CHANGE = (
    re.compile(
        r"\b(?:rename[ds]?|rebooked|relocated|transferred|shifted|pushed|pushing|cancell?ed|scrap(?:ped)?|ditched|"
        r"put (?:up|down) to|put .{1,30} (?:up|down|back) to|stepped down|broke up|broken up|split up|divorced|"
        r"retired|resigned|quit|graduated|gave up|given up|jumped ship|turns out|from now on|these days|from here on|"
        r"(?:have|has|'ve|'s) (?:started|stopped|finished|left|sold)|off to|out of hospital|back (?:to|from)|over to|"
        r"(?:going|went|gone) with|settled on|opted for|upped|joined|left (?:the|my|his|her|our|their)|moved out|"
        r"just (?:started|began|switched|got|bought)|more (?:days|weeks|months))\b"
    ),
    re.compile(
        r"改[约订去吃学买由叫天]|换[人去]|延误|延期|顺延|提早|挪[到去]|移[到去]|调走|涨[租价]|升职|降价|掉到|砍到|搬[去家进出]|"
        r"转[到去学院]|现改|如今|最近改|分手|离婚|订婚|结婚了|出院|住院了|离职|辞职|辞掉|退[休出掉]|毕业|跳槽|卖了|停[了掉]|戒[了掉]|"
        r"算了|还是.{1,20}好了|生了|从今天起|从这[周个]|以后都|改[^变善进]{1,6}了|不[^要是知会能可行好错过了]{1,4}了|多给|准我|"
        r"(?<![全最刷创更])新(?![闻鲜颖年竹北加])"
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
_CORRECTION = (
    re.compile(
        r"^\W*(?:(?:oh|ah|lol|ok|okay|hmm|omg|ugh|haha|hey|so|and|but|yeah)\W+){0,3}"
        r"(?:(?:no,? )?wait\b(?! for| until| till| and see)|no,? (?:sorry|actually|it|its|i|not)\b|actually\b|"
        r"sorry\b(?! (?:to|for|about|if|i'm|im)\b)|oops\b|whoops\b|my bad\b|my mistake\b|correction\b|"
        r"scratch that\b|make (?:that|it)\b|i (?:meant|mean|misread|misspoke)\b|nope\b|typo\b|turns out\b)"
        r"|\b(?:wait,? no|no,? (?:wait|sorry)|scratch that)\b"
        r"|\bi (?:was wrong|misread|got (?:that|it) wrong|mixed (?:it|them|that) up)\b"
    ),
    re.compile(
        r"^\W*(?:啊|欸|诶|哦|喔|呃|嗯|咦)*[，,… ]*"
        r"(?:等等|等一下|等下|不对|抱歉|对不起|其实是|说错|讲错|记错|看错|打错|写错|搞错|弄错)"
        r"|[说讲记看打写搞弄]错了?|更正|修正|我是说|不是[^，。,]{1,12}[，,]\s?(?:而)?是|改[成到在为]"
    ),
)
_DATED = re.compile(
    r"\b\d{4}-\d{1,2}(?:-\d{1,2})?\b|\b\d{1,2}[:/]\d{1,2}\b|\b\d{1,2} ?[ap]\.?m\b"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? \d{1,2}\b"
    r"|\b\d{1,2}(?:st|nd|rd|th)? (?:of )?(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\b"
    r"|\d{1,4}[年月点][\d年月日号点分]*"
)
_TIME_WORD = re.compile(
    r"\b(?:mon|tues?|wed(?:nes)?|thur?s?|fri|sat(?:ur)?|sun)(?:day)?s?\b"
    r"|\b(?:january|february|march|april|june|july|august|september|october|november|december)\b"
    r"|\b(?:in|to|until|till|by|for) may\b|\b(?:next|this) (?:week|month|year|spring|summer|autumn|fall|winter)\b"
    r"|\b(?:today|tomorrow|tonight|noon|midnight)\b|[今明后]天|[今明后]年|下个?(?:周|月|星期|礼拜)|月底|年底|[春夏秋冬]天"
    r"|(?:周|星期|礼拜)[一二三四五六日天]|[周礼]?[上下中]午|早上|晚上|凌晨|傍晚|[一二三四五六七八九十两\d]{1,3}[点月号日]半?"
)
_PLACE = re.compile(
    r"\b(?:at|in|on|to|from|inside|near|off|level|floor|room|terminal|gate|venue|location) \S"
    r"|[在到去往于回][^了过]|[楼层室厅]|场地|地点|[改换][订约在成]|[搬移挪]"
)
_NUMBER = r"(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?"
_CHINESE_UNIT = "|".join(sorted((unit for unit in UNITS if has_cjk(unit)), key=len, reverse=True))
_AMOUNT = re.compile(
    rf"(?P<sign>[$€£¥])?(?<![a-z\d.,-])(?P<n>{_NUMBER})(?:\s?(?:-|–|to|or|到|至)\s?(?P<most>{_NUMBER}))?\s?"
    rf"(?P<thousands>[万千])?(?P<unit>%|[a-z]+|{_CHINESE_UNIT}|[\u4e00-\u9fff]?)"
)
# Longer runs of numerals are cut: no real amount has more, and a number of hundreds of them is no float.
_CHINESE_NUMBER = re.compile(
    r"[一二三四五六七八九十两][一二三四五六七八九十百千万两零〇]{1,12}|[二三四五六七八九十两](?![明心])|一(?=[岁块元次楼顿餐颗粒杯碗份])"
)
_NUMBER_WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
_ENGLISH_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS.split(), 1)}
_ENGLISH_NUMBERS |= {
    "twenty": "20",
    "thirty": "30",
    "forty": "40",
    "fifty": "50",
    "once": "1 times",
    "twice": "2 times",
}
_ANY_NUMBER = re.compile(r"\d|[一二三四五六七八九十百千万两]")
_ENGLISH_NUMBER = re.compile(rf"\b(?:{'|'.join(_ENGLISH_NUMBERS)})\b(?!-)")
_SIGNS = {"$": "dollar", "€": "euro", "¥": "元", "£": "pound"}
_TIMES = {None: 1, "千": 1_000, "万": 10_000}


def tells_of_a_change(text: str) -> bool:
    """True when ``text`` tells of a change.

    Some words tell of a change in a brief text ("Ken left the team") and of many other things in a long one.
    """
    return _holds(_CHANGE, text) or corrects(text) or (is_brief(text) and _holds(_BRIEF_CHANGE, text))


def is_brief(text: str) -> bool:
    """True for a text of one or two sentences. It is then about one thing."""
    return len(text) <= (_BRIEF_CHINESE if has_cjk(text) else _BRIEF)


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
    undated = _TIME_WORD.sub(" ", _DATED.sub(" ", to_simplified(text.casefold())))
    read = _CHINESE_NUMBER.sub(lambda match: f"{chinese_number(match[0]):.0f}", undated)
    read = _ENGLISH_NUMBER.sub(lambda match: _ENGLISH_NUMBERS[match[0]], read)
    for match in _AMOUNT.finditer(read):
        unit = _SIGNS.get(match["sign"] or "", match["unit"])
        number = float((match["most"] or match["n"]).replace(",", "")) * _TIMES[match["thousands"]]
        kind, value = amount(number, unit) if unit in UNITS else (stem(unit), f"{number:g}")
        found.setdefault(kind, set()).add(value)
    return {kind: frozenset(values) for kind, values in found.items()}


def has_number(term: str) -> bool:
    """True for a term with a digit or a Chinese numeral."""
    return _ANY_NUMBER.search(term) is not None


def moments(text: str) -> frozenset[str]:
    """Returns the times that ``text`` names, as they are written: dates, weekdays, times of day."""
    folded = to_simplified(text.casefold())
    return frozenset(match[0] for each in (_DATED, _TIME_WORD) for match in each.finditer(folded))


def names_a_place(text: str) -> bool:
    """True when ``text`` has a word that leads a place: "at", "to", 在, 到."""
    return _PLACE.search(to_simplified(text.casefold())) is not None


def corrects(text: str) -> bool:
    """True for a brief text that mends what was said just before: "no wait, Tuesday", 不對，是禮拜二."""
    return is_brief(text) and not text.rstrip().endswith(("?", "？")) and _holds(_CORRECTION, text)


def _holds(patterns: tuple[re.Pattern[str], re.Pattern[str]], text: str) -> bool:
    english, chinese = patterns
    if english.search(text.casefold()):
        return True
    return has_cjk(text) and chinese.search(to_simplified(text)) is not None
