"""``cardlog webhooks``: adds, lists and removes the webhooks of a user."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING
from uuid import UUID

from cyclopts import App

from cardlog_client import Client
from deploy.commands.ask.verbs import Verbs, argument

if TYPE_CHECKING:
    from cardlog_client import types

app = App(name="webhooks", help="addresses that get a signed message for each event of some types")
verbs = Verbs(app)


def _lines(webhook: types.Webhook) -> Iterator[str]:
    counts = f"{webhook['pending']:>4} waiting  {webhook['dead']:>4} dead"
    yield f"{webhook['webhook_id']}  {counts}  {webhook['url']}  {' '.join(webhook['types'])}"
    if webhook["last_error"]:
        yield f"    last error: {webhook['last_error']}"


def _added(webhook: types.AddedWebhook) -> Iterator[str]:
    yield from _lines(webhook)
    yield f"secret, shown only now: {webhook['secret']}"


def _all(found: types.WebhooksPage) -> Iterator[str]:
    for each in found["webhooks"]:
        yield from _lines(each)


verbs.call(
    "add", "add a webhook, and show its secret", Client.add_webhook,
    argument("url", str, "the address that gets the messages, with https"),
    argument("types", list[str], "the types of events, such as TurnRecorded"),
    lines=_added,
)  # fmt: skip
verbs.call(
    "list", "list the webhooks of a user, with what waits and what is dead", Client.webhooks, lines=_all
)
verbs.call(
    "remove", "remove a webhook, and drop its messages", Client.remove_webhook,
    argument("webhook", UUID, "the webhook's id, as listed"), lines=_lines,
)  # fmt: skip
