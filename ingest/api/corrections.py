"""Commands that take a card back: a correction puts another card in its place, and a retraction puts none.

Both append a relation ``retracts``, so the card counts as never true until the relation is withdrawn.
"""

from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from events.http.errors import ProblemError, conflict, invalid, missing
from events.language import timex
from events.language.changes import denies
from events.platform.database import Connection
from events.store.bounds import fault_of
from events.types.cards import CardOrigin, EventNoted, StateAsserted
from events.types.envelope import Event, Payload, uuid7
from events.types.relations import CardsConnected, retraction_of
from events.types.turn_contract import on_clock
from ingest.api.authority import TargetCard, origins, refuse_agent, target_card
from ingest.api.commands import (
    STREAM,
    RelationStream,
    first_row,
    kind_within,
    new_relation,
    relation_event,
)
from ingest.api.concept_routes import ConceptWords, edit
from ingest.decider import Command, Decision, Keyed, Outcome, decide

_READ = 4_000
"""The characters of a content in which a time is looked for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """What is right. A part that is None stays as it is."""

    value: str | None
    content: str | None
    reason: str


def correct(connection: Connection, card_id: UUID, right: Correction, command: Command) -> Outcome[None]:
    """Puts a card with the right words in the place of a state or an event. The event of the outcome makes the card.

    The new card has the scope and the time of the old one. A concept keeps its card and gets another definition.
    Commands with one idempotency key count once. Raises the problems of :func:`retract`, and 409 for a card that is
    not current: what took its place is corrected instead.
    """
    if kind_within(connection, card_id, command) == "knowledge":
        return _define(connection, card_id, right, command)
    key = f"correct/{card_id}/{command.idempotency_key or uuid7()}"

    def rule(_: None) -> Decision:
        card = _present(connection, card_id, command)
        _refuse_taken_back(connection, card_id, card, command)
        if card.gone or card.over:
            remedy = (
                f"the card is superseded; correct the one that holds now (GET /v1/cards/{card_id}/latest), "
                "or retract this one if it never held"
                if card.over and not card.gone
                else "the card is contested or records an end; correct the card that holds now"
            )
            raise conflict("Not current", "card_id", remedy)
        stated = refuse_agent(connection, card_id, card, command)
        # The event of an overwritten card does not state what the card says now.
        own = max(stated, key=lambda each: (each.event_id == card_id, each.position), default=None)
        if own is None or not isinstance(own.payload, StateAsserted | EventNoted):
            raise missing("card", "card_id")
        payload = _corrected(own.payload, card, right, command)
        event_id = uuid7()
        wrong = CardsConnected(from_card=event_id, to_card=card_id, predicate="retracts", reason=right.reason)
        # A retraction takes back what was said before it, so it stands before a statement of the same value.
        return Decision(
            payload=payload, event_id=event_id, cause=card_id, before=[relation_event(wrong, command)]
        )

    def is_repeat(first: Payload) -> bool:
        return (
            isinstance(first, StateAsserted | EventNoted)
            and right.value in (None, first.value)
            and right.content in (None, first.content)
        )

    return decide(Keyed(connection, STREAM, command, key), rule, is_repeat)


def retract(connection: Connection, card_id: UUID, reason: str, command: Command) -> Outcome[Event | None]:
    """Marks a card as never true, until the relation of the outcome is withdrawn. A repeated command appends nothing.

    Raises a 404 problem when the user has no such card within reach, 409 when it was taken back before, and 403 when
    an agent would take back what the user stated.
    """
    connected = CardsConnected(
        from_card=retraction_of(card_id), to_card=card_id, predicate="retracts", reason=reason
    )

    def rule(last: Event | None) -> Decision | None:
        card = _present(connection, card_id, command)
        if last is not None and isinstance(last.payload, CardsConnected):
            if (last.payload, last.actor) == (connected, command.actor):
                return None
            raise _taken_back(last.event_id)
        _refuse_taken_back(connection, card_id, card, command)
        refuse_agent(connection, card_id, card, command)
        return new_relation(connected)

    return decide(RelationStream(connection, command, connected), rule)


def _present(connection: Connection, card_id: UUID, command: Command) -> TargetCard:
    kind_within(connection, card_id, command)
    card = target_card(connection, card_id, command)
    if card is None:
        raise missing("card", "card_id")
    return card


def _refuse_taken_back(connection: Connection, card_id: UUID, card: TargetCard, command: Command) -> None:
    row = first_row(connection, "retracted", user_id=command.owner, card=card_id)
    if row is not None or card.retracted:
        raise _taken_back(None if row is None else row[0])


def _taken_back(relation_id: UUID | None) -> ProblemError:
    remedy = "say the fact again" if relation_id is None else f"withdraw relation {relation_id} to undo that"
    return conflict("Retracted", "card_id", f"the card was retracted before; {remedy}")


def _define(connection: Connection, card_id: UUID, right: Correction, command: Command) -> Outcome[None]:
    if right.content is None or right.value is not None:
        raise invalid("value", "is not for a concept; give its right definition as content")
    card = _present(connection, card_id, command)
    _refuse_taken_back(connection, card_id, card, command)
    [origin, *_] = origins(refuse_agent(connection, card_id, card, command))
    words = ConceptWords(definition=right.content)
    return edit(connection, card_id, words, _sent_now(origin, command), command)


def _sent_now(origin: CardOrigin, command: Command) -> CardOrigin:
    """Returns the origin of words that come with a command and from no turn, in the scope of ``origin``."""
    return replace(
        origin,
        turn_ids=(),
        said_at=command.at,
        source_span=None,
        provenance="user_stated" if command.by == "user" else "agent_inferred",
        agent_id=command.agent_id,
        document_id=None,
    )


def _corrected(
    first: StateAsserted | EventNoted, card: TargetCard, right: Correction, command: Command
) -> StateAsserted | EventNoted:
    """Returns the payload of the new card. Raises a 422 problem for words that make no card."""
    changed: dict[str, Any] = {
        "origin": _sent_now(first.origin, command),
        "content": _content(card, right),
        "value": right.value or card.value,
        "replaces": None,
    }
    made: StateAsserted | EventNoted
    if isinstance(first, StateAsserted):
        value = right.value or _value_in(right.content or "", card)
        if value != card.value:
            changed |= dict.fromkeys(("value_hint", "value_at", "value_until", "value_grain"))
            changed["value"] = value
        if card.effective_at != first.effective_at:
            changed["effective_at"] = card.effective_at
        old = (card.value or "").casefold()
        tags = tuple(value if tag.casefold() == old else tag for tag in first.tags)
        made = replace(first, **changed, tags=tags, statement="asserted", announced=True)
    elif first.episode:
        raise invalid(
            "card_id", "is the words of a turn, which stay as they were said; correct a fact of the turn"
        )
    else:
        changed |= _time_in(right.content or "", card, first.origin)
        made = replace(first, **changed, before=(), replaces_event=None)
    if (fault := fault_of(made)) is not None:
        raise invalid("value" if fault.startswith("value") else "content", f"makes no card: {fault}")
    return made


def _value_in(content: str, card: TargetCard) -> str:
    """Returns the value that ``content`` names where the words of the card named theirs, or else all of ``content``."""
    value = card.value or ""
    before, named, after = card.content.partition(value) if value else ("", "", "")
    denied = denies(content) and not denies(card.content)
    if not denied and value and value.casefold() in content.casefold():
        return value
    if denied or not named or not (content.startswith(before) and content.endswith(after)):
        return content
    return content[len(before) : len(content) - len(after)].strip(" .。") or content


def _time_in(content: str, card: TargetCard, said: CardOrigin) -> dict[str, Any]:
    """Returns the time that ``content`` names and the card does not, as on the day of the card's words, or nothing."""
    day = on_clock(said.said_at, said.time_zone)
    known = {one.text.casefold() for one in timex.find(card.content[:_READ], day)}
    for one in timex.find(content[:_READ], day):
        if one.start is not None and not one.vague and one.text.casefold() not in known:
            return {
                "occurred_at": one.start,
                "occurred_until": one.through or one.end,
                "occurred_at_hint": one.text,
                "time_grain": one.grain,
                "time_resolved": True,
                "alternative_at": one.alternative,
            }
    return {}


def _content(card: TargetCard, right: Correction) -> str:
    if right.content is not None:
        return right.content
    value = right.value or ""
    if card.value and card.value in card.content:
        return card.content.replace(card.value, value)
    if card.concept_key is None:
        raise invalid("content", "is required, because the words of the card do not hold its value")
    return f"{card.concept_key.replace('_', ' ')}: {value}"
