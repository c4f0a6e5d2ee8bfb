"""Makes English states of attributes: "my wifi password is …", "they moved the team meeting to 7C"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from events.language.values import word_set
from ingest.extraction.rules.attributes.known import last_known
from ingest.extraction.rules.attributes.nouns import (
    BARE_HEADS,
    GATHERINGS,
    WORDED,
    Aspect,
    english_key,
    gathers,
    takes_words,
)
from ingest.extraction.rules.drafts import StateDraft
from ingest.extraction.rules.english.grammar import is_name
from ingest.extraction.rules.english.words import LANGUAGES, NOT_NAMES, RELATIONS, TOOLS
from ingest.extraction.rules.moments import TIME
from ingest.extraction.rules.scene import Scene
from ingest.extraction.rules.sentences import HIDDEN, Sentence, hedged

_OPEN = (
    r"(?:^|[,;:] |\b(?:and|but|so|that|because|now|yeah|ok|fyi|btw|update|actually|says|says that|said),? )"
)
_OWNER = (
    rf"(?P<det>[Mm]y [a-z]+'s|[Mm]y|[Oo]ur|[Tt]he|(?!(?i:{'|'.join(sorted(BARE_HEADS))})'s)[A-Z][a-z]+'s)"
)
# "Rent is 950", "Book club moved to Fridays": a noun of an attribute needs no determiner.
_BARE = rf"(?=(?i:(?:[a-z'-]+ ){{0,2}}?(?:{'|'.join(sorted(BARE_HEADS))})\b))"
_NOUN = (
    rf"(?:{_OWNER} |{_BARE})(?P<n>(?:[\w'/&-]+ ){{0,3}}?[\w'/&-]+(?: (?:of|for|to) (?:the |my |our )?[\w'-]+"
    r"(?: (?!is\b|was\b|are\b|were\b|has\b|have\b|got\b|will\b|just\b|now\b|moved|changed|went|from\b|"
    r"to\b)[\w'-]+)?)?)"
)
_ADVERB = r"(?: now| currently| still| actually| officially| always| usually| going to be| set to| set at)*"
_VALUE = rf"(?P<v>(?:[^\s,;!?(){HIDDEN}]|(?<=\d),(?=\d))(?:[^,;!?(){HIDDEN}\n]|(?<=\d),(?=\d)){{0,60}}?)"
_STOP = (
    r"(?=$|,(?!\d)|[;!?()]|"
    r"(?<!\bDr)(?<!\bMr)(?<!\bMrs)(?<!\bMs)(?<!\bProf)(?<!\bSt)\.(?:\s|$)|"
    r"(?<!\x01)(?<! at)(?<! on)(?<! in)(?<! by)(?<! the) (?=\x01)|"
    r" (?:and|but|so|because|if|a month|a week|a year|a day|an hour|per|each|'cause|since|until|which|for "
    r"now|from now|starting|"
    r"instead of|not|by the "
    r"way|btw|these days|please|again|effective|as of|due to|after|thanks|too|though)\b| - )"
)
_PREP = (
    r"(?: (?:parked|kept|held|hosted|stored|located|scheduled|set|booked)(?= ))?(?: (?P<prep>in|at|on|unde"
    r"r|inside|near|behind|next to|by|out of|from|with))?"
)
_STATED = re.compile(
    rf"{_OPEN}{_NOUN}(?: is|'s| are|:| =| costs(?: me| us)?| meets| leaves| departs| starts| runs){_ADVERB}"
    rf"{_PREP} {_VALUE}(?P<now>,? (?:now|instead|from now on|these days))?{_STOP}"
)
_CHANGE = (
    r"(?:changed|switched|updated|reset|moved|relocated|raised|increased|lowered|reduced|cut|dropped|bumped|pushed|"
    r"postponed|delayed|rescheduled|shifted|extended|set|swapped|brought forward|upped|renamed|put up|put back|slashed|"
    r"trimmed|hiked|migrated|brought|put|bumped up|knocked)"
)
_FROM = rf"(?: (?:from )?{TIME}+| from (?P<o>(?:[^,;!?(){HIDDEN}]|(?<=\d),(?=\d)){{1,40}}?))?"
_INTO = r"(?: (?P<way>back|up|down|over|out|forward)(?: a week| a day| a month| \x01+)?)? (?:to|until|till)"
_WAS_CHANGED = re.compile(
    rf"{_OPEN}{_NOUN}(?:'s| is| was| has| have| got| been| just| now| being){{0,4}}"
    rf" (?P<verb>{_CHANGE}|went|gone|moves|changes|switches|shifts|slipped|jumped|rose|fell|climbed|"
    rf"goes){_FROM}{_INTO}"
    rf" (?:be )?{_VALUE}{_STOP}"
)
_CHANGED = re.compile(
    r"(?:^|(?<![\w'])(?:I|[Ww]e|[Tt]hey|[Ss]he|[Hh]e|[Ss]omeone|[Tt]he \w+|[A-Z]\w+|[Mm]y \w+|[Oo]ur \w+)("
    r"?:'ve| have|'d| had to|"
    r"'s| has)?"
    r"(?: just| finally| now| also| all|\x01+)* )"
    rf"(?P<verb>(?i:{_CHANGE})) (?:{_NOUN}|(?P<it>it|that|this|them)){_FROM}{_INTO} {_VALUE}{_STOP}"
)
_IT_CHANGED = re.compile(
    rf"{_OPEN}(?P<it>[Ii]t|[Tt]hat)(?:'s| is| was| has| got| been| just| now| will be| 'll be){{0,3}}"
    rf"(?: (?P<verb>{_CHANGE}|went|moves|changes){_FROM}{_INTO}| (?P<now>now){_PREP}| (?=.{{1,40}} (?:now|"
    rf"instead)\b)(?P<prep2>in|at|on)?)"
    rf" ?{_VALUE}(?: (?:now|instead))?{_STOP}"
)
_NEW = re.compile(
    rf"{_OPEN}(?:[Tt]he|[Mm]y|[Oo]ur) (?P<new>new) (?P<n>[\w'-]+(?: [\w'-]+){{0,2}}?) (?:is|:)(?: now)?{_PREP} "
    rf"{_VALUE}{_STOP}"
)
# "Changed the wifi password, it's winter77 now", "I have a new parking spot, it's C42".
_RENEWED = re.compile(
    rf"\b(?:(?:[Aa]|[Mm]y|[Oo]ur|[Tt]he) (?:new|different)|(?i:changed|switched|swapped|reset)(?: (?:my|our|the))?) "
    rf"(?P<n>[\w'-]+(?: [\w'-]+){{0,2}}?)(?:,| -|:| and)? (?:now )?(?P<link>it's|it is|that's|the new one i"
    rf"s|we're with)(?: now)?{_PREP} {_VALUE}"
    rf"(?: (?:now|instead))?{_STOP}"
)
# "I swapped my train ticket for the 9:40".
# "We're having the party at our place".
_HELD = re.compile(
    rf"(?:\b(?:[Ww]e|[Tt]hey|I)(?:'re|'m| are| am)) (?:holding|having|hosting|doing|throwing) {_NOUN}{_PREP}"
    rf" {_VALUE}{_STOP}"
)
_SWAPPED = re.compile(
    rf"(?i:\b(?:swapped|traded|exchanged|changed)) (?:my|our|the) (?P<n>[\w'-]+(?: [\w'-]+)?) for {_VALUE}{_STOP}"
)
_BEFORE = re.compile(
    r"\b(?:originally|at first|initially|used to|formerly|previously|before|back then|was|were)\b",
    re.IGNORECASE,
)
_TRIGGERS = (
    word_set(
        "my our the changed switched updated reset moved relocated raised increased lowered reduced cut dropped "
        "bumped pushed "
        "postponed delayed rescheduled shifted extended set swapped upped renamed it it's that's slashed trim"
        "med hiked migrated "
        "transferred brought put traded exchanged"
    )
    | BARE_HEADS
    | frozenset(f"{head}'s" for head in BARE_HEADS)
)
_CHANGE_WORDS = word_set(
    "changed switched updated reset moved relocated raised increased lowered reduced cut dropped bumped pushed "
    "postponed "
    "delayed rescheduled shifted extended set swapped upped renamed went gone slipped jumped rose fell climbed "
    "moves changes "
    "switches shifts goes put brought now instead slashed trimmed hiked migrated transferred traded exchanged new"
)
_HOLDING = word_set("holding having hosting doing throwing")
_COPULAS = (
    _HOLDING
    | word_set("is are it's that's costs meets leaves departs starts runs")
    | frozenset(f"{head}'s" for head in BARE_HEADS | GATHERINGS)
)
_CLOCK = re.compile(
    r"(?:around |about )?\d{1,2}(?::\d\d| ?[ap]\.?m\.?\b|:\d\d ?[ap]\.?m\.?)|noon|midnight|"
    r"(?:every )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)days?(?: (?:at )?\d{1,2}(?::\d\d)?(?: ?[ap]\.?m\.?)?)?",
    re.IGNORECASE,
)
_VEHICLES = word_set("car van truck bike motorbike scooter")
_LEVEL = re.compile(
    r"(?:level|floor|row|zone|section|bay|spot|space|deck|lot) ?[A-Z\d]+|[A-Z]\d+|(?:the )?\w+ (?:floor|level|deck)"
)
_LANGUAGES = frozenset(LANGUAGES.lower().split("|"))
_HOUR = re.compile(r"(?:the )?(?:[1-9]|1[0-2]|\d{1,2}:\d\d)")
_NOW = re.compile(r"\bnow\b")
_WITH_WAY = frozenset(("brought", "put", "knocked"))
_PLACE_NOUN = re.compile(
    r"\b(?:room|drawer|library|office|kitchen|garage|hall|caf[eé]|park|gym|studio|cent(?:re|er)|floor|building|"
    r"basement|attic|"
    r"shed|shelf|cupboard|cabinet|closet|garden|school|church|hospital|hotel|station|airport|street|avenue|road|"
    r"corner|lobby|"
    r"canteen|cafeteria|auditorium|gallery|museum|theat(?:re|er)|pub|bar|restaurant|bakery|shop|store|mall|"
    r"market|pool|court|"
    r"field|stadium|lab|ward|clinic|box|wallet|mat|table|desk|safe|hook|bowl|tin|jar|pot|upstairs|downstairs|"
    r"annex|wing|hut|"
    r"terrace|rooftop|courtyard|campus|arcade|harbou?r|beach|barn|cellar|pavilion|clubhouse|flat|house|place|alley|level|terminal|lodge|farm|inn|chapel)\b"
)
# "5% for A" and "100% legal" say more than a value.
_CODE = re.compile(
    r"(?=\S*\d)(?!\S*% )(?!.* (?:for|as|wide|long|related|correct)\b)[\w$€£¥%.,:/@#+-]+(?: [\w%-]+){0,3}$"
)
_NO_VALUE = re.compile(
    r"(?:a|an|not|no|so|very|too|really|pretty|quite|just|about|going|getting|always|never|to|that|what|how|why|"
    r"when|where|as|like|v\d+|incomplete|complete|"
    r"it|this|these|those|there|here|being|one of|all|more|less|better|worse|good|great|bad|wrong|right|broken|"
    r"dead|down|up|"
    r"off|out|over|done|ready|full|empty|open|closed|fine|ok|okay|amazing|awful|nice|hard|easy|fun|my|your|our|"
    r"their|his|her|"
    r"something|anything|nothing|zero|i|you|we|they|he|she|progress|trouble|danger|risk|hold|track|fire|time|"
    r"order|use|"
    r"charge|general|place|the (?:best|worst|same|one|only|way|main|most|first|last|next))\b",
    re.IGNORECASE,
)


# "My plan is ruined", "my commute is impossible": a quality and no value.
_QUALITY = re.compile(
    r"(?:[a-z]{2}(?:ed|ing|ble|ful|ous|ant|ent|ive|less|ally|ish)|different|same|new|old|[a-z]y)$"
)


@dataclass(frozen=True, slots=True)
class _Value:
    text: str
    aspect: Aspect
    span: tuple[int, int] | None
    exact: bool = True


def may_hold(sentence: Sentence) -> bool:
    """Returns True when the words of the sentence may state or change an attribute."""
    words = sentence.words
    if words.isdisjoint(_TRIGGERS):
        return False
    if not words.isdisjoint(_CHANGE_WORDS):
        return True
    if words.isdisjoint(_COPULAS) and not any(word.endswith("'s") for word in words):
        return False
    return not words.isdisjoint(_SHOWN) or _CAPITAL.search(sentence.plain) is not None


# A value shows itself by a digit, a capital, a place or a time, or its noun takes any word.
_SHOWN = (
    frozenset("0123456789")
    | WORDED
    | word_set("in at on under near behind noon midnight mondays fridays new")
)
_CAPITAL = re.compile(r"[a-z:,] [A-HJ-Z]")


def attributes(scene: Scene) -> Iterator[StateDraft]:
    """Yields the attributes that the sentence states or changes. Words about the past only state nothing."""
    seen: set[int] = set()
    text = scene.masked
    patterns = (
        (_RENEWED, _SWAPPED, _CHANGED, _WAS_CHANGED, _IT_CHANGED)
        if not scene.sentence.words.isdisjoint(_CHANGE_WORDS)
        else ()
    )
    named_new = (_NEW,) if "new" in scene.sentence.words else ()
    if not scene.sentence.words.isdisjoint(_HOLDING):
        named_new = (_HELD, *named_new)
    for pattern in (*patterns, *named_new, _STATED):
        for found in pattern.finditer(text):
            if found.start("v") in seen or hedged(scene.sentence, found.start(), found.start("v")):
                continue
            seen.add(found.start("v"))
            draft = _draft(found, scene, changed=pattern not in (_STATED, _HELD))
            if draft is not None:
                yield draft


def _draft(found: re.Match[str], scene: Scene, *, changed: bool) -> StateDraft | None:
    groups = found.groupdict()
    noun = re.sub(r"'s$|(?<! of)(?<! the) tickets?$", "", groups.get("n") or "")
    if noun[:1].isupper() and "det" in groups and groups["det"] is None and not noun[:2].isupper():
        noun = noun[:1].lower() + noun[1:]
    announced = (
        changed
        or bool(groups.get("now"))
        or _NOW.search(found[0], 0, found.start("v") - found.start()) is not None
    )
    if (groups.get("verb") or "").lower() in _WITH_WAY and not groups.get("way"):
        return None
    value = _value(found, scene, noun)
    # "Set the range to 5" is an order to the assistant.
    if (
        value is None
        or _ORDER.match(found[0])
        or (_BEFORE.search(scene.masked[found.start() : found.start("v")]) and not changed)
    ):
        return None
    if groups.get("it"):
        known = last_known(scene, value.aspect, value.text)
        if known is None and value.aspect == "value" and (groups.get("verb") or "").lower() in _MOVES:
            value = replace(value, aspect="place")
            known = last_known(scene, "place", value.text)
        if known is None:
            return None
        return StateDraft(
            entity=known.entity, key=known.key, value=value.text, span=found.span(), announced=True, kind=known.kind,
            cardinality="single_value", tags=("attribute",), value_span=value.span,
            content=_content(known.kind or known.key, value, groups, None),
        )  # fmt: skip
    bare = "det" in groups and groups["det"] is None
    if bare and noun.lower().split(" ")[-1].removesuffix("'s") not in BARE_HEADS:
        return None
    owner = groups.get("det") or "my"
    entity = _entity(owner, scene)
    key = english_key(noun, value.aspect, shared=owner.lower() == "the" and not (announced and value.exact))
    if entity is None or key is None:
        return None
    if key in ("deadline", "project_deadline", "due_date"):
        entity, key = "project", "deadline"
    if key in ("launch_time", "release_time"):
        entity, key = "project", "release_date"
    return StateDraft(
        entity=entity,
        key=key,
        value=value.text,
        span=found.span(),
        announced=announced,
        kind=noun,
        cardinality="single_value",
        tags=("attribute",),
        value_span=value.span,
        content=_content(noun, value, groups, None if entity == scene.owner == "user" else entity),
        confidence=0.85,
        impersonal=(bare or owner.lower() == "the") and not announced and not gathers(noun, chinese=False),
    )


def _entity(owner: str, scene: Scene) -> str | None:
    if owner.lower() in ("my", "our", "the"):
        return scene.owner
    name = owner.removesuffix("'s")
    if name.lower().startswith("my "):
        kin = name[3:]
        if kin not in RELATIONS:
            return None
        return kin if scene.owner == "user" else f"{scene.owner}'s {kin}"
    return name if is_name(name, first=True) else None


def _content(noun: str, value: _Value, groups: dict[str, str | None], entity: str | None) -> str:
    prep = f"{groups.get('prep') or 'in'} " if value.aspect == "place" else ""
    whose = f"{entity}'s {noun}" if entity is not None else f"The {noun}"
    return f"{whose} is {prep}{value.text}"


# "Dr. Amari at the clinic in Leeds": the person, without the place.
_TITLED = re.compile(
    r"(?P<who>(?:Dr|Mr|Mrs|Ms|Prof)\.? [A-Z][\w'-]*(?: [A-Z][\w'-]*){0,2})(?: (?:at|from|in|of|over|who) .*)?$"
)


def _value(found: re.Match[str], scene: Scene, noun: str) -> _Value | None:
    """Returns the value when it is a time, a place, a number, a code, a name, or a word that the noun takes."""
    masked, words = found["v"], scene.said(found, "v")
    groups = found.groupdict()
    verb = (groups.get("verb") or "").lower()
    begin = found.start("v")
    words = re.sub(r" (?:now|instead)$", "", words)
    if (titled := _TITLED.match(words)) is not None:
        words = titled["who"]
    if not words or len(words.split(" ")) > 6 or _NO_VALUE.match(words) or "not" in words.split(" "):
        return None
    if TIME in masked:
        if words.startswith("for "):
            return None
        first, last = masked.index(TIME), masked.rindex(TIME) + 1
        rest = (masked[:first] + masked[last:]).strip()
        if rest and not re.fullmatch(
            r"(?:on|at|in|the|around|about|by|of|s|mornings|afternoons|evenings|nights|\d{1,2}(?::\d\d)?|at \d{1,2"
            r"}(?::\d\d)?| )+",
            rest,
        ):
            return None
        return _Value(re.sub(r"^(?:on|at|in|by|to|until) ", "", words), "time", (begin, begin + len(masked)))
    if _CLOCK.fullmatch(words) or (
        _HOUR.fullmatch(words) and gathers(noun, chinese=False) and groups.get("prep") in (None, "at")
    ):
        return _Value(words, "time", (begin, begin + len(masked)))
    parts = words.removeprefix("the ").split(" ")
    named = all(word[:1].isupper() and word.lower() not in NOT_NAMES for word in parts)
    room = _room(words)
    local = (
        named
        or (room and re.match(r"(?:the|an?|our|my|room|floor|level|terminal|row|[A-Z\d])", words) is not None)
        or bool(_CODE.match(words))
    )
    if groups.get("prep") == "with":
        return _Value(words, "value", None) if named and takes_words(noun) else None
    if groups.get("prep") in ("in", "on", "from") and (words.lower() in TOOLS or words.lower() in _LANGUAGES):
        return None  # "the class is in Python"
    if (noun.lower() in _VEHICLES) and not _LEVEL.match(words):
        return None
    if groups.get("prep") or groups.get("prep2"):
        return _Value(words, "place", None) if local else None
    gathering = gathers(noun, chinese=False)
    if verb in _MOVES and local and not _amount(words) and (gathering or room or not _CODE.match(words)):
        return _Value(words, "place" if verb != "switched" or gathering else "value", None)
    if gathering:
        return _Value(words, "place", None) if local and not _amount(words) else None
    if _CODE.match(words) or named:
        return _Value(words, "value", None)
    if verb in ("moved", "relocated", "moves"):
        return None  # "moved the sofa to the window"
    plain = len(parts) <= 3 and _QUALITY.search(words) is None
    if plain and (verb or (takes_words(noun) and len(parts) <= 2)):
        return _Value(words, "value", None, exact=False)
    return None


_ORDER = re.compile(r"(?:set|cut|reset)\b", re.IGNORECASE)
_MOVES = word_set("moved relocated moves shifted shifts switched")


def _room(words: str) -> bool:
    return _PLACE_NOUN.search(words) is not None


def _amount(words: str) -> bool:
    return re.match(r"[$€£¥]|\d[\d.,]*(?:%|$| (?!st\b|nd\b|rd\b|th\b)[a-z]+)", words) is not None
