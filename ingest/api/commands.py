"""Commands of people and agents about cards. Each command is checked against the live tables and appended at most once.

A command changes and destroys no card. A repeated command returns the place of the first event.
"""

from collections.abc import Mapping, Sequence
from typing import TypeVar
from uuid import UUID

from psycopg.rows import TupleRow

from events.http.errors import ProblemError, conflict, invalid, missing
from events.modes.mode_log import registry_of
from events.modes.registry import Modes
from events.platform.database import Connection, statement, tuples_of
from events.store.asking import first_event, latest_events
from events.types.envelope import Event, NewEvent, Payload, partition_of, uuid7
from events.types.modes import CardReclassified
from events.types.relations import (
    CardsConnected,
    ConnectionWithdrawn,
    Predicate,
    Relation,
    relation_stream,
    retraction_of,
)
from events.types.verdicts import CardKind, CardVerified, ConflictRuled
from ingest.api.authority import overruling, refuse_agent, target_card
from ingest.decider import OF_THE_USER, Aggregate, Command, Decision, Keyed, Outcome, decide
from ingest.modes import refuse_unknown

_R = TypeVar("_R", CardsConnected, ConnectionWithdrawn)

# The relations of one family must form no cycle. `update` and `state_change` are one family, because a chain of cards
# follows both.
_ONE_WAY: dict[Predicate, tuple[Predicate, ...]] = {
    "update": ("update", "state_change"),
    "state_change": ("update", "state_change"),
    "retracts": ("retracts",),
    "parent_of": ("parent_of",),
    "expands": ("expands",),
}
# What cannot hold between the same two cards. "same_as" and the details say that both cards are right. "retracts" says
# that one card was never right, and "update" that it was.
_CONTRARY: tuple[tuple[frozenset[Predicate], frozenset[Predicate]], ...] = (
    (frozenset({"same_as"}), frozenset({"update", "state_change", "contradicts", "retracts"})),
    (frozenset({"expands", "qualifies"}), frozenset({"contradicts", "retracts"})),
    (frozenset({"update", "state_change"}), frozenset({"retracts"})),
)


class RelationStream(Aggregate[Event | None, Event | None]):
    """The events of one relation: from one card, with one predicate, to another card."""

    attempts = 3

    def __init__(self, connection: Connection, command: Command, link: Relation) -> None:
        super().__init__(connection, link.stream, command)

    def load(self) -> Event | None:
        return _last(self.connection, self.owner, self.stream)

    def answer(self, state: Event | None, event: Event | None) -> Event | None:
        return event or state

    def first_answer(self, event: Event) -> Event:
        return event

    def expected_version(self, state: Event | None) -> int:
        return 0 if state is None else state.version


def relate(connection: Connection, connected: CardsConnected, command: Command) -> Outcome[Event | None]:
    """Relates two cards of a user. The relation that holds with these very words is not appended again.

    Raises a 404 problem that names the card the user does not have within reach, 422 when both cards are the same,
    403 when an agent would retract what the user stated, and 409 when the relation would close a cycle or contradict
    another relation of the two cards.
    """
    ends = {"from_card": connected.from_card, "to_card": connected.to_card}
    if connected.from_card == connected.to_card:
        raise invalid("to_card", "is the same card as from_card; relate two different ones")
    kinds = kinds_of(connection, command.owner, *ends.values())
    for field, card in ends.items():
        if card not in kinds or not reached(connection, command, card):
            raise missing("card", field)
    if connected.predicate == "retracts":
        target = target_card(connection, connected.to_card, command)
        if target is not None:
            refuse_agent(connection, connected.to_card, target, command, "to_card")
    _refuse_cycle(connection, command.owner, connected)
    _refuse_contrary(connection, command.owner, connected)

    def rule(last: Event | None) -> Decision | None:
        same = last is not None and (last.payload, last.actor) == (connected, command.actor)
        if same:
            return None
        return new_relation(connected, _in_its_place(connection, connected, command))

    return decide(RelationStream(connection, command, connected), rule)


