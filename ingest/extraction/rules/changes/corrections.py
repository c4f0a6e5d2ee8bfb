"""Corrections in the same conversation: "typo, I meant Kaohsiung", 打錯了，是高雄."""

from __future__ import annotations

import re
from collections.abc import Iterable

from events.language.chinese_script import to_simplified
from events.language.concepts import normalise_value
from events.types.cards import EventNoted
from ingest.extraction.rules.chinese.words import CITIES
from ingest.extraction.rules.drafts import EventDraft, KnownState, StateDraft
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Scene
from ingest.extraction.rules.sentences import HIDDEN

_CLOCK = r"\d{1,2}:\d\d(?: ?[ap]\.?m\b\.?)?"
_WORDS = rf"{_CLOCK}|[^\s,.;:!?()\"“”{HIDDEN}][^,.;:!?()\"“”{HIDDEN}\n]{{0,40}}?"
_STOP = r"(?=$|[,.;:!?()\"”]| not | instead\b| rather than )"
_MARK = (
    r"(?:\b(?:sorry|oops|whoops|wait|typo|correction|my bad|my mistake|scratch that|misspoke|no no|strike "
    r"that)\b[^a-z0-9A-Z]{1,4}"
    r"(?:(?:actually|no|wait|typo|sorry|oops|my bad|that should be|"
    r"that's|that was a typo|wait|not [\w' ]{1,30}?)[^a-z0-9A-Z]{1,3}){0,2})"
)
_CORRECTION = re.compile(
    rf"(?:{_MARK}(?:I (?:meant|mean)(?: to (?:say|write|type))?|I misspoke|it's|its|it is|it was|it should "
    r"be|should be|make that|that's)?|"
    r"(?:^|[,;] |\b(?:and|but) )(?:actually,? )?I (?:meant|misspoke,? I meant)(?: to (?:say|write|type))?|"
    r"^(?:correction|typo):|\bmake that\b)"
    rf",?:? (?P<v>{_WORDS}){_STOP}(?:,? (?:not|instead of|rather than) (?P<o>{_WORDS})(?=$|[,.;:!?]))?",
    re.IGNORECASE,
)
_BARE_MARK = re.compile(
    r"^(?:oops|whoops|typo|sorry,? typo|my bad|my mistake|correction|scratch that|wait,? no|sorry,? wrong|"
    r"i misspoke)\W*$",
    re.IGNORECASE,
)
_FIRST_OF_MARK = frozenset("oOwWtTsSmMcCiI")
_AFTER_MARK = re.compile(
    rf"^(?:it's|it is|it should be|should be|that's|it should say|make it) (?P<v>{_WORDS}){_STOP}(?:,? not "
    rf"(?P<o>{_WORDS})(?=$|[,.;:!?]))?",
    re.IGNORECASE,
)

_V_ZH = rf"[^，,。！!?？；;、\s的了{HIDDEN}]{{1,16}}?"
_CORRECTION_ZH = re.compile(
    rf"(?:(?:打错|说错|讲错|写错|弄错|记错|搞错|口误|笔误|更正|不对|错了|抱歉|不好意思)(?:了|字了?|一下)?"
    rf"[，,！!。：: ~]*(?:(?:我)?不是(?P<o>{_V_ZH})[，, ]*(?:而)?)?"
    rf"(?:我?应该是|我是(?:说|要说|指)|我的意思是|是指|是|改成|正确是|要改成)"
    rf"|(?:^|，)我(?:的意思是|是要说|是想说|是说)"
    rf"|(?:^|，)不是(?P<o2>{_V_ZH})[，,]\s?(?:而)?是)(?P<v>{_V_ZH})(?:才对|啦|喔|哦|啊|才是)?(?=$|[，,。！!?？；;\s了])"
)
_BARE_MARK_ZH = re.compile(
    r"^(?:啊|欸|诶|抱歉|不好意思|，| )*(?:打错|说错|讲错|写错|弄错|口误|笔误|更正|不对)(?:了|字了?|一下)?\W*$"
)
_AFTER_MARK_ZH = re.compile(
    rf"^(?:应该)?是(?P<v>{_V_ZH})(?:才对|啦|喔|哦|啊)?(?=$|[，,。！!?？；;\s了])(?P<o>)"
)

_DATED = frozenset(("release_date", "deadline", "birthday", "meeting"))
_LEAD = re.compile(r"^(?:in|at|to|for|on|the|from|住在|搬到|在|到)\s?(?=\S)")
_REACH = 6


def announces(plain: str, chinese: bool) -> bool:
    """Returns True when the sentence only announces a correction. The next sentence then has the right value."""
    if chinese:
        return _BARE_MARK_ZH.match(plain) is not None
    return plain[:1] in _FIRST_OF_MARK and _BARE_MARK.match(plain) is not None


