"""Grounds the states of a model."""

import re
from dataclasses import replace
from datetime import datetime
from uuid import UUID

from events.language import timex
from events.language.chinese_script import has_cjk, to_simplified
from events.language.concepts import (
    Concept,
    all_concepts,
    canonical_key,
    concept,
    default_cardinality,
    normalise_entity,
    normalise_value,
)
from events.language.values import word_set
from events.types.cards import Cardinality, StateAsserted, origin_of
from events.types.turn_contract import local_said_at
from events.types.turns import TurnRecorded
from ingest.extraction.claude.grounding.evidence import Evidence
from ingest.extraction.claude.grounding.quotes import QuoteInContext, SpokenTime
from ingest.extraction.claude.grounding.spoken import (
    LESS_SURE,
    SURE,
    Grounded,
    as_spoken,
    content_of,
    entity_of,
    ground,
)
from ingest.extraction.claude.known_labels import KnownLabels
from ingest.extraction.claude.moments import deadline
from ingest.extraction.claude.schema import StateFound
from ingest.extraction.extractor_port import Relation
from ingest.extraction.known_cards import KnownFact
from ingest.extraction.rules.moments import Moment

_PERSONAL = frozenset(("person", "home", "body", "work", "education", "family", "preference", "tools"))
"""Categories whose aliases are common words. "location" of a person is the residence, of a shop it is no residence."""
_THING = word_set(
    "store shop company business restaurant cafe bar bakery studio house apartment flat building room office school "
    "factory farm garden car bike van truck boat phone laptop computer app website project product book film movie "
    "song album show game team club band class course event meeting party wedding trip report paper thesis cake dish "
    "recipe ticket hotel museum park beach city town village country gym"
)
_THING_CJK = re.compile(
    r"(?:店|铺|公司|餐厅|咖啡馆|酒吧|工作室|房子|房屋|公寓|套房|大楼|办公室|工厂|农场|花园|车|船|手机|电脑|网站|项目|专案|产品"
    r"|书|电影|歌|专辑|节目|游戏|团队|球队|社团|乐团|课|班|活动|会议|派对|婚礼|旅行|报告|论文|蛋糕|菜|食谱|票|饭店|酒店|民宿|博物馆"
    r"|公园|海滩|学校|健身房)$"
)
_PEOPLE = frozenset(
    word
    for one in all_concepts()
    if one.category in ("family", "social") or one.key in ("manager", "colleague", "subordinate")
    for name in (one.key, *one.aliases)
    for word in name.casefold().split("_")
) | word_set("man woman guy lady girl boy person people parents sisters brothers student nurse user")
_WORD = re.compile(r"[a-z0-9]+")
_NOT_WORD = re.compile(r"[\W_]+")


def key_of(name: str, entity: str) -> str:
    """Returns the concept key of a state about ``entity``, in snake_case and never empty.

    A key that is a common word for a fact of persons keeps its own meaning when ``entity`` is a thing: the location of
    a shop is its ``shop_location`` and not a residence.
    """
    key = canonical_key(name)
    known = concept(key)
    own = _NOT_WORD.sub("_", to_simplified(name.strip()).casefold()).strip("_")
    if known is None or own == key or known.category not in _PERSONAL:
        return key
    thing = _thing(entity)
    if thing is None:
        return key
    made = own if own.startswith(f"{thing}_") else f"{thing}_{own}"
    return made if canonical_key(made) == made else key


def _thing(entity: str) -> str | None:
    """Returns the noun for a thing, or None for a person and for a bare name."""
    plain = normalise_entity(entity)
    if plain == "user":
        return None
    if not plain.isascii():
        noun = plain.rsplit("的", 1)[-1]
        return noun if _THING_CJK.search(noun) else None
    words = _WORD.findall(plain)
    head = words[-1] if words else ""
    if head in _THING:
        return head
    # A common noun is written small. A name is written with a capital.
    written = re.findall(r"[^\W_]+", entity)[-1:]
    common = (
        bool(written)
        and written[0].islower()
        and head not in _PEOPLE
        and head.removesuffix("s") not in _PEOPLE
    )
    return (
        head
        if common and re.match(r"(?:the|my|our|an?|this|that)\b|.*['’]s\b", entity, re.IGNORECASE)
        else None
    )