def withdraw(
    connection: Connection, relation_id: UUID, reason: str, command: Command
) -> Outcome[Event | None]:
    """Takes back the event ``relation_id``: a relation no longer holds, or a withdrawn one holds again.

    A corrected card that holds again takes the place of its correction again, and the other way round. A repeated
    command appends nothing. Raises a 404 problem when the user has no such relation within reach, 403 when an agent
    would withdraw a retraction of the user, and the problems of :func:`relate` when the relation cannot hold again.
    """
    link = _named(connection, command.owner, relation_id)
    if link is None or not all(reached(connection, command, card) for card in (link.from_card, link.to_card)):
        raise missing("relation", "relation_id")
    if isinstance(link, ConnectionWithdrawn):
        return relate(connection, _made_from(CardsConnected, link, reason), command)

    def rule(last: Event | None) -> Decision | None:
        over = last is not None and isinstance(last.payload, ConnectionWithdrawn)
        by_user = last is not None and last.actor in (OF_THE_USER, "erasure")
        if not over and by_user and command.by != "user" and link.predicate == "retracts":
            raise overruling("relation_id", "say the fact again as an inference of an agent")
        if over:
            return None
        withdrawn = _made_from(ConnectionWithdrawn, link, reason)
        return new_relation(withdrawn, _in_its_place(connection, withdrawn, command))

    return decide(RelationStream(connection, command, link), rule)


def _named(connection: Connection, user_id: str, relation_id: UUID) -> Relation | None:
    """Returns the relation or the withdrawal of an event, or None. An extractor's relation is known from the cards."""
    named = first_event(connection, user_id, _key(relation_id))
    if named is not None:
        return named.payload if isinstance(named.payload, Relation) else None
    row = first_row(connection, "relation_that_holds", user_id=user_id, relation=relation_id)
    if row is None:
        return None
    from_card, predicate, to_card = row
    return CardsConnected(from_card=from_card, predicate=predicate, to_card=to_card, reason="")


def _made_from(kind: type[_R], link: Relation, reason: str) -> _R:
    return kind(from_card=link.from_card, to_card=link.to_card, predicate=link.predicate, reason=reason)


def _in_its_place(connection: Connection, link: Relation, command: Command) -> list[NewEvent]:
    """Returns what is appended with ``link``, so that a card and its correction never hold together.

    Raises a 403 problem when an agent would take back what the user stated.
    """
    changed: Relation | None = None
    if link.predicate == "retracts":
        alone = link.from_card == retraction_of(link.to_card)
        changed = (_corrected_again if alone else _last_correction)(connection, command.owner, link)
    if changed is None:
        return []
    target = target_card(connection, changed.to_card, command)
    if isinstance(changed, CardsConnected) and target is not None:
        refuse_agent(connection, changed.to_card, target, command, "relation_id")
    return [relation_event(changed, command)]


def _corrected_again(connection: Connection, owner: str, link: Relation) -> Relation | None:
    """Returns the retraction that holds again with the correction to which ``link`` leads, or None."""
    card = link.to_card
    while isinstance(link, ConnectionWithdrawn) and (cause := _cause(connection, owner, card)) is not None:
        last = _last(connection, owner, relation_stream(card, "retracts", cause))
        if last is None:
            break
        if isinstance(last.payload, ConnectionWithdrawn):
            return _made_from(CardsConnected, last.payload, link.reason)
        card = cause
    return None


def _last_correction(connection: Connection, owner: str, link: Relation) -> Relation | None:
    """Returns what ``link`` from a correction to its card changes for the last correction of the card, or None."""
    card, by = link.to_card, link.from_card
    while _cause(connection, owner, by) == card:
        card = by
        row = first_row(connection, "retracted", user_id=owner, card=card)
        by = retraction_of(card) if row is None else row[1]
        if by == retraction_of(card):
            back = isinstance(link, ConnectionWithdrawn)
            kind = CardsConnected if back else ConnectionWithdrawn
            alone = kind(from_card=by, to_card=card, predicate="retracts", reason=link.reason)
            return alone if back == (row is None) else None
    return None