def correction(scene: Scene, *, announced: bool) -> Iterable[StateDraft | EventDraft]:
    """Yields the earlier state and the earlier event with the corrected words. Yields nothing when none fits.

    ``announced`` is true when the sentence before announced a correction. A bare "it's X" then is a correction too.
    """
    text = scene.masked
    found = (_CORRECTION_ZH if scene.sentence.chinese else _CORRECTION).search(text)
    if found is None and announced:
        found = (_AFTER_MARK_ZH if scene.sentence.chinese else _AFTER_MARK).match(text)
    if found is None:
        return
    value = _LEAD.sub("", scene.said(found, "v")).strip()
    groups = found.groupdict()
    old = next((scene.said(found, group) for group in ("o", "o2") if groups.get(group)), None)
    if not value or len(value.split(" ")) > 5 or _NO_VALUE.match(value):
        return
    yield from _corrected_event(scene, found, value, old)
    correction = _corrected_state(scene.earlier(), value, old, TIME in found["v"])
    if correction is not None:
        yield StateDraft(
            entity=correction.entity,
            key=correction.key,
            value=value,
            span=found.span(),
            statement="corrected",
            corrects=correction,
            kind=correction.kind,
        )


# "Sorry, I misunderstood", "I meant that …": a clause and no right value.
_NO_VALUE = re.compile(r"(?:I|we|you|he|she|they)\b|(?:it|that|this|there|not)\b(?! \w+$)", re.IGNORECASE)

_CLOCK_SAID = re.compile(
    rf"{_CLOCK}|\b\d{{1,2}} ?[ap]\.?m\b\.?|"
    r"(?:凌晨|清晨|早上|上午|中午|下午|傍晚|晚上|半夜|深夜)?[0-9一二三四五六七八九十兩两]{1,3}[點点:：](?:半|整|[0-9一二三四五六七八九十]{1,3}分?)?"
)
_WHERE = re.compile(
    r"\b(?:to|in|at|for|from|around|near) (?P<v>[A-Z][\w'-]+(?: [A-Z][\w'-]+)*)"
    rf"|[去到在往飛飞回](?P<z>{CITIES})"
)


def _corrected_event(scene: Scene, found: re.Match[str], value: str, old: str | None) -> Iterable[EventDraft]:
    """Yields the last event that the correction mends: its time of day, its time, its place, or the words it names."""
    for event in reversed(scene.told().events[-_REACH:]):
        told = event.content.removeprefix(f"{scene.owner}: ").removeprefix(f"{scene.owner}：")
        mended = _mended(
            told, event, value, old, is_time=TIME in found["v"] or bool(_CLOCK_SAID.fullmatch(value))
        )
        if mended is not None and mended != told and event.status in ("planned", "happened"):
            yield EventDraft(
                entity=event.entity,
                key=event.concept_key or "activity",
                span=found.span(),
                content=mended,
                importance=event.importance,
                status="corrected",
                replaces=told,
                corrects=event,
            )
            return


def _mended(told: str, event: EventNoted, value: str, old: str | None, *, is_time: bool) -> str | None:
    if old is not None:
        return told.replace(old, value, 1) if old in told else None
    if is_time:
        clock, said = _CLOCK_SAID.fullmatch(value), _CLOCK_SAID.search(told)
        if clock is not None:
            return f"{told[: said.start()]}{value}{told[said.end() :]}" if said is not None else None
        hint = event.occurred_at_hint
        return told.replace(hint, value, 1) if hint and hint in told else None
    places = list(_WHERE.finditer(to_simplified(told)))
    if (
        not places
        or value.isascii() != (places[-1]["v"] is not None)
        or not (value[:1].isupper() or _CITY.fullmatch(to_simplified(value)))
    ):
        return None
    begin, stop = places[-1].span("v" if places[-1]["v"] is not None else "z")
    return f"{told[:begin]}{value}{told[stop:]}"


_CITY = re.compile(rf"(?:{CITIES})[市县縣省]?")


def _corrected_state(
    earlier: list[KnownState], value: str, old: str | None, dated: bool
) -> KnownState | None:
    for known in reversed(earlier[-_REACH:]):
        if known.event.statement == "ended" or (known.key in _DATED) != dated:
            continue
        if normalise_value(known.key, known.value) == normalise_value(known.key, value):
            continue
        if old is not None:
            if normalise_value(known.key, old) == normalise_value(known.key, known.value):
                return known
            continue
        if value.isascii() == known.value.isascii() and _shape(value) == _shape(known.value):
            return known
    return None


def _shape(value: str) -> str:
    """Returns the kind of a value. A correction has the same kind as the value it corrects: a name corrects a name."""
    if not value.isascii():
        return "cjk"
    return (
        "digit"
        if value[:1].isdigit()
        else "name"
        if value[:1].isupper() and not value.rsplit(" ", maxsplit=1)[-1].islower()
        else "word"
    )
