"""Who may take back what the user stated: the user alone."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from psycopg.rows import class_row

from events.http.errors import ProblemError
from events.language.concepts import normalise_value
from events.platform.database import Connection, rows_of, statement
from events.store import log
from events.store.asking import of_user
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import Event
from ingest.decider import Command


@dataclass(frozen=True, slots=True, kw_only=True)
class TargetCard:
    """A card as the tables have it, which may be behind the log."""

    content: str
    concept_key: str | None
    value: str | None
    gone: bool
    retracted: bool
    over: bool | None
    effective_at: datetime | None


def target_card(connection: Connection, card_id: UUID, command: Command) -> TargetCard | None:
    """Returns a card of the user as it is at the time of the command, or None."""
    with connection.cursor(row_factory=class_row(TargetCard)) as cursor:
        values = {"user_id": command.owner, "card": card_id, "at": command.at}
        return cursor.execute(statement("ingest.api", "corrected_card"), values).fetchone()


def refuse_agent(
    connection: Connection, card_id: UUID, card: TargetCard, command: Command, field: str = "card_id"
) -> list[Event]:
    """Returns the events that state what the card says. Raises a 403 problem when an agent would overrule the user.

    ``field`` is the field of the request that names the card.
    """
    values = {**of_user(command.owner), "card": card_id}
    rows = rows_of(connection, statement("ingest.api", "card_events"), values)
    stated = [event for event in map(log.event_if_readable, rows) if _states(event, card)]
    if command.by != "user" and any(each.provenance == "user_stated" for each in origins(stated)):
        raise overruling(field, "relate another card that contradicts it")
    return stated


def overruling(field: str, instead: str) -> ProblemError:
    """Returns the 403 problem of an agent that would overrule the user. ``instead`` is what an agent may do."""
    return ProblemError(
        403,
        "Stated by the user",
        f"{field}: the user stated this, and an agent does not overrule the user; leave out agent_id and use a key "
        f"of `cardlog keys create --acts-as user`, or {instead}",
        field=field,
    )


def _states(event: Event, card: TargetCard) -> bool:
    payload = event.payload
    if isinstance(payload, StateAsserted) and card.concept_key is not None:
        key = card.concept_key
        return normalise_value(key, payload.value) == normalise_value(key, card.value or "")
    return isinstance(payload, EventNoted | KnowledgeLearned)


def origins(stated: Iterable[Event]) -> Iterator[CardOrigin]:
    """Yields where each statement comes from."""
    for event in stated:
        if isinstance(event.payload, StateAsserted | EventNoted | KnowledgeLearned):
            yield event.payload.origin
