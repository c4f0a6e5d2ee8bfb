"""Commands of people and agents about cards. Each command is checked against the live tables and appended at most once.

A command changes and destroys no card. A repeated command returns the place of the first event. A command runs in
the transaction of :func:`commanding`.
"""

from __future__ import annotations

import logging
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

import psycopg
from psycopg.rows import dict_row, tuple_row

from events.access.principal import EVERYTHING, Reach
from events.http.errors import ProblemError, invalid, missing
from events.http.tokens import Keyring, Sealer
from events.modes.mode_log import registry_of
from events.modes.registry import Modes
from events.platform.database import see_tenant_of
from events.platform.sql import statement
from events.store import log
from events.store.log import Connection
from events.types.codec import Payload, encode
from events.types.envelope import Event, NewEvent, partition_of, uuid7
from events.types.modes import CardReclassified
from events.types.relations import CardsConnected
from events.types.tenancy import TOKENS, vouch
from events.types.verdicts import CardVerified, ConflictRuled
from ingest.modes.mode_commands import refuse_unknown

logger = logging.getLogger(__name__)

# The relations of one family must form no cycle. `update` and `state_change` are one family, because a chain of cards
# follows both.
_ONE_WAY = {
    "update": ("update", "state_change"),
    "state_change": ("update", "state_change"),
    "retracts": ("retracts",),
    "parent_of": ("parent_of",),
    "expands": ("expands",),
}


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The place of a command's event in the log. ``duplicate`` is true when an earlier command appended the event."""

    event_id: UUID
    partition: int
    position: int
    recorded_at: datetime
    duplicate: bool


@contextmanager
def commanding(connection: Connection, user_id: str, types: Collection[str] = ()) -> Iterator[None]:
    """The transaction of a command. It sees the tenant of the user, and wakes the followers of the log when it ended.

    ``types`` are the event types that the command may append; none stands for all types. ``connection`` must be in
    autocommit mode. After the commit nothing raises: the command is done, and followers also look by themselves.
    """
    with connection.transaction():
        see_tenant_of(connection, user_id)
        yield
    try:
        log.announce(connection, types=types)
    except psycopg.Error as error:
        logger.warning("the announcement of a command was lost: %s", log.reason_of(error))


def load_sealer(connection: Connection, keyring: Keyring) -> Sealer:
    """Reads the key of tokens, and keeps it in ``keyring``."""
    row = connection.execute(statement("events.http", "token_key"), {"proof": vouch(TOKENS)}).fetchone()
    assert row is not None
    return keyring.learn(row[0])


def rule(
    connection: Connection,
    user_id: str,
    ruled: ConflictRuled,
    *,
    now: datetime,
    reach: Reach = EVERYTHING,
) -> CommandResult:
    """Settles an arbitration. The verdict is final.

    Raises a 404 problem when the user has no such arbitration within ``reach``. Raises 409 when it is settled with
    another verdict.
    """
    row = _first(connection, "arbitration", user_id=user_id, arbitration=ruled.arbitration_id)
    if row is None or not _reached(connection, user_id, reach, ruled.arbitration_id):
        raise missing("arbitration", "arbitration_id")
    key = f"verdict/{ruled.arbitration_id}"
    given = _event_of(connection, user_id, key)
    if given is None and row[0] != "open":
        raise _settled(row[0])
    result = _append(connection, user_id, ruled, now=now, actor=ruled.by, key=key)
    if result.duplicate:
        given = _event_of(connection, user_id, key)
        if (
            given is not None
            and isinstance(given.payload, ConflictRuled)
            and given.payload.verdict != ruled.verdict
        ):
            raise _settled(given.payload.verdict)
    return result


def connect(
    connection: Connection,
    user_id: str,
    connected: CardsConnected,
    *,
    actor: str,
    now: datetime,
    reach: Reach = EVERYTHING,
) -> CommandResult:
    """Relates two cards of a user.

    Raises a 404 problem that names the card the user does not have within ``reach``, 422 when both cards are the same,
    and 409 when the relation would close a cycle.
    """
    ends = {"from_card": connected.from_card, "to_card": connected.to_card}
    if connected.from_card == connected.to_card:
        raise invalid("to_card", "is the same card as from_card; relate two different ones")
    kinds = _kinds(connection, user_id, *ends.values())
    for field, card in ends.items():
        if card not in kinds or not _reached(connection, user_id, reach, card):
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
    digest = sha256(encode(connected) + actor.encode()).hexdigest()
    return _append(connection, user_id, connected, now=now, actor=actor, key=f"relation/{digest}")


