"""Corrections in the same conversation: "sorry, I meant Kaohsiung", 打錯了，是高雄."""

import re

from events.language.concepts import normalise_value
from events.language.quoted import HIDDEN
from ingest.extraction.rules.drafts import DialogueState, KnownState, StateDraft
from ingest.extraction.rules.sentences import Sentence
from ingest.extraction.rules.values import SHORT, TIME

# A point or a comma belongs to the value in "St. Gallen" and "1,450".
_INNER = rf"\b{SHORT}(?= \w)|(?<=\d)[.,](?=\d)"
_WORDS = rf"(?:{_INNER}|[^\s,.;:!?()\"“”{HIDDEN}])(?:{_INNER}|[^,.;:!?()\"“”{HIDDEN}\n]){{0,40}}?"
_STOP = r"(?=$|[;:!?]|[.,](?!\d))"
_NOT = rf"(?:,? (?:and )?(?:not|instead of|rather than) (?P<o>{_WORDS}){_STOP})?"
_MARK = r"(?:sorry|oops|whoops|wait|typo|correction|my bad|my mistake|scratch that|strike that|i misspoke|no)"
_SURE_MARK = r"(?:no,? wait|scratch that|typo|correction|I misspoke)"
_MEANT = re.compile(
    rf"(?:^|[,;.!] )(?:{_MARK}[,.:!-]* )*(?:(?:actually,? )?I meant?(?: to (?:say|write|type))?|{_MARK}[,.:!-]+ "
    rf"(?:it's|it is|it should be|should be|make that|that's|that should be|it was)|{_SURE_MARK}[,:!]+) "
    rf"(?P<v>{_WORDS})(?:{_STOP}|(?= not )){_NOT}",
    re.IGNORECASE,
)
_ANNOUNCED = re.compile(
    rf"\W*+(?:{_MARK}[,.!: -]*+)+$|\W*(?:啊|欸|抱歉|不好意思|，| )*(?:打错|说错|讲错|写错|弄错|口误|更正|"
    rf"不对)(?:了|字了?|一下)?\W*$",
    re.IGNORECASE,
)
_AFTER = re.compile(
    rf"(?:it's|it is|it should be|should be|that's|make it) (?P<v>{_WORDS})(?=$|[;:!?]|\.(?!\d)|, not | not ){_NOT}",
    re.IGNORECASE,
)
_V_ZH = rf"[^，,。！!?？；;、\s的了{HIDDEN}]{{1,16}}?"
_STOP_ZH = r"(?:才对|啦|喔|哦|啊|才是)?(?=$|[，,。！!?？；;\s了])"
_MEANT_ZH = re.compile(
    rf"(?:(?:打错|说错|讲错|写错|弄错|记错|口误|笔误|更正|不对|错了|抱歉|不好意思)(?:了|字了?|一下)?[，,！!。：: ]*"
    rf"(?:我?不是(?P<o>{_V_ZH})[，, ]*而?)?(?:我?应该是|我是(?:说|要说|指)|我的意思是|是指|是|"
    rf"正确是))(?P<v>{_V_ZH}){_STOP_ZH}"
)
_AFTER_ZH = re.compile(rf"(?:应该)?是(?P<v>{_V_ZH}){_STOP_ZH}(?P<o>)")
# "I meant that …", "I meant to call": a clause and no right value.
_NO_VALUE = re.compile(
    r"(?:I|we|you|he|she|they|it|my|our|that|this|there|not|to|for|by|change|make|move)\b", re.IGNORECASE
)
_LEAD = re.compile(r"^(?:in|at|to|on|the|from|住在|搬到|在|到)\s?(?=\S)")
_DATED = frozenset(("release_date", "deadline", "birthday"))
_DAY_ALONE = re.compile(r"(?:on )?the \d{1,2}|(?:on )?(?:the )?\d{1,2}(?:st|nd|rd|th|[日号])", re.IGNORECASE)
_REACH = 6
_LONGEST = 5  # words


def announces(sentence: Sentence) -> bool:
    """Returns True when the sentence only announces a correction. The next sentence then has the right value."""
    return _ANNOUNCED.fullmatch(sentence.plain) is not None


def marks(sentence: Sentence) -> bool:
    """Returns True when the sentence begins as a correction, so that a fact in it corrects the one told before."""
    return (
        re.match(
            rf"\W*(?:{_MARK}|抱歉|打错|说错|讲错|写错|更正|不对)(?:\b|[，,了])", sentence.plain, re.IGNORECASE
        )
        is not None
    )


def right_value(sentence: Sentence, masked: str, *, announced: bool) -> re.Match[str] | None:
    """Returns the words that give the right value, ``v``, and perhaps the wrong one, ``o``.

    "It's the 4th" gives none: it leaves the month open.
    """
    found = (_MEANT_ZH if sentence.chinese else _MEANT).search(masked)
    if found is None and announced:
        found = (_AFTER_ZH if sentence.chinese else _AFTER).match(masked)
    return None if found is None or _DAY_ALONE.fullmatch(sentence.plain, *found.span("v")) else found


def correction(sentence: Sentence, found: re.Match[str], told: DialogueState) -> StateDraft | None:
    """Returns the earlier state with the corrected value, or None when no earlier value has its shape.

    A time that is no value corrects when the state began, if the conversation told it last.
    """
    value = _LEAD.sub("", sentence.raw[slice(*found.span("v"))].strip())
    old = sentence.raw[slice(*found.span("o"))] if found["o"] else None
    if not value or len(value.split(" ")) > _LONGEST or _NO_VALUE.match(value):
        return None
    dated = TIME in found["v"]
    known = corrected(told, value, old, dated=dated)
    if known is not None:
        return StateDraft(
            entity=known.entity, key=known.key, value=value, span=found.span(), statement="corrected", corrects=known,
            kind=known.kind, value_span=found.span("v") if dated else None,
        )  # fmt: skip
    begun = _told_last(told) if dated else None
    if begun is None:
        return None
    return StateDraft(
        entity=begun.entity, key=begun.key, value=begun.value, span=found.span("v"), statement="corrected",
        corrects=begun, kind=begun.kind, timed=True,
    )  # fmt: skip


def _told_last(told: DialogueState) -> KnownState | None:
    """Returns the last state with the time that it began, unless the conversation told another time after it."""
    states = [known for known in told.states[-_REACH:] if known.event.time_resolved]
    last = next((event.occurred_at_hint for event in reversed(told.events) if event.time_resolved), None)
    if not states or (last is not None and states[-1].event.occurred_at_hint != last):
        return None
    return states[-1]


def corrected(told: DialogueState, value: str, old: str | None, *, dated: bool) -> KnownState | None:
    """Returns the last state that ``value`` corrects: the one with the value ``old``, or one with a value of its
    shape.
    """
    for known in reversed(told.states[-_REACH:]):
        of_a_day = known.key in _DATED or known.event.value_at is not None
        if known.event.statement == "ended" or of_a_day != dated:
            continue
        if normalise_value(known.key, known.value) == normalise_value(known.key, value):
            continue
        if old is not None:
            if normalise_value(known.key, old) == normalise_value(known.key, known.value):
                return known
        elif value.isascii() == known.value.isascii() and _shape(value) == _shape(known.value):
            return known
    return None


def _shape(value: str) -> str:
    """Returns the kind of a value. A name corrects a name, and a number a number."""
    if not value.isascii():
        return "cjk"
    if any(each.isdigit() for each in value):
        return "number"
    return "name" if value[:1].isupper() and not value.rsplit(" ", maxsplit=1)[-1].islower() else "word"
