"""Makes the events of an extraction: ``TurnsExtracted`` with its card events, or ``ExtractionFailed``."""

import logging
from collections.abc import Iterable, Mapping
from dataclasses import asdict, replace
from datetime import datetime

import orjson

from events.language.chinese_script import has_cjk
from events.language.concepts import normalise_entity
from events.store.bounds import fault_of
from events.store.log import Unreadable, reason_of
from events.types.cards import EventNoted, KnowledgeLearned, StateAsserted, Utterance
from events.types.codec import encode
from events.types.envelope import Event, NewEvent, Payload, uuid7
from events.types.extraction import ExtractionFailed, TurnsExtracted, Usage
from events.types.relations import CardsConnected
from events.types.turn_contract import part_of_key, session_of
from events.types.turns import TurnRecorded
from ingest.extraction.event_linking import linked
from ingest.extraction.extractor_port import (
    CardEvent,
    CardLink,
    Extraction,
    Extractor,
    ExtractorUnavailableError,
    SessionBatch,
    TurnsUnreadableError,
)
from ingest.extraction.known_cards import KnownCards
from ingest.extraction.memory_blocks import without_memory_blocks
from ingest.extraction.turn_modes import ModeContext, modes_of_turns

logger = logging.getLogger(__name__)

STAGE = "extractor"
_REASONS = {
    "same_as": "the extractor reads both as one fact",
    "expands": "the extractor reads it as more about the same fact",
}
_SURE_OF_LINK = 0.8
_OF_ADDRESSEE = ("your ", "你的", "妳的", "您的")
"""What a contact calls so belongs to the user."""
_TURNS_BEFORE = 2  # A third turn adds nothing (see projectors.embedding.passages).
_LONGEST_BEFORE = 300  # Characters of each earlier turn that an episode keeps.


def stream_of(turn: TurnRecorded) -> str:
    """Returns the stream of the extraction events of a turn's session."""
    return extraction_stream(session_of(turn))


UNREADABLE = "extraction"
"""The stream of failures of turns whose session is unknown."""


def extraction_stream(session: str) -> str:
    """Returns the stream of the extraction events for the turns in the stream ``session``."""
    return "extraction/" + session.removeprefix("session/")


def unreadable_turn(event: Event, payload: Unreadable, extractor: Extractor) -> NewEvent:
    """Returns the ``ExtractionFailed`` event of a turn that this build cannot decode.

    The turn id comes from the stored bytes. When they hold none, the event id takes its place.
    """
    try:
        turn_id = str(orjson.loads(payload.data)["turn_id"])
    except (ValueError, TypeError, KeyError):
        turn_id = str(event.event_id)
    logger.warning(
        "turn %s (%d/%d) cannot be decoded: %s", turn_id, event.partition, event.position, payload.reason,
        extra={
            "stage": STAGE, "turn_id": turn_id, "event_id": event.event_id,
            "partition": event.partition, "position": event.position,
        },
    )  # fmt: skip
    return failure_of(
        event.user_id,
        event.position,
        turn_id,
        extraction_stream(event.stream),
        event.occurred_at,
        payload.reason,
        extractor,
    )


def given_up(
    event: Event, error: Exception, extractor: Extractor, *, attempts: int = 1, usage: Usage | None = None
) -> tuple[NewEvent, str]:
    """Returns the ``ExtractionFailed`` event of a turn that ``extractor`` cannot extract, and a remark. Logs it."""
    turn: TurnRecorded = event.payload
    expected = isinstance(error, TurnsUnreadableError | ExtractorUnavailableError)
    reason = str(error) if expected else reason_of(error)
    logger.warning(
        "turn %s (%d/%d) cannot be extracted: %s", turn.turn_id, event.partition, event.position, reason,
        exc_info=None if expected else error,
        extra={
            "stage": STAGE, "turn_id": turn.turn_id, "partition": event.partition, "position": event.position,
        },
    )  # fmt: skip
    failure = failure_of(
        event.user_id, event.position, turn.turn_id, extraction_stream(event.stream), event.occurred_at, reason,
        extractor, attempts=attempts, usage=usage,
    )  # fmt: skip
    return failure, f"turn {turn.turn_id} cannot be extracted: {reason}"


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
    """Returns the ``ExtractionFailed`` event of one turn, with the reason and the tokens spent."""
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


