"""The events an extraction becomes: what was understood, what could not be, each said once and for good."""

from __future__ import annotations

import logging
from collections.abc import Iterable
from dataclasses import asdict, replace
from datetime import datetime

import orjson

from events.store.bounds import fault_of
from events.store.log import Unreadable
from events.types.cards import EventNoted, KnowledgeLearned, Utterance
from events.types.codec import encode
from events.types.envelope import Event, NewEvent, uuid7
from events.types.extraction import ExtractionFailed, TurnsExtracted, Usage
from events.types.turn_contract import part_of_key, session_of
from events.types.turns import TurnRecorded
from ingest.extraction.extractor_port import CardEvent, Extraction, Extractor, SessionBatch
from ingest.extraction.grounding import without_memory_blocks

logger = logging.getLogger(__name__)

STAGE = "extractor"
_TURNS_BEFORE = 2  # a third adds nothing (see projectors.embedding.passages)
_LONGEST_BEFORE = 300  # characters of each that an episode keeps


def stream_of(turn: TurnRecorded) -> str:
    """The stream of what was understood of a turn's session."""
    return beside(session_of(turn))


UNREADABLE = "extraction"
"""The stream of failures of turns whose own session cannot be named."""


def beside(session: str) -> str:
    """The stream of what was understood of the session whose turns stand in the stream ``session``."""
    return "extraction/" + session.removeprefix("session/")


def unreadable_turn(event: Event, payload: Unreadable, extractor: Extractor) -> NewEvent:
    """The failure of a turn this build cannot decode; its id is taken from the stored bytes where they tell it."""
    try:
        turn_id = str(orjson.loads(payload.data)["turn_id"])
    except (ValueError, TypeError, KeyError):
        turn_id = str(event.event_id)
    logger.warning(
        "turn %s (%d/%d) cannot be read: %s", turn_id, event.partition, event.position, payload.reason,
        extra={
            "stage": STAGE, "turn_id": turn_id, "event_id": event.event_id,
            "partition": event.partition, "position": event.position,
        },
    )  # fmt: skip
    return failure_of(
        event.user_id,
        event.position,
        turn_id,
        beside(event.stream),
        event.occurred_at,
        payload.reason,
        extractor,
    )


def failure_of(
    user_id: str,
    position: int,
    turn_id: str,
    stream: str,
    occurred_at: datetime,
    reason: str,
    extractor: Extractor,
    *,
    attempts: int = 1,
    usage: Usage | None = None,
) -> NewEvent:
    """The event that says one turn was not understood, why, and what trying cost."""
    return NewEvent(
        event_id=uuid7(),
        user_id=user_id,
        stream=stream,
        payload=ExtractionFailed(
            extractor=extractor.name,
            model=extractor.model,
            prompt_version=extractor.prompt_version,
            turn_ids=(turn_id,),
            turn_positions=(position,),
            reason=reason,
            attempts=attempts,
            usage=usage or Usage(),
        ),
        occurred_at=occurred_at,
        actor=f"extractor/{extractor.name}",
    )


def _in_its_place(card: CardEvent, batch: SessionBatch) -> CardEvent:
    """An episode with what was said before it; other cards as they are."""
    if not isinstance(card, EventNoted) or not card.episode:
        return card
    session = [*batch.preceding, *batch.turns]
    places = [place for place, said in enumerate(session) if said.turn.turn_id in card.origin.turn_ids]
    if not places:
        return card
    nearest_first = reversed(session[max(0, places[0] - _TURNS_BEFORE) : places[0]])
    before = tuple(
        Utterance(without_memory_blocks(said.turn.text).strip()[:_LONGEST_BEFORE], said.turn.speaker)
        for said in nearest_first
    )
    return replace(card, before=before)


def events_of(
    batch: SessionBatch,
    extraction: Extraction,
    extractor: Extractor,
    *,
    knowledge: bool = True,
    rules_fallback: bool = False,
) -> list[NewEvent]:
    """The events of one burst: the extraction, then a card event each, caused by it.

    Without ``knowledge`` no knowledge card is among them. Whatever an extractor made up, they have bytes:
    raises what the codec raises where they would not, so that nothing else of an append fails with them. A card that
    the tables could not take (:mod:`events.store.bounds`) is refused and counted.
    """
    wanted = [card for card in extraction.cards if knowledge or not isinstance(card, KnowledgeLearned)]
    cards = [card for card in wanted if (fault := fault_of(card)) is None or _told(fault, batch)]
    refused = extraction.refused + len(wanted) - len(cards)
    first = batch.turns[0]
    stream = stream_of(first.turn)
    occurred_at = max(turn.turn.said_at for turn in batch.turns)
    leader = NewEvent(
        event_id=uuid7(),
        user_id=first.user_id,
        stream=stream,
        payload=TurnsExtracted(
            extractor=extractor.name,
            model=extractor.model,
            prompt_version=extractor.prompt_version,
            turn_ids=tuple(turn.turn.turn_id for turn in batch.turns),
            turn_positions=tuple(turn.position for turn in batch.turns),
            usage=extraction.usage,
            cards=len(cards),
            refused=refused,
            rules_fallback=rules_fallback,
        ),
        occurred_at=occurred_at,
        actor=f"extractor/{extractor.name}",
        dedupe_key=f"extraction/{part_of_key(extractor.prompt_version)}/{first.turn.turn_id}",
    )
    caused = [
        NewEvent(
            event_id=uuid7(),
            user_id=first.user_id,
            stream=stream,
            payload=_in_its_place(card, batch),
            occurred_at=card.occurred_at if isinstance(card, EventNoted) else card.origin.said_at,
            actor=leader.actor,
            causation_id=leader.event_id,
            correlation_id=leader.event_id,
        )
        for card in cards
    ]
    events = [leader, *caused]
    for event in events:
        encode(event.payload)
    return events


def _told(fault: str, batch: SessionBatch) -> bool:
    """False: the card is left out; says so in the log of the process, without anybody's words."""
    first = batch.turns[0]
    logger.warning(
        "a card of turn %s is refused: %s", first.turn.turn_id, fault,
        extra={"stage": STAGE, "turn_id": first.turn.turn_id, "position": first.position},
    )  # fmt: skip
    return False


def counted(events: Iterable[NewEvent]) -> dict[str, float]:
    """What ``events`` say readings came to, by name; dollars are left out where a price is not known."""
    found: dict[str, float] = {}
    for event in events:
        said = event.payload
        if isinstance(said, TurnsExtracted):
            amounts = {"turns": len(said.turn_ids), "cards": said.cards, "refused": said.refused}
        elif isinstance(said, ExtractionFailed):
            amounts = {"turns": len(said.turn_ids), "failed": len(said.turn_ids)}
        else:
            continue
        spent = asdict(said.usage)
        for name, amount in (*amounts.items(), *spent.items()):
            if amount is not None:
                found[name] = found.get(name, 0) + amount
    return found
