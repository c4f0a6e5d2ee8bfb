"""Webhooks: the fold that makes the webhooks of a user of events, and the messages that are due."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from events.platform.database import Connection, rows_of, statement, tuples_of
from events.store import log
from events.types.envelope import Event, partition_of
from events.types.webhooks import STREAM, WebhookAdded, WebhookRemoved

_PACKAGE = "events"


@dataclass(frozen=True, slots=True, kw_only=True)
class Webhook:
    """An address that gets messages about the events of ``types`` behind ``position``."""

    webhook_id: UUID
    url: str
    types: tuple[str, ...]
    secret: str = field(repr=False)
    added_at: datetime
    position: int


def added(event: Event) -> Webhook | None:
    """Returns the webhook that ``event`` adds, or None for any other event."""
    payload = event.payload
    if not isinstance(payload, WebhookAdded):
        return None
    return Webhook(
        webhook_id=event.event_id,
        url=payload.url,
        types=payload.types,
        secret=payload.secret,
        added_at=event.recorded_at,
        position=event.position,
    )


def fold(events: Iterable[Event]) -> dict[UUID, Webhook]:
    """Returns the webhooks of a user by id, the first added first, of the events of one stream in order.

    An erased event adds nothing, so an erased user has no webhook.
    """
    webhooks: dict[UUID, Webhook] = {}
    for event in events:
        if isinstance(event.payload, WebhookRemoved):
            webhooks.pop(event.payload.webhook_id, None)
        elif webhook := added(event):
            webhooks[webhook.webhook_id] = webhook
    return webhooks


def webhooks_of(connection: Connection, owners: Collection[str]) -> dict[str, dict[UUID, Webhook]]:
    """Returns the webhooks of each of ``owners`` at the end of the log. An owner without events has no entry."""
    values = {
        "partitions": sorted({partition_of(owner) for owner in owners}),
        "users": sorted(owners),
        "stream": STREAM,
    }
    events: dict[str, list[Event]] = {}
    for event in map(
        log.event_if_readable, rows_of(connection, statement(_PACKAGE, "webhook_entries"), values)
    ):
        events.setdefault(event.user_id, []).append(event)
    return {owner: fold(each) for owner, each in events.items()}


def counts_of(connection: Connection, owner: str) -> dict[UUID, tuple[int, int, str | None]]:
    """Returns for each webhook the messages that wait, the dead ones, and the last error."""
    rows = tuples_of(connection, statement(_PACKAGE, "webhook_counts"), {"user_id": owner})
    return {webhook_id: (pending, dead, error) for webhook_id, pending, dead, error in rows}
