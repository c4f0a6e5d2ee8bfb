"""Who sends a command over HTTP: a parameter of routes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import Depends, Header

from events.access.principal import Principal
from events.http.access import Writer, owner_of
from ingest.decider import Command

IdempotencyKey = Annotated[
    str | None,
    Header(max_length=200, description="a command with a key that was seen before returns the first answer"),
]


@dataclass(frozen=True, slots=True)
class Sender:
    """The caller of a command, and the idempotency key of the command."""

    caller: Principal
    idempotency_key: str | None

    def command(self, actor: str, **more: Any) -> Command:
        """Returns the command that is sent now. ``more`` are further fields of it."""
        return Command(
            actor=actor,
            at=datetime.now(UTC),
            idempotency_key=self.idempotency_key,
            reach=self.caller.reach,
            **more,
        )

    def owner(self, user_id: str, thing: str = "user", field: str = "user_id") -> str:
        """Returns the storage id of a user. Raises the 404 problem of a missing ``thing`` for another's user."""
        return owner_of(self.caller, user_id, thing=thing, field=field)


async def _sender(caller: Writer, idempotency_key: IdempotencyKey = None) -> Sender:
    return Sender(caller, idempotency_key)


Sent = Annotated[Sender, Depends(_sender)]
