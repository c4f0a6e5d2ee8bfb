"""The commands of webhooks: add and remove. Each is decided under a lock of the user's webhooks."""

from collections.abc import Sequence
from uuid import UUID

from events.http.errors import invalid, missing
from events.platform.database import Connection
from events.types.codec import known_types
from events.types.envelope import Event, Payload
from events.types.webhooks import STREAM, WebhookAdded, WebhookRemoved
from events.webhooks import Webhook, added, webhooks_of
from ingest.decider import Command, Outcome, UserStream, decide
from ingest.webhooks.targets import TargetError, checked_url, new_secret

MAX_WEBHOOKS = 20
"""The most webhooks of one user."""
Webhooks = dict[UUID, Webhook]


class UserWebhooks(UserStream[Webhooks, Webhook]):
    """The webhooks of a user, to which a command adds one, or of which it removes one."""

    name = STREAM

    def __init__(self, connection: Connection, command: Command, about: UUID | None = None) -> None:
        super().__init__(connection, command, about)
        self.keyed = "webhook" if about is None else None

    def load(self) -> Webhooks:
        return webhooks_of(self.connection, [self.owner]).get(self.owner, {})

    def present(self, state: Webhooks, event: Event | None = None) -> Webhook:
        webhook = state.get(self.about) if self.about else None
        if webhook is None:
            raise missing("webhook", "webhook_id")
        return webhook

    def answer(self, state: Webhooks, event: Event | None) -> Webhook:
        return self.present(state) if self.about or event is None else self.first_answer(event)

    def first_answer(self, event: Event) -> Webhook:
        webhook = added(event)
        assert webhook is not None, "only the adding of a webhook has an idempotency key"
        return webhook


def add(webhooks: UserWebhooks, url: str, types: Sequence[str], *, private: bool) -> Outcome[Webhook]:
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


def remove(webhooks: UserWebhooks) -> Outcome[Webhook]:
    """Removes a webhook, and answers with it as it was. Raises 404 when the user has none of this id."""

    def rule(known: Webhooks) -> Payload:
        return WebhookRemoved(webhook_id=webhooks.present(known).webhook_id)

    return decide(webhooks, rule)
