"""A webhook, and the fold that makes the webhooks of a user of their events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from events.types.envelope import Event
from events.types.webhooks import WebhookAdded, WebhookRemoved


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