_DETAIL = "_detail"
_LONGEST_DETAIL = 200  # Characters.
# Since when, for how long, how often.
_HOW_OFTEN = re.compile(
    r"\b(?:since|every|each|daily|weekly|once|twice|(?:times|days|hours) an?|for (?:\w+ ){1,2}(?:year|month)s?)\b"
    r"|每[天日周週月年個个]|[一二兩两三四五六七八九十\d][次趟]|[一二兩两三四五六七八九十\d][年個个]月?[了來来]|從小|从小"
)
_YES_OR_NO = frozenset(("yes", "no"))
# Facts whose value is a time.
_TIMES = frozenset(("birthday", "deadline", "release_date", "milestone"))
_DATE_KEY = ("_date", "_day", "_time", "_deadline", "_anniversary")
# A birthday in this form recurs every year, so it is not one instant.
_CALENDAR_DAY = re.compile(r"(?:\d{4}-)?\d\d(?:-\d\d)?")
_OWNERS = re.compile(r"^(?:user's|user’s|用户的|使用者的)\s*")
_EMPTY = word_set(
    "new newer old another other different same some any better changed change one ones thing things something "
    "someone stuff it this that"
)
_EMPTY_CJK = re.compile(r"^(?:一个|一份|一种)?(?:新|别|另外?|其他|不同|原来|旧)(?:的|一个|一份)?")


def ground_state(
    found: StateFound, quote: QuoteInContext, labels: KnownLabels
) -> Grounded[StateAsserted] | None:
    """Returns the state that the words bear out, or None.

    A label of a known fact about the same entity gives key and value. Any other label, and a mistaken value that nobody
    said, is left out and counted. What is said again with something new is a detail: a card of its own that expands the
    known fact.
    """
    return ground(found.content, quote, lambda each: _ground(found, each, labels))


def _ground(found: StateFound, quote: QuoteInContext, labels: KnownLabels) -> Grounded[StateAsserted] | None:
    turn = quote.turn
    entity = entity_of(found.entity, turn)
    relations, same, expanded, refused = _relations(found, entity, quote, labels)
    key = same.concept_key if same is not None else key_of(found.concept_key, entity)
    again = expanded is not None and labels.fact(found.expands) is not expanded
    if again:
        found = replace(found, value=found.occurred_at_hint or quote.span.text[:_LONGEST_DETAIL])
    if expanded is not None and (again or key == canonical_key(expanded.concept_key)):
        key = f"{canonical_key(expanded.concept_key)}{_DETAIL}"
    if same is None and found.statement == "ended":
        same = _ending(entity, key, found.value, labels)
    entity = same.entity if same is not None else entity
    value = same.value if same is not None else as_spoken(found.value, turn).strip()
    identity = normalise_value(key, value)
    ended = found.statement == "ended"
    evidence = quote.evidence(back=ended)
    if not identity or _is_vacuous(key, value):
        return None
    said = quote.words.says(value)
    if same is None and not (
        identity in _YES_OR_NO
        or said
        or evidence.says(value)
        or evidence.means(value)
        or evidence.completes(value)
    ):
        return None
    about = same is not None or normalise_entity(found.entity) == "user" or evidence.knows(entity)
    content = content_of(
        found.content, quote, evidence, _known(entity, key, value, same, evidence), labelled=same is not None
    )
    if not about or content is None:
        return None
    hint, value_hint = _hints(found, key, value, turn_has_time=_is_time(value, quote))
    time = quote.when(hint, holds=not ended)
    point, until = _validity(
        time.moment, turn.said_at, ended=ended, end=found.time_role == "end" and value_hint is None
    )
    statement = found.statement
    if point is not None and until is not None:
        # What was true "from 2011 to 2014" ends what is known to hold. Otherwise it was true for that long.
        if ended and same is not None:
            point, until = until, None
        elif ended:
            statement = "asserted"
    elif not ended and until is not None and until <= turn.said_at:
        until = None  # "It is half done by today" is true now.
    value_time, value_at, value_until = _value_time(
        value_hint, quote, end=found.time_role == "end" or "deadline" in key, ahead=not ended
    )
    corrected = found.statement == "corrected" and found.replaces is not None
    replaces = found.replaces if corrected and evidence.knows(found.replaces or "") else None
    known = concept(key)
    cardinality = _known_cardinality(entity, key, labels) or _cardinality(found, key, value, quote)
    card = StateAsserted(
        content=content,
        entity=entity,
        concept_key=key,
        value=value,
        cardinality=default_cardinality(key) if known is not None else cardinality,
        tags=tuple(dict.fromkeys((known.category if known is not None else "fact", key))),
        origin=origin_of(turn, quote.span, quote.turn_ids),
        effective_at=point or turn.said_at,
        statement=statement,
        replaces=replaces,
        effective_until=until,
        announced=found.announced,
        occurred_at_hint=hint,
        time_grain=time.moment.grain if time.moment is not None else None,
        time_resolved=point is not None or until is not None,
        alternative_at=time.alternative if point is not None else None,
        value_hint=value_hint,
        value_at=value_at,
        value_until=value_until,
        value_grain=value_time.moment.grain if value_time.moment is not None else None,
        # A value in another form than the speaker's is less certain than a value that was said.
        confidence=SURE if said and time.sure and value_time.sure else LESS_SURE,
    )
    return Grounded(card, relations, refused + (corrected and replaces is None))


