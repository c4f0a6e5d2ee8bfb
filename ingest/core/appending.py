"""How a command of the core document decides and appends.

Every command runs in a transaction of the caller. It folds the document at the end of the log, decides, and appends.
When another event of the user came between, the append is taken back and the command decides again. What was decided
is therefore what every fold of the log makes of the event, whatever the projector's lag is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from hashlib import sha256
from typing import Any
from uuid import UUID

from events.core.fold import Present
from events.core.patches import PatchConflictError
from events.http.errors import ProblemError, invalid
from events.references.reference_log import first_event
from events.store import log
from events.store.log import AppendConflictError, Connection
from events.types.codec import Payload
from events.types.core import (
    STREAM,
    Author,
    PatchQueued,
    PatchRefused,
)
from events.types.envelope import Event, NewEvent, uuid7
from ingest.core.documents import Documents

_ATTEMPTS = 20


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """Who sends a command and when. ``idempotency_key``: a repeated command returns the first answer."""

    by: Author
    actor: str
    at: datetime
    idempotency_key: str | None = None
    source: str | None = None
    confidence: float | None = None
    rationale: str | None = None
    turn_ids: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What a command did. ``version`` is the version of the document after it, ``position`` the last event it rests on.

    ``event_id`` is None when nothing was appended. ``queued`` says why a patch waits instead; its queue id is
    ``event_id``, or None when the queue is full.
    """

    version: int
    position: int
    event_id: UUID | None = None
    duplicate: bool = False
    queued: PatchConflictError | None = None


class _InterruptedError(Exception):
    """Another event of the user came between reading and appending."""


def conflict_problem(error: PatchConflictError, version: int, **more: Any) -> ProblemError:
    """Returns the problem of a patch that does not fit: operation, path, expected and actual value."""
    status = 409 if error.fault in ("test", "path", "contradiction") else 422
    return ProblemError(
        status,
        "Patch does not fit",
        f"patch/{error.op}: {error.reason} (at {error.path[:200]!r}); read the document, and send a patch that fits",
        field=f"patch/{error.op}",
        fault=error.fault,
        op=error.op,
        path=error.path,
        expected=error.expected,
        actual=error.actual,
        version=version,
        **more,
    )


def appended(
    connection: Connection,
    documents: Documents,
    owner: str,
    present: Present,
    payload: Callable[[Present], Payload | None],
    origin: Origin,
    *,
    history: bool = False,
    key: str | None = None,
    entries: Sequence[UUID] = (),
) -> Outcome:
    """Appends what ``payload`` decides on the present document, and decides again when an event came between."""
    for _ in range(_ATTEMPTS):
        made = payload(present)
        if made is None:
            return Outcome(version=present.state.version, position=present.folded_to)
        dedupe = key or (None if origin.idempotency_key is None else dedupe_key(origin.idempotency_key))
        event = NewEvent(
            event_id=uuid7(),
            user_id=owner,
            stream=STREAM,
            payload=made,
            occurred_at=origin.at,
            actor=origin.actor,
            dedupe_key=dedupe,
        )
        try:
            with connection.transaction():
                [place] = log.append(connection, [event])
                if not place.duplicate and documents.has_later(
                    connection, owner, present.seen_to, place.position
                ):
                    raise _InterruptedError
        except _InterruptedError:
            present = documents.present(connection, owner, history=history, entries=entries)
            continue
        if place.duplicate:
            first = first_event(connection, owner, dedupe or "")
            assert first is not None, "a duplicate stands in the log"
            return outcome_of(connection, documents, owner, first)
        changed = not isinstance(made, PatchQueued | PatchRefused)
        return Outcome(
            version=present.state.version + changed, position=place.position, event_id=event.event_id
        )
    raise AppendConflictError("the document changed during every attempt")


def outcome_of(connection: Connection, documents: Documents, owner: str, event: Event) -> Outcome:
    present = documents.present(connection, owner, history=True)
    version = next(
        (each.version for each in present.history if each.event_id == event.event_id), present.state.version
    )
    payload = event.payload
    queued = None
    if isinstance(payload, PatchQueued):
        error = PatchConflictError(
            payload.fault, payload.op, payload.path, payload.reason, payload.expected, payload.actual
        )
        queued = as_sent(error, payload.guards)
    return Outcome(
        version=version, position=event.position, event_id=event.event_id, duplicate=True, queued=queued
    )


def as_sent(error: PatchConflictError, guards: Sequence[int]) -> PatchConflictError:
    """Returns the error with the number that the operation has in the patch as it was sent."""
    number = error.op - sum(1 for each in guards if each < error.op)
    return PatchConflictError(error.fault, number, error.path, error.reason, error.expected, error.actual)


def other_command() -> ProblemError:
    return invalid("Idempotency-Key", "was used for another command; use a new key for each one")


def dedupe_key(key: str) -> str:
    return f"core/{sha256(key.encode()).hexdigest()}"