def _cause(connection: Connection, owner: str, card_id: UUID) -> UUID | None:
    """Returns the event that a card or a statement rests on: for a correction, the card that was corrected."""
    values = {"user_id": owner, "card": card_id, "partition": partition_of(owner)}
    row = first_row(connection, "cause_of_card", **values)
    return None if row is None else row[0]


def new_relation(payload: Relation, after: Sequence[NewEvent] = ()) -> Decision:
    """Returns the decision to append the event of a relation. :func:`withdraw` finds it by its id."""
    event_id = uuid7()
    return Decision(payload=payload, key=_key(event_id), event_id=event_id, after=after)


def relation_event(connected: Relation, command: Command) -> NewEvent:
    """Returns the event of a relation that is appended with another event. :func:`withdraw` finds it."""
    event_id = uuid7()
    return command.event(connected.stream, connected, event_id=event_id, dedupe_key=_key(event_id))


def _key(relation_id: UUID) -> str:
    """Returns the idempotency key by which the event of a relation is found."""
    return f"relation/{relation_id}"


def _refuse_cycle(connection: Connection, user_id: str, connected: CardsConnected) -> None:
    family = _ONE_WAY.get(connected.predicate)
    if family is None:
        return
    back = {"from_card": connected.to_card, "to_card": connected.from_card, "predicates": list(family)}
    row = first_row(connection, "would_close_cycle", user_id=user_id, **back)
    if row is not None and row[0]:
        raise conflict(
            "Cycle",
            "predicate",
            f"{connected.predicate} already leads from to_card to from_card; relate them the other way",
        )


def _refuse_contrary(connection: Connection, user_id: str, connected: CardsConnected) -> None:
    contrary: set[Predicate] = set()
    for one, other in _CONTRARY:
        contrary |= other if connected.predicate in one else one if connected.predicate in other else set()
    ends = (connected.from_card, connected.to_card)
    for predicate in sorted(contrary):
        for from_card, to_card in (ends, ends[::-1]):
            last = _last(connection, user_id, relation_stream(from_card, predicate, to_card))
            if last is not None and isinstance(last.payload, CardsConnected):
                raise conflict(
                    "Contradicting relations",
                    "predicate",
                    f"{connected.predicate} contradicts {predicate}, which holds between the two cards;"
                    f" withdraw relation {last.event_id} first",
                    relation_id=str(last.event_id),
                )


def _last(connection: Connection, user_id: str, stream: str) -> Event | None:
    return next(iter(latest_events(connection, user_id, stream, 1)), None)


STREAM = "commands"


def rule(connection: Connection, ruled: ConflictRuled, command: Command) -> Outcome[None]:
    """Settles an arbitration. The verdict is final.

    Raises a 404 problem when the user has no such arbitration within reach. Raises 409 when it is settled with another
    verdict.
    """
    row = first_row(connection, "arbitration", user_id=command.owner, arbitration=ruled.arbitration_id)
    if row is None or not reached(connection, command, ruled.arbitration_id):
        raise missing("arbitration", "arbitration_id")

    def verdict(_: None) -> Payload:
        if row[0] != "open":
            raise _settled(row[0])
        return ruled

    def is_repeat(first: Payload) -> bool:
        if isinstance(first, ConflictRuled) and first.verdict != ruled.verdict:
            raise _settled(first.verdict)
        return True

    key = f"verdict/{ruled.arbitration_id}"
    return decide(Keyed(connection, STREAM, command, key), verdict, is_repeat)


