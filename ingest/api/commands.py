"""Commands of people and agents about cards. Each command is checked against the live tables and appended at most once.

A command changes and destroys no card. A repeated command returns the place of the first event.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from psycopg.rows import tuple_row

from events.access.principal import Reach
from events.http.errors import ProblemError, missing
from events.modes.mode_log import registry_of
from events.modes.registry import Modes
from events.platform.database import Connection
from events.platform.sql import statement
from events.types.codec import Payload
from events.types.modes import CardReclassified
from events.types.verdicts import CardVerified, ConflictRuled
from ingest.decider import Command, Keyed, Outcome, decide
from ingest.modes.mode_commands import refuse_unknown

STREAM = "commands"


def rule(connection: Connection, user_id: str, ruled: ConflictRuled, command: Command) -> Outcome[None]:
    """Settles an arbitration. The verdict is final.

    Raises a 404 problem when the user has no such arbitration within reach. Raises 409 when it is settled with another
    verdict.
    """
    row = first_row(connection, "arbitration", user_id=user_id, arbitration=ruled.arbitration_id)
    if row is None or not reached(connection, user_id, command.reach, ruled.arbitration_id):
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


def verify(
    connection: Connection, user_id: str, card_id: UUID, note: str | None, command: Command
) -> Outcome[None]:
    """Records that a card was still right when the command was sent.

    Commands with the same idempotency key count once. Without one, commands of the same instant count once. Raises a
    404 problem when the user has no such card within reach, and 409 when the card was retracted.
    """
    kind = kind_within(connection, user_id, card_id, command.reach)
    if first_row(connection, "retracted", user_id=user_id, card=card_id) is not None:
        raise ProblemError(
            409,
            "Retracted",
            "card_id: the card was retracted; withdraw the relation that retracts it, or say the fact again",
            field="card_id",
        )
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
    kind = kind_within(connection, user_id, card_id, command.reach)
    modes = Modes(registry_of(connection, user_id), everybody)
    if modes:
        refuse_unknown("mode", mode, modes, None)
    row = first_row(connection, "position_of_card", user_id=user_id, kind=kind, card=card_id)
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
    return _append(connection, user_id, given, f"mode/{card_id}/{_sending(command)}", command)


def _append(
    connection: Connection, user_id: str, payload: Payload, key: str, command: Command
) -> Outcome[None]:
    return decide(Keyed(connection, user_id, STREAM, command, key), lambda _: payload)


def _sending(command: Command) -> str:
    # The prefix keeps a key that looks like an instant apart from an instant.
    key = command.idempotency_key
    return command.at.isoformat() if key is None else f"request/{key}"


def kind_within(connection: Connection, user_id: str, card_id: UUID, reach: Reach) -> Any:
    """Returns the kind of a card or of a statement. Raises a 404 problem when it is not there within ``reach``."""
    kind = kinds_of(connection, user_id, card_id).get(card_id)
    if kind is None and (row := first_row(connection, "existing_statement", user_id=user_id, card=card_id)):
        kind = row[0]
    if kind is None or not reached(connection, user_id, reach, card_id):
        raise missing("card", "card_id")
    return kind


def kinds_of(connection: Connection, user_id: str, *cards: UUID) -> dict[UUID, Any]:
    """Returns the kind of each of ``cards`` that the user has."""
    with connection.cursor(row_factory=tuple_row) as cursor:
        values = {"user_id": user_id, "cards": list(cards)}
        return dict(cursor.execute(statement("ingest.api", "existing_cards"), values).fetchall())


def reached(connection: Connection, user_id: str, reach: Reach, target: UUID) -> bool:
    """True when a card or an arbitration of the user is within ``reach``."""
    return not reach.limited or (
        first_row(connection, "within_reach", user_id=user_id, ids=[target], **reach.parameters()) is not None
    )


def first_row(connection: Connection, name: str, **values: object) -> tuple[Any, ...] | None:
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
