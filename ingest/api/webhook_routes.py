"""The webhooks of a user over HTTP: add, list and remove."""

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field

from events.http.access import Writer, owner_of, require_whole
from events.http.answering import routes_of
from events.http.fields import Name, Uuid, storable
from events.platform.database import Connection, see_tenant_of
from events.resources.operating import AddedWebhook, Webhook, WebhooksPage
from events.webhooks import counts_of, webhooks_of
from ingest.api.transactions import OfUser, Sent, Transactions
from ingest.webhooks import webhook_commands
from ingest.webhooks.webhook_commands import UserWebhooks

UserId = Annotated[Name, Query(description="whose memory this is")]


class WebhookIn(OfUser):
    """A new webhook."""

    url: Annotated[str, *storable(2000)] = Field(description="the address that gets the messages, with https")
    types: Annotated[list[Annotated[str, *storable(100)]], Field(min_length=1, max_length=100)] = Field(
        description="the types of events to tell, such as TurnRecorded"
    )


def webhook_router(transactions: Transactions, *, private: bool) -> APIRouter:
    """Returns the routes. ``private`` allows targets with http and private addresses."""
    router = routes_of("webhooks")

    @router.post("/v1/webhooks", status_code=201, summary="Add a webhook")
    def add_webhook(body: WebhookIn, sender: Sent) -> AddedWebhook:
        require_whole(sender.caller)
        command = sender.command(body.user_id)
        add = partial(webhook_commands.add, url=body.url, types=body.types, private=private)
        return transactions.written(
            AddedWebhook, command, lambda c: add(UserWebhooks(c, command)), **_NO_COUNTS
        )

    @router.get("/v1/webhooks", summary="The webhooks of a user, with the messages that wait or are dead")
    def webhooks(user_id: UserId, caller: Writer) -> WebhooksPage:
        require_whole(caller)
        owner = owner_of(caller, user_id)
        with transactions.connection() as connection, connection.transaction():
            see_tenant_of(connection, owner)
            counts = counts_of(connection, owner)
            found = webhooks_of(connection, [owner]).get(owner, {}).values()
        return WebhooksPage(webhooks=[_shown(each, counts.get(each.webhook_id)) for each in found])

    @router.delete("/v1/webhooks/{webhook_id}", summary="Remove a webhook, and drop its messages")
    def remove_webhook(webhook_id: Uuid, user_id: UserId, sender: Sent) -> Webhook:
        require_whole(sender.caller)
        command = sender.command(user_id, "webhook")

        def run(connection: Connection) -> object:
            return webhook_commands.remove(UserWebhooks(connection, command, webhook_id)).state

        return _shown(transactions.run(command.owner, run), None)

    return router


_NO_COUNTS: dict[str, object] = {"pending": 0, "dead": 0, "last_error": None}


def _shown(webhook: object, counts: tuple[int, int, str | None] | None) -> Webhook:
    pending, dead, last_error = counts or (0, 0, None)
    return Webhook.made_from(webhook, pending=pending, dead=dead, last_error=last_error)