def _relations(
    found: StateFound, entity: str, quote: QuoteInContext, labels: KnownLabels
) -> tuple[tuple[tuple[Relation, UUID], ...], KnownFact | None, KnownFact | None, int]:
    """Returns the relations, the fact that is said again, the fact that gets a detail, and the refused labels."""
    facts: dict[Relation, KnownFact] = {}
    given: tuple[tuple[Relation, str | None], ...] = (("same_as", found.same_as), ("expands", found.expands))
    for relation, label in given:
        fact = labels.fact(label)
        if fact is not None and _one_entity(fact.entity, entity, quote.turn):
            facts["expands" if relation == "same_as" and _adds(found, fact, quote) else relation] = fact
    refused = sum(label is not None and labels.fact(label) not in facts.values() for _, label in given)
    relations = tuple((relation, fact.event_id) for relation, fact in facts.items())
    return relations, facts.get("same_as"), facts.get("expands"), refused


def _adds(found: StateFound, fact: KnownFact, quote: QuoteInContext) -> bool:
    """Returns True when the words tell since when or how often the known fact is true."""
    told = f"{found.occurred_at_hint or ''} {found.content}"
    return found.statement == "asserted" and any(
        quote.words.says(often[0]) and often[0] not in fact.value.casefold()
        for often in _HOW_OFTEN.finditer(told.casefold())
    )


def _known_cardinality(entity: str, key: str, labels: KnownLabels) -> Cardinality | None:
    """Returns the cardinality that the shown facts of the entity have for the key, or None when none is shown."""
    return next(
        (
            fact.cardinality
            for fact in labels.facts()
            if normalise_entity(fact.entity) == normalise_entity(entity)
            and canonical_key(fact.concept_key) == key
        ),
        None,
    )


def _cardinality(found: StateFound, key: str, value: str, quote: QuoteInContext) -> Cardinality:
    """Returns the cardinality of a key that is not registered.

    A new value replaces the old one when the words announce it, or when the value is a name, a number, a time or a
    single word. Two descriptions ("reducing soda", "living healthier") are both true.
    """
    if key.endswith(_DETAIL):
        return "multi_value"
    exclusive = (
        found.statement != "asserted"
        or found.announced
        or any(letter.isdigit() or letter.isupper() for letter in value)
        or (len(value.split()) < 2 and len(value) <= (4 if has_cjk(value) else len(value)))
        or _is_time(value, quote)
    )
    return found.cardinality if exclusive else "multi_value"


def _one_entity(one: str, other: str, turn: TurnRecorded) -> bool:
    """Returns True when two names mean one entity. In a turn of Nora "user's son" and "Nora's son" are one."""
    return _owned(one, turn) == _owned(other, turn)


def _owned(name: str, turn: TurnRecorded) -> str:
    own = _OWNERS.sub("", normalise_entity(name))
    speaker = normalise_entity(turn.speaker) if turn.speaker else ""
    if own == speaker:
        return "user"
    for mark in ("'s ", "的"):
        if speaker and own.startswith(f"{speaker}{mark}"):
            return own.removeprefix(f"{speaker}{mark}")
    return own