def verify(
    connection: Connection,
    user_id: str,
    card_id: UUID,
    *,
    by: str,
    note: str | None,
    verified_at: datetime,
    request_id: str | None,
    reach: Reach = EVERYTHING,
) -> CommandResult:
    """Records that a card was still right at ``verified_at``.

    Requests with the same ``request_id`` count once. Without a ``request_id``, requests with the same instant count
    once. Raises a 404 problem when the user has no such card within ``reach``.
    """
    kind = _kind(connection, user_id, card_id, reach)
    verified = CardVerified(card_id=card_id, kind=kind, by=by, note=note)
    # The prefix keeps a request id that looks like an instant apart from an instant.
    given = verified_at.isoformat() if request_id is None else f"request/{request_id}"
    key = f"verify/{card_id}/{given}"
    return _append(connection, user_id, verified, now=verified_at, actor=by, key=key)


def reclassify(
    connection: Connection,
    user_id: str,
    card_id: UUID,
    *,
    mode: str,
    by: str,
    reason: str | None,
    request_id: str | None,
    now: datetime,
    everybody: Mapping[str, str],
    reach: Reach = EVERYTHING,
) -> CommandResult:
    """Gives a card another mode. Requests with the same ``request_id`` count once.

    ``everybody`` are the modes of the installation. When any mode is declared, another one is refused with a 422
    problem. Raises a 404 problem when the user has no such card within ``reach``.
    """
    kind = _kind(connection, user_id, card_id, reach)
    modes = Modes(registry_of(connection, user_id), everybody)
    if modes:
        refuse_unknown("mode", mode, modes, None)
    row = _first(connection, "position_of_card", user_id=user_id, kind=kind, card=card_id)
    if row is None:
        raise missing("card", "card_id")
    given = CardReclassified(card_id=card_id, kind=kind, positions=(row[0],), mode=mode, by=by, reason=reason)
    key = f"mode/{card_id}/{now.isoformat() if request_id is None else f'request/{request_id}'}"
    return _append(connection, user_id, given, now=now, actor=by, key=key)


def _kind(connection: Connection, user_id: str, card_id: UUID, reach: Reach) -> Any:
    """Returns the kind of a card or of a statement. Raises a 404 problem when it is not there within ``reach``."""
    kind = _kinds(connection, user_id, card_id).get(card_id)
    if kind is None and (row := _first(connection, "existing_statement", user_id=user_id, card=card_id)):
        kind = row[0]
    if kind is None or not _reached(connection, user_id, reach, card_id):
        raise missing("card", "card_id")
    return kind


def _append(
    connection: Connection, user_id: str, payload: Payload, *, now: datetime, actor: str, key: str
) -> CommandResult:
    event = NewEvent(
        event_id=uuid7(),
        user_id=user_id,
        stream="commands",
        payload=payload,
        occurred_at=now,
        actor=actor,
        dedupe_key=key,
    )
    [appended] = log.append(connection, [event])
    if not appended.duplicate:
        assert appended.recorded_at is not None
        return CommandResult(
            event.event_id, appended.partition, appended.position, appended.recorded_at, False
        )
    before = _event_of(connection, user_id, key)
    assert before is not None, "a duplicate stands in the log"
    return CommandResult(before.event_id, before.partition, before.position, before.recorded_at, True)


def _event_of(connection: Connection, user_id: str, key: str) -> Event | None:
    """Returns the event with this idempotency key, or None."""
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(
            statement("ingest.api", "event_by_dedupe_key"),
            {"partition": partition_of(user_id), "user_id": user_id, "key": key},
        ).fetchone()
    return None if row is None else log.event_of(row)


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


def _first(connection: Connection, name: str, **values: Any) -> tuple[Any, ...] | None:
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
