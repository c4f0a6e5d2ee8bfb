"""Grounds the events of a model, and joins the event that two speakers tell."""

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from events.language.concepts import normalise_entity
from events.language.terms import analyse
from events.types.cards import EventNoted, EventStatus, StateAsserted, origin_of
from ingest.extraction import episodes
from ingest.extraction.claude.grounding.evidence import Evidence
from ingest.extraction.claude.grounding.quotes import QuoteInContext, SpokenTime
from ingest.extraction.claude.grounding.spoken import (
    LESS_SURE,
    SURE,
    Grounded,
    content_of,
    entity_of,
    ground,
)
from ingest.extraction.claude.known_labels import KnownLabels
from ingest.extraction.claude.schema import EventFound

_LABEL = re.compile(r"P\d{1,3}")
_TOGETHER = re.compile(
    r"\b(?:we|us|our|let's|let’s|together|both|with you|join|count me in|i'?m in|see you)\b|我们|我們|咱们|咱們"
    r"|一起|大家|跟你|和你|陪你",
    re.IGNORECASE,
)
_ALIKE = 0.5
"""Share of the content words of the shorter version that both versions of one event have."""


def ground_event(
    found: EventFound, quote: QuoteInContext, labels: KnownLabels
) -> Grounded[EventNoted] | None:
    """Returns the event that the words bear out, or None.

    Words of an earlier event that nobody said, an unknown label and an unknown participant are left out and counted.
    An event whose time begins after it was said is planned, whatever the model says.
    """
    return ground(found.content, quote, lambda each: _ground(found, each, labels))


def _ground(found: EventFound, quote: QuoteInContext, labels: KnownLabels) -> Grounded[EventNoted] | None:
    turn = quote.turn
    entity = entity_of(found.entity, turn)
    target = labels.plan(found.replaces)
    evidence = quote.evidence(
        back=found.replaces is not None, known=target.content if target is not None else ""
    )
    if normalise_entity(found.entity) != "user" and not evidence.knows(entity):
        return None
    replaces, refused = _replaced(found, evidence, target.content if target is not None else None)
    participants, strangers = _participants(found, entity, quote, evidence)
    known = " ".join((entity, *participants, target.content if target is not None else ""))
    content = content_of(found.content, quote, evidence, known, labelled=target is not None)
    if content is None:
        return None
    time = quote.when(found.occurred_at_hint, ahead=found.status != "happened")
    start = time.moment.start if time.moment is not None else None
    status: EventStatus = found.status
    if status == "happened" and start is not None and start > turn.said_at:
        status = "planned"
    elif status == "happened" and found.slip:
        status = "corrected"
    topics = found.topics or episodes.read(quote.span.text).topics
    card = EventNoted(
        content=content,
        entity=entity,
        tags=tuple(topic.lower() for topic in topics[:4]),
        origin=origin_of(turn, quote.span, quote.turn_ids),
        occurred_at=start or turn.said_at,
        occurred_until=_until(time, start or turn.said_at),
        occurred_at_hint=found.occurred_at_hint,
        time_grain=time.moment.grain if time.moment is not None else None,
        time_resolved=start is not None,
        alternative_at=time.alternative if start is not None else None,
        topics=topics,
        importance=found.importance,
        sentiment=found.sentiment,
        status=status,
        replaces=replaces,
        replaces_event=target.event_id if target is not None else None,
        participants=participants,
        corrects=found.slip and status == "planned",
        confidence=SURE if time.sure else LESS_SURE,
    )
    together = bool(participants) or bool(_TOGETHER.search(quote.sentence))
    return Grounded(card, refused=refused + strangers, together=together)


def _until(time: SpokenTime, begin: datetime) -> datetime | None:
    """Returns the end of an event. "By the end of the year" names an end without a start."""
    if time.moment is None or time.moment.end is None:
        return None
    return time.moment.end if time.moment.start is not None or time.moment.end > begin else None