def _about_contact(card: CardEvent, by_contact: Mapping[str, str]) -> CardEvent | None:
    """Returns ``card``, or None for a state of the user that rests on words of a contact.

    ``by_contact`` are the turns of contacts with their speakers. What a contact calls "my wife" is the wife of the
    contact, so an entity without a name of its own gets the speaker's.
    """
    speaker = next((by_contact[each] for each in card.origin.turn_ids if each in by_contact), None)
    if speaker is None or not isinstance(card, StateAsserted):
        return card
    entity = normalise_entity(card.entity)
    if entity == "user" or entity.startswith(_OF_ADDRESSEE):
        return None
    if card.entity[:1].isupper() or entity.startswith(normalise_entity(speaker)):
        return card
    return replace(card, entity=f"{speaker}的{entity}" if has_cjk(entity) else f"{speaker}'s {entity}")


def _with_preceding(card: CardEvent, batch: SessionBatch) -> CardEvent:
    """Returns an episode with the turns before it. Returns any other card unchanged."""
    if not isinstance(card, EventNoted) or not card.episode:
        return card
    session = [*batch.preceding, *batch.turns]
    indexes = [index for index, each in enumerate(session) if each.turn.turn_id in card.origin.turn_ids]
    if not indexes:
        return card
    nearest_first = reversed(session[max(0, indexes[0] - _TURNS_BEFORE) : indexes[0]])
    before = tuple(Utterance(words_before(each.turn), each.turn.speaker) for each in nearest_first)
    return replace(card, before=before)


def _in_mode(card: CardEvent, context: ModeContext, modes: Mapping[str, str | None]) -> CardEvent:
    """Returns the card with the mode of its first turn. Without declared modes it keeps what its caller said."""
    turn = next((each for each in card.origin.turn_ids if each in modes), None)
    if not context or turn is None:
        return card
    mode = modes[turn]
    first_name = dict(context.first_names).get(mode or "")
    is_default = mode is not None and mode == context.default
    return replace(card, origin=replace(card.origin, mode=mode, mode_id=first_name, default_mode=is_default))


def words_before(turn: TurnRecorded) -> str:
    """Returns the words of ``turn`` that the episode of a later turn repeats."""
    return without_memory_blocks(turn.text).strip()[:_LONGEST_BEFORE]


