"""Corrections in the same conversation: "sorry, I meant Kaohsiung", 打錯了，是高雄."""

import re

from events.language.concepts import normalise_value
from events.language.quoted import HIDDEN
from ingest.extraction.rules.drafts import DialogueState, KnownState, StateDraft
from ingest.extraction.rules.sentences import Sentence
from ingest.extraction.rules.values import SHORT, TIME

# A point or a comma belongs to the value in "St. Gallen" and "1,450".
_INNER = rf"\b{SHORT}(?= \w)|(?<=\d)[.,](?=\d)"
_VALUE = rf"(?:{_INNER}|[^\s,.;:!?()\"“”{HIDDEN}])(?:{_INNER}|[^,.;:!?()\"“”{HIDDEN}\n]){{0,40}}?"
_MARK = r"(?:sorry|oops|wait|typo|correction|my mistake|scratch that|no)"
_MARK_ZH = "(?:打错|说错|讲错|写错|口误|更正|不对|抱歉|不好意思)(?:了|字了?|一下)?"
_IT_IS = r"(?:it's|it is|it should be|should be|make that|that's)"
_STOP = r"(?=$|[;:!?]|[.,](?!\d))"
_RIGHT = re.compile(
    rf"\W*(?:{_MARK}[,.:!-]* )*?(?:(?:actually,? )?I meant?(?: to (?:say|write|type))?|{_IT_IS}|"
    rf"(?:no,? wait|scratch that|typo|correction)[,:!]+) "
    rf"(?P<v>{_VALUE})(?:{_STOP}|(?= not ))(?:,? (?:and )?(?:not|instead of) (?P<o>{_VALUE}){_STOP})?",
    re.IGNORECASE,
)
_VALUE_ZH = rf"[^，,。！!?？；;、\s的了{HIDDEN}]{{1,16}}?"
_RIGHT_ZH = re.compile(
    rf"\W*(?:{_MARK_ZH}[，,！!。：: ]*)*(?:我?不是(?P<o>{_VALUE_ZH})[，, ]*而?)?(?:我?应该是|我是[说指]|我的意思是|是)"
    rf"(?P<v>{_VALUE_ZH})(?:才对|啦|喔|哦|啊)?(?=$|[，,。！!?？；;\s了])"
)
_MARKED = re.compile(rf"\W*(?:{_MARK}\b|I meant?\b|{_MARK_ZH})", re.IGNORECASE)
_ANNOUNCED = re.compile(rf"\W*+(?:{_MARK}[,.!: -]*+)+$|\W*{_MARK_ZH}\W*$", re.IGNORECASE)
# "I meant that …", "I meant to call": a clause and no right value.
_NO_VALUE = re.compile(
    r"(?:I|we|you|he|she|they|it|my|our|that|this|the|there|not|to|for|by)\b", re.IGNORECASE
)
_LEAD = re.compile(r"^(?:in|at|to|on|from|住在|搬到|在|到)\s?(?=\S)")
_REACH = 6
_LONGEST = 5  # words


def announces(sentence: Sentence) -> bool:
    """Returns True when the sentence only announces a correction. The next sentence then has the right value."""
    return _ANNOUNCED.fullmatch(sentence.plain) is not None


def marks(sentence: Sentence) -> bool:
    """Returns True when the sentence begins as a correction, so that a fact in it corrects the one told before."""
    return _MARKED.match(sentence.plain) is not None


def correction(sentence: Sentence, masked: str, told: DialogueState) -> StateDraft | None:
    """Returns the earlier state with the right value, or None when no earlier value has its shape. A time is none."""
    found = (_RIGHT_ZH if sentence.chinese else _RIGHT).match(masked)
    if found is None or TIME in found["v"]:
        return None
    value = _LEAD.sub("", sentence.raw[slice(*found.span("v"))].strip())
    old = sentence.raw[slice(*found.span("o"))] if found["o"] else None
    if not value or len(value.split(" ")) > _LONGEST or _NO_VALUE.match(value):
        return None
    known = _corrected(told, value, old)
    if known is None:
        return None
    return StateDraft(
        entity=known.entity, key=known.key, value=value, span=found.span(), statement="corrected", corrects=known,
        kind=known.kind,
    )  # fmt: skip


def _corrected(told: DialogueState, value: str, old: str | None) -> KnownState | None:
    """Returns the last state with the value ``old``, or with a value of the shape of ``value``."""
    for known in reversed(told.states[-_REACH:]):
        if known.event.statement == "ended" or known.event.value_at is not None:
            continue
        said = normalise_value(known.key, known.value)
        if said == normalise_value(known.key, value):
            continue
        if (
            normalise_value(known.key, old) == said
            if old is not None
            else _shape(value) == _shape(known.value)
        ):
            return known
    return None


def _shape(value: str) -> str:
    """Returns the kind of a value. A name corrects a name, and a number a number."""
    if not value.isascii():
        return "cjk"
    if any(each.isdigit() for each in value):
        return "number"
    return "name" if value[:1].isupper() and not value.rsplit(" ", maxsplit=1)[-1].islower() else "word"
