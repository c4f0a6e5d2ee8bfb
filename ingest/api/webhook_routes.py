"""The commands of webhooks, and their routes. Each command is decided under a lock of the user's webhooks."""

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query
from pydantic import Field

from events.http.access import Writer, owner_of, require_whole
from events.http.answering import routes_of
from events.http.errors import invalid, missing
from events.http.fields import Name, Uuid, storable
from events.platform.database import Connection, see_tenant_of
from events.resources.operating import AddedWebhook, Webhook, WebhooksPage
from events.types.codec import known_types
from events.types.envelope import Event, Payload
from events.types.webhooks import STREAM, WebhookAdded, WebhookRemoved
from events.webhooks import Webhook as Known
from events.webhooks import added, counts_of, webhooks_of
from ingest.api.transactions import OfUser, Sent, Transactions
from ingest.decider import Command, Outcome, UserStream, decide
from ingest.webhooks.targets import TargetError, checked_url, new_secret

MAX_WEBHOOKS = 20
"""The most webhooks of one user."""
Webhooks = dict[UUID, Known]


class UserWebhooks(UserStream[Webhooks, Known]):
    """The webhooks of a user, to which a command adds one, or of which it removes one."""

    name = STREAM

    def __init__(self, connection: Connection, command: Command, about: UUID | None = None) -> None:
        super().__init__(connection, command, about)
        self.keyed = "webhook" if about is None else None

    def load(self) -> Webhooks:
        return webhooks_of(self.connection, [self.owner]).get(self.owner, {})

    def present(self, state: Webhooks, event: Event | None = None) -> Known:
        webhook = state.get(self.about) if self.about else None
        if webhook is None:
            raise missing("webhook", "webhook_id")
        return webhook

    def answer(self, state: Webhooks, event: Event | None) -> Known:
        return self.present(state) if self.about or event is None else self.first_answer(event)

    def first_answer(self, event: Event) -> Known:
        webhook = added(event)
        assert webhook is not None, "only the adding of a webhook has an idempotency key"
        return webhook


def add(webhooks: UserWebhooks, url: str, types: Sequence[str], *, private: bool) -> Outcome[Known]:
    """Adds a webhook with a new secret.

    Raises 422 for a URL that no target may have, for a type that the log does not know, and for too many webhooks.
    ``private`` allows http and private addresses.
    """
    try:
        checked_url(url, private=private)
    except TargetError as error:
        raise invalid("url", str(error)) from None
    wanted = tuple(sorted(set(types)))
    if unknown := next((each for each in wanted if each not in known_types()), None):
        raise invalid("types", f"{unknown} is no event type; use some of {', '.join(sorted(known_types()))}")

    def rule(known: Webhooks) -> Payload:
        if len(known) >= MAX_WEBHOOKS:
            raise invalid("url", f"makes more than {MAX_WEBHOOKS} webhooks; remove one first")
        return WebhookAdded(url=url, secret=new_secret(), types=wanted)

    def is_repeat(first: Payload) -> bool:
        return isinstance(first, WebhookAdded) and (first.url, first.types) == (url, wanted)

    return decide(webhooks, rule, is_repeat)


def remove(webhooks: UserWebhooks) -> Outcome[Known]:
    """Removes a webhook, and answers with it as it was. Raises 404 when the user has none of this id."""

    def rule(known: Webhooks) -> Payload:
        return WebhookRemoved(webhook_id=webhooks.present(known).webhook_id)

    return decide(webhooks, rule)


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

        def run(connection: Connection) -> Outcome[Known]:
            return add(UserWebhooks(connection, command), body.url, body.types, private=private)

        return transactions.written(AddedWebhook, command, run, **_NO_COUNTS)

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
            return remove(UserWebhooks(connection, command, webhook_id)).state

        return _shown(transactions.run(command.owner, run), None)

    return router


_NO_COUNTS: dict[str, object] = {"pending": 0, "dead": 0, "last_error": None}


def _shown(webhook: object, counts: tuple[int, int, str | None] | None) -> Webhook:
    pending, dead, last_error = counts or (0, 0, None)
    return Webhook.made_from(webhook, pending=pending, dead=dead, last_error=last_error)