def events_of(
    batch: SessionBatch,
    extraction: Extraction,
    extractor: Extractor,
    *,
    knowledge: bool = True,
    rules_fallback: bool = False,
    link: bool = True,
) -> list[NewEvent]:
    """Returns the events of one session batch: ``TurnsExtracted``, then one event for each card, caused by it.

    The relations to known cards follow. An event that replaces an earlier one names it, when the earlier one is in
    the batch or in ``batch.known`` (:func:`ingest.extraction.event_linking.linked`). Without ``link``, the caller finds
    the earlier events later.

    The events of problems follow the cards, and count as cards. A card has the mode of its turn: the caller's, else the
    one that the extractor read, else the project's default.

    Without ``knowledge``, the result has no knowledge card. A card that the tables cannot store
    (:mod:`events.store.bounds`) is refused and counted. Every event is encoded once, so an invalid card does not fail
    the append of other events. Raises the error of the codec when an event cannot be encoded.
    """
    by_contact = {each.turn.turn_id: each.turn.speaker or "" for each in batch.turns if each.turn.by_contact}
    wanted = [
        (place, card)
        for place, found in enumerate(extraction.cards)
        if (knowledge or not isinstance(found, KnowledgeLearned))
        and (card := _about_contact(found, by_contact)) is not None
    ]
    cards = [
        (place, card) for place, card in wanted if (fault := fault_of(card)) is None or _refuse(fault, batch)
    ]
    own = [each for each in extraction.problems if by_contact.keys().isdisjoint(each.origin.turn_ids)]
    problems = [told for told in own if (fault := fault_of(told)) is None or _refuse(fault, batch)]
    refused = extraction.refused + len(wanted) + len(own) - len(cards) - len(problems)
    modes = modes_of_turns(
        batch.modes,
        (each.turn for each in batch.turns),
        dict(extraction.modes),
        [each.turn for each in batch.preceding],
    )
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
            cards=len(cards) + len(problems),
            refused=refused,
            rules_fallback=rules_fallback,
            modes=tuple(modes[turn.turn.turn_id] for turn in batch.turns) if batch.modes else (),
            modes_digest="-".join(filter(None, (extraction.modes_version, batch.modes.digest))) or None,
        ),
        occurred_at=occurred_at,
        actor=f"extractor/{extractor.name}",
        dedupe_key=f"extraction/{part_of_key(extractor.prompt_version)}/{first.turn.turn_id}",
    )
    caused = {
        place: caused_by(
            leader,
            _in_mode(_with_preceding(card, batch), batch.modes, modes),
            card.occurred_at if isinstance(card, EventNoted) else card.origin.said_at,
        )
        for place, card in cards
    }
    relations = [
        caused_by(leader, connected, caused[link.card].occurred_at)
        for link in extraction.links
        if by_contact.keys().isdisjoint(extraction.cards[link.card].origin.turn_ids)
        and (connected := _connected(link, caused, batch.known)) is not None
    ]
    told = [caused_by(leader, each, each.origin.said_at) for each in problems]
    events = [leader, *caused.values(), *told, *relations]
    if link:
        events = linked(events, batch.known)
    for event in events:
        encode(event.payload)
    return events


def caused_by(leader: NewEvent, payload: Payload, occurred_at: datetime) -> NewEvent:
    """Returns an event that ``leader`` caused, for the stream of ``leader``."""
    return NewEvent(
        event_id=uuid7(),
        user_id=leader.user_id,
        stream=leader.stream,
        payload=payload,
        occurred_at=occurred_at,
        actor=leader.actor,
        causation_id=leader.event_id,
        correlation_id=leader.event_id,
    )


def _connected(link: CardLink, caused: Mapping[int, NewEvent], known: KnownCards) -> CardsConnected | None:
    """Returns the relation of a link, or None when its card is refused, or the other card is of another mode."""
    if link.card not in caused:
        return None
    others = (card for card in known.facts if card.event_id == link.to_card)
    if any(card.mode != caused[link.card].payload.origin.register for card in others):
        return None
    return CardsConnected(
        from_card=caused[link.card].event_id,
        to_card=link.to_card,
        predicate=link.predicate,
        reason=_REASONS[link.predicate],
        confidence=_SURE_OF_LINK,
    )


def _refuse(fault: str, batch: SessionBatch) -> bool:
    """Returns False: the card is left out. Logs a warning without the words of the turn."""
    first = batch.turns[0]
    logger.warning(
        "a card of turn %s is refused: %s", first.turn.turn_id, fault,
        extra={"stage": STAGE, "turn_id": first.turn.turn_id, "position": first.position},
    )  # fmt: skip
    return False


def counted(events: Iterable[NewEvent]) -> dict[str, float]:
    """Returns the sums over the extractions in ``events``, by name. A cost in dollars that is unknown is not summed."""
    sums: dict[str, float] = {}
    for event in events:
        payload = event.payload
        if isinstance(payload, TurnsExtracted):
            amounts = {"turns": len(payload.turn_ids), "cards": payload.cards, "refused": payload.refused}
        elif isinstance(payload, ExtractionFailed):
            amounts = {"turns": len(payload.turn_ids), "failed": len(payload.turn_ids)}
        else:
            continue
        spent = asdict(payload.usage)
        for name, amount in (*amounts.items(), *spent.items()):
            if amount is not None:
                sums[name] = sums.get(name, 0) + amount
    return sums