def _replaced(found: EventFound, evidence: Evidence, plan: str | None) -> tuple[str | None, int]:
    """Returns the words that name the earlier event, and 1 when these words are refused."""
    words = found.replaces
    if words is None:
        return None, 0
    if plan is not None:
        return plan, 0
    if _LABEL.fullmatch(words.strip()) or not evidence.knows(words):
        return None, 1
    return words.strip(), 0


def _participants(
    found: EventFound, entity: str, quote: QuoteInContext, evidence: Evidence
) -> tuple[tuple[str, ...], int]:
    """Returns the names of all who take part when there are several, and the number of names that nobody said."""
    names: dict[str, str] = {}
    strangers = 0
    for name in (entity, *found.participants):
        person = entity_of(name, quote.turn)
        if name is not entity and not (
            normalise_entity(name) == "user" or person in quote.speakers or evidence.knows(person)
        ):
            strangers += 1
        else:
            names.setdefault(normalise_entity(person), person)
    return (tuple(names.values()) if len(names) > 1 else ()), strangers


def mended(
    events: Sequence[Grounded[EventNoted]], states: Sequence[StateAsserted]
) -> list[Grounded[EventNoted]]:
    """Returns the corrected events that a model left out: each event that tells a value that a state takes back."""
    if any(event.card.status == "corrected" or event.card.corrects for event in events):
        return []
    return [
        Grounded(
            replace(
                event.card,
                content=event.card.content.replace(state.replaces, state.value),
                origin=state.origin,
                status="planned" if event.card.status == "planned" else "corrected",
                corrects=event.card.status == "planned",
                replaces=event.card.content,
                replaces_event=None,
                confidence=LESS_SURE,
            )
        )
        for state in states
        for event in events
        if state.statement == "corrected"
        and state.replaces
        and state.replaces in event.card.content
        and event.card.status in ("happened", "planned")
        and normalise_entity(event.card.entity) == normalise_entity(state.entity)
        and event.card.origin.said_at <= state.origin.said_at
    ]


def joined(events: Sequence[Grounded[EventNoted]]) -> list[Grounded[EventNoted]]:
    """Returns the events in order. An event that two speakers tell becomes one event with both as participants.

    Two events are one when different speakers tell them, at least one version speaks of several people, the times agree
    and the versions share their words.
    """
    kept: list[Grounded[EventNoted]] = []
    for event in events:
        for place, other in enumerate(kept):
            if _is_same(other, event):
                kept[place] = _both(other, event)
                break
        else:
            kept.append(event)
    return kept


def _is_same(one: Grounded[EventNoted], other: Grounded[EventNoted]) -> bool:
    first, second = one.card, other.card
    if first.origin.speaker == second.origin.speaker or not (one.together or other.together):
        return False
    if (first.status, first.replaces_event) != (second.status, second.replaces_event):
        return False
    if first.time_resolved and second.time_resolved and first.occurred_at != second.occurred_at:
        return False
    names = {term for card in (first, second) for name in _people(card) for term in analyse(name)}
    words, others = (set(analyse(card.content)) - names for card in (first, second))
    return bool(words & others) and len(words & others) >= _ALIKE * min(len(words), len(others))


def _people(card: EventNoted) -> tuple[str, ...]:
    return card.participants or (card.entity,)


def _both(one: Grounded[EventNoted], other: Grounded[EventNoted]) -> Grounded[EventNoted]:
    """Returns one event of two versions. The version with a time leads, otherwise the first one."""
    lead = one if one.card.time_resolved or not other.card.time_resolved else other
    people = {normalise_entity(name): name for name in (*_people(one.card), *_people(other.card))}
    turn_ids = tuple(dict.fromkeys((*one.card.origin.turn_ids, *other.card.origin.turn_ids)))
    card = replace(
        lead.card,
        origin=replace(lead.card.origin, turn_ids=turn_ids),
        participants=tuple(people.values()) if len(people) > 1 else (),
        importance=max(one.card.importance, other.card.importance),
    )
    return replace(lead, card=card, together=True)
