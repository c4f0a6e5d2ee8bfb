"""Grounds the events of a model."""

import re
from datetime import datetime

from events.language.concepts import normalise_entity
from events.types.cards import EventNoted, EventStatus, origin_of
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
    return Grounded(card, refused=refused + strangers)


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