def _ending(entity: str, key: str, value: str, labels: KnownLabels) -> KnownFact | None:
    """Returns the only shown fact of the entity and key that ``value`` means, or None.

    What ends is often called by a part of its name, or not said at all.
    """
    wanted = normalise_value(key, value)
    alike = [
        fact
        for fact in labels.facts()
        if normalise_entity(fact.entity) == normalise_entity(entity)
        and canonical_key(fact.concept_key) == canonical_key(key)
    ]
    same = [fact for fact in alike if normalise_value(key, fact.value) == wanted]
    parts = same or [fact for fact in alike if len(wanted) > 1 and _overlap(fact.value, value)]
    return parts[0] if len(parts) == 1 else None


def _known(entity: str, key: str, value: str, same: KnownFact | None, evidence: Evidence) -> str:
    """Returns the words of a content that need no evidence: entity, Chinese names of the key, a value that is meant."""
    names = " ".join((entity, *sorted(name for name in _names(key, concept(key)) if not name.isascii())))
    meant = not evidence.says(value) and (evidence.means(value) or evidence.completes(value))
    return f"{names} {value}" if same is not None or meant else names


def _is_vacuous(key: str, value: str) -> bool:
    """Returns True for a value that says no more than its key ("new diet" for the diet, 新工作 for the occupation)."""
    known = concept(key)
    plain = to_simplified(value.casefold()).strip(" .!?。！？")
    words = plain.replace("_", " ").replace("-", " ").split()
    names = _names(key, known)
    bare_words = [word for word in words if word not in _EMPTY]
    if len(bare_words) < len(words) and all(word in key.split("_") for word in bare_words):
        return True
    rest = " ".join(bare_words)
    if known is None or known.cardinality == "multi_value":
        return False
    bare = _EMPTY_CJK.sub("", plain)
    return (rest != " ".join(words) and rest in names) or (bare != plain and bare in names)


def _names(key: str, known: Concept | None) -> frozenset[str]:
    aliases = known.aliases if known is not None else ()
    return frozenset(to_simplified(name.casefold()).replace("_", " ") for name in (key, *aliases))


def _is_time(value: str, quote: QuoteInContext) -> bool:
    return any(
        (one.start or one.end) and (one.stop - one.begin) * 10 >= len(value.strip()) * 7
        for one in timex.find(value[:200], local_said_at(quote.turn))
    )


def _hints(found: StateFound, key: str, value: str, *, turn_has_time: bool) -> tuple[str | None, str | None]:
    """Returns the hint of the state and the hint of its value.

    A model may give the words of a deadline as the time of the state. The words belong to the value.
    """
    if found.value_hint is not None:
        same = found.occurred_at_hint is not None and _overlap(found.value_hint, found.occurred_at_hint)
        return (None if same else found.occurred_at_hint), found.value_hint
    if key == "birthday" and _CALENDAR_DAY.fullmatch(normalise_value(key, value)):
        return found.occurred_at_hint, None
    if key in _TIMES or (turn_has_time and (key.endswith(_DATE_KEY) or found.time_role is not None)):
        hint = found.occurred_at_hint
        if hint is not None and (found.time_role == "end" or turn_has_time or _overlap(hint, value)):
            return None, hint if _overlap(hint, value) or not turn_has_time else value
        return hint, value if turn_has_time else None
    return found.occurred_at_hint, None


def _overlap(one: str, other: str) -> bool:
    first, second = "".join(one.casefold().split()), "".join(other.casefold().split())
    return first in second or second in first


def _validity(
    when: Moment | None, said_at: datetime, *, ended: bool, end: bool
) -> tuple[datetime | None, datetime | None]:
    """Returns the instants from which and until which a state holds. None is not known.

    Both are known only of a stretch of time that is over at ``said_at``.
    """
    if when is None:
        return None, None
    if when.stretch and when.end is not None and when.end < said_at:
        return when.start, when.end
    if when.start is None or (end and not ended):
        until = when.end or when.start
        return (until, None) if ended else (None, until)
    return when.point, None


def _value_time(
    hint: str | None, quote: QuoteInContext, *, end: bool, ahead: bool
) -> tuple[SpokenTime, datetime | None, datetime | None]:
    """Returns the time that a value means, with its start and its end (exclusive)."""
    if hint is None:
        return SpokenTime(), None, None
    time = quote.when(hint, ahead=end and ahead)
    when = time.moment
    if when is None:
        return time, None, None
    if when.start is None:
        when = deadline(hint, quote.turn, when)
    return time, when.start, when.end
