"""The events of webhooks: addresses that get a signed message for each event of some types.

All webhooks of a user are in one stream. ``webhook_id`` is the event id of the ``WebhookAdded``.
"""

from dataclasses import field
from uuid import UUID

from events.types.codec import event_type

STREAM = "webhooks"


@event_type(version=1)
class WebhookAdded:
    """Events of ``types`` are told to ``url`` from now on. ``secret`` signs the messages, and no text shows it."""

    url: str
    secret: str = field(repr=False)
    types: tuple[str, ...]


@event_type(version=1)
class WebhookRemoved:
    """Nothing more is told to a webhook."""

    webhook_id: UUID
