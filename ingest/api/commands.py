"""Commands of people and agents about cards. Each command is checked against the live tables and appended at most once.

A command changes and destroys no card. A repeated command returns the place of the first event.
"""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from typing import Any
from uuid import UUID

from psycopg.rows import tuple_row

from events.access.principal import Reach
from events.http.errors import ProblemError, invalid, missing
from events.modes.mode_log import registry_of
from events.modes.registry import Modes
from events.platform.database import Connection
from events.platform.sql import statement
from events.types.codec import Payload, encode
from events.types.modes import CardReclassified
from events.types.relations import CardsConnected
from events.types.verdicts import CardVerified, ConflictRuled
from ingest.decider import Command, Keyed, Outcome, decide
from ingest.modes.mode_commands import refuse_unknown

STREAM = "commands"
# The relations of one family must form no cycle. `update` and `state_change` are one family, because a chain of cards
# follows both.
_ONE_WAY = {
    "update": ("update", "state_change"),
    "state_change": ("update", "state_change"),
    "retracts": ("retracts",),
    "parent_of": ("parent_of",),
    "expands": ("expands",),
}


def rule(connection: Connection, user_id: str, ruled: ConflictRuled, command: Command) -> Outcome[None]:
    """Settles an arbitration. The verdict is final.

    Raises a 404 problem when the user has no such arbitration within reach. Raises 409 when it is settled with another
    verdict.
    """
    row = _first(connection, "arbitration", user_id=user_id, arbitration=ruled.arbitration_id)
    if row is None or not _reached(connection, user_id, command.reach, ruled.arbitration_id):
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
    return decide(Keyed(connection, user_id, STREAM, command, key), verdict, is_repeat)


def connect(
    connection: Connection, user_id: str, connected: CardsConnected, command: Command
) -> Outcome[None]:
    """Relates two cards of a user.

    Raises a 404 problem that names the card the user does not have within reach, 422 when both cards are the same,
    and 409 when the relation would close a cycle.
    """
    ends = {"from_card": connected.from_card, "to_card": connected.to_card}
    if connected.from_card == connected.to_card:
        raise invalid("to_card", "is the same card as from_card; relate two different ones")
    kinds = _kinds(connection, user_id, *ends.values())
    for field, card in ends.items():
        if card not in kinds or not _reached(connection, user_id, command.reach, card):
            raise missing("card", field)
    family = _ONE_WAY.get(connected.predicate)
    if family is not None:
        back = {"from_card": connected.to_card, "to_card": connected.from_card, "predicates": list(family)}
        row = _first(connection, "would_close_cycle", user_id=user_id, **back)
        if row is not None and row[0]:
            raise ProblemError(
                409,
                "Cycle",
                f"predicate: {connected.predicate} already leads from to_card to from_card; relate them the other way",
                field="predicate",
            )
    digest = sha256(encode(connected) + command.actor.encode()).hexdigest()
    return _append(connection, user_id, connected, f"relation/{digest}", command)


def verify(
    connection: Connection, user_id: str, card_id: UUID, note: str | None, command: Command
) -> Outcome[None]:
    """Records that a card was still right when the command was sent.

    Commands with the same idempotency key count once. Without one, commands of the same instant count once. Raises a
    404 problem when the user has no such card within reach.
    """
    kind = _kind(connection, user_id, card_id, command.reach)
    verified = CardVerified(card_id=card_id, kind=kind, by=command.actor, note=note)
    return _append(connection, user_id, verified, f"verify/{card_id}/{_sending(command)}", command)


def reclassify(
    connection: Connection,
    user_id: str,
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
    kind = _kind(connection, user_id, card_id, command.reach)
    modes = Modes(registry_of(connection, user_id), everybody)
    if modes:
        refuse_unknown("mode", mode, modes, None)
    row = _first(connection, "position_of_card", user_id=user_id, kind=kind, card=card_id)
    if row is None:
        raise missing("card", "card_id")
    given = CardReclassified(
        card_id=card_id, kind=kind, positions=(row[0],), mode=mode, by=command.actor, reason=reason
    )
    return _append(connection, user_id, given, f"mode/{card_id}/{_sending(command)}", command)


def _append(
    connection: Connection, user_id: str, payload: Payload, key: str, command: Command
) -> Outcome[None]:
    return decide(Keyed(connection, user_id, STREAM, command, key), lambda _: payload)


def _sending(command: Command) -> str:
    # The prefix keeps a key that looks like an instant apart from an instant.
    key = command.idempotency_key
    return command.at.isoformat() if key is None else f"request/{key}"


def _kind(connection: Connection, user_id: str, card_id: UUID, reach: Reach) -> Any:
    """Returns the kind of a card or of a statement. Raises a 404 problem when it is not there within ``reach``."""
    kind = _kinds(connection, user_id, card_id).get(card_id)
    if kind is None and (row := _first(connection, "existing_statement", user_id=user_id, card=card_id)):
        kind = row[0]
    if kind is None or not _reached(connection, user_id, reach, card_id):
        raise missing("card", "card_id")
    return kind


def _kinds(connection: Connection, user_id: str, *cards: UUID) -> dict[UUID, Any]:
    """Returns the kind of each of ``cards`` that the user has."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        values = {"user_id": user_id, "cards": list(cards)}
        return dict(cursor.execute(statement("ingest.api", "existing_cards"), values).fetchall())


def _reached(connection: Connection, user_id: str, reach: Reach, target: UUID) -> bool:
    """True when a card or an arbitration of the user is within ``reach``."""
    return not reach.limited or (
        _first(connection, "within_reach", user_id=user_id, ids=[target], **reach.parameters()) is not None
    )


def _first(connection: Connection, name: str, **values: object) -> tuple[Any, ...] | None:
    with connection.cursor(row_factory=tuple_row) as cursor:
        return cursor.execute(statement("ingest.api", name), values).fetchone()


def _settled(status: str) -> ProblemError:
    return ProblemError(
        409,
        "Already settled",
        f"the arbitration is settled: {status}",
        field="arbitration_id",
        settled=status,
    )