def verify(connection: Connection, card_id: UUID, note: str | None, command: Command) -> Outcome[None]:
    """Records that a card was still right when the command was sent.

    Commands with the same idempotency key count once. Without one, commands of the same instant count once. Raises a
    404 problem when the user has no such card within reach, and 409 when the card was retracted.
    """
    kind = kind_within(connection, card_id, command)
    if first_row(connection, "retracted", user_id=command.owner, card=card_id) is not None:
        raise conflict(
            "Retracted",
            "card_id",
            "the card was retracted; withdraw the relation that retracts it, or say the fact again",
        )
    verified = CardVerified(card_id=card_id, kind=kind, by=command.actor, note=note)
    return _append(connection, verified, f"verify/{card_id}/{_sending(command)}", command)


def reclassify(
    connection: Connection,
    card_id: UUID,
    mode: str,
    reason: str | None,
    command: Command,
    everybody: Mapping[str, str],
) -> Outcome[None]:
    """Gives a card another mode. Commands with the same idempotency key count once.

    ``everybody`` are the modes of the installation. When any mode is declared, another one is refused with a 422
    problem. Raises a 404 problem when the user has no such card within reach.
    """
    kind = kind_within(connection, card_id, command)
    modes = Modes(registry_of(connection, command.owner), everybody)
    if modes:
        refuse_unknown("mode", mode, modes, None)
    row = first_row(connection, "position_of_card", user_id=command.owner, kind=kind, card=card_id)
    if row is None:
        raise missing("card", "card_id")
    position, project_id = row
    given = CardReclassified(
        card_id=card_id,
        kind=kind,
        positions=(position,),
        mode=mode,
        by=command.actor,
        reason=reason,
        mode_id=modes.mode_id(project_id or "", mode),
    )
    return _append(connection, given, f"mode/{card_id}/{_sending(command)}", command)


def _append(connection: Connection, payload: Payload, key: str, command: Command) -> Outcome[None]:
    return decide(Keyed(connection, STREAM, command, key), lambda _: payload)


def _sending(command: Command) -> str:
    # The prefix keeps a key that looks like an instant apart from an instant.
    key = command.idempotency_key
    return command.at.isoformat() if key is None else f"request/{key}"


def kind_within(connection: Connection, card_id: UUID, command: Command) -> CardKind:
    """Returns the kind of a card or of a statement.

    Raises a 404 problem when it is not there within reach, and 422 for a reference, which ops alone change.
    """
    user_id = command.owner
    kind = kinds_of(connection, user_id, card_id).get(card_id)
    if kind is None and (row := first_row(connection, "existing_statement", user_id=user_id, card=card_id)):
        kind = row[0]
    if kind is None and not command.reach.limited:
        values = {"user_id": user_id, "kind": "reference", "card": card_id}
        if first_row(connection, "position_of_card", **values) is not None:
            raise invalid("card_id", "is a reference; change it with ops, or archive it")
    if kind is None or not reached(connection, command, card_id):
        raise missing("card", "card_id")
    return kind


def kinds_of(connection: Connection, user_id: str, *cards: UUID) -> dict[UUID, CardKind]:
    """Returns the kind of each of ``cards`` that the user has."""
    values = {"user_id": user_id, "cards": list(cards)}
    return dict(tuples_of(connection, statement("ingest.api", "existing_cards"), values))


def reached(connection: Connection, command: Command, target: UUID) -> bool:
    """True when a card or an arbitration of the user is within the reach of a command."""
    values = {"user_id": command.owner, "ids": [target], **command.reach.parameters()}
    return not command.reach.limited or first_row(connection, "within_reach", **values) is not None


def first_row(connection: Connection, name: str, **values: object) -> TupleRow | None:
    return next(iter(tuples_of(connection, statement("ingest.api", name), values)), None)


def _settled(status: str) -> ProblemError:
    return ProblemError(
        409,
        "Already settled",
        f"the arbitration is settled: {status}",
        field="arbitration_id",
        settled=status,
    )
