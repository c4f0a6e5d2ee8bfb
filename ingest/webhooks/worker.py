"""The worker of webhooks: notes which messages are due, and delivers them.

The checkpoints and the due messages move in one transaction. A message counts as tried before it is sent, and leaves
the table after its target took it. A kill between the two sends the message again, with the same id.
"""

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from events.health.log_worker import LogWorker
from events.platform.database import Connection, rows_of, statement, tuples_of
from events.platform.linger import UNHURRIED_S
from events.platform.settings import Settings
from events.store.batches import (
    Batches,
    RoundResult,
    handle_batch,
)
from events.store.checkpoints import Processor
from events.store.feed import LogFeed
from events.store.log import event_if_readable
from events.types.envelope import Event
from events.types.tenancy import tenant_of
from events.types.tombstones import Erased
from events.types.webhooks import STREAM
from events.webhooks import Webhook, webhooks_of
from ingest.webhooks.targets import TargetError, body_of, headers_of, post

PROCESSOR = Processor("webhooks")
_PACKAGE = "ingest.webhooks"
_EVENTS = 500  # of a partition, in one round
_AT_ONCE = 32
# Messages at once of one webhook, user and tenant, so that their slow targets leave places to others.
_OF_WEBHOOK = 2
_OF_USER = 8
_OF_TENANT = _AT_ONCE // 2
_LOOK_S = 0.2  # between two looks while messages are on their way


@dataclass(frozen=True, slots=True)
class _Due:
    """A message on its way."""

    user_id: str
    webhook_id: UUID
    partition: int
    position: int
    attempts: int

    @property
    def names(self) -> dict[str, object]:
        return {"user_id": self.user_id, "webhook_id": self.webhook_id, "position": self.position}


class Webhooks(LogWorker):
    """Delivers messages until ``stopping`` is true. A slow or dead target holds up only its own messages."""

    def __init__(self, settings: Settings, stopping: Callable[[], bool], worker: str = "1") -> None:
        linger_s = max(UNHURRIED_S, settings.linger_ms / 1000)
        super().__init__(settings, stopping, PROCESSOR.name, worker, LogFeed(), linger_s=linger_s)
        self._senders = ThreadPoolExecutor(_AT_ONCE, thread_name_prefix="webhook")
        self._sent: dict[Future[None], _Due] = {}

    def prepare(self, connection: Connection) -> bool:
        PROCESSOR.open(connection)
        connection.execute(statement(_PACKAGE, "drop_old"))
        return True

    def drain(self, connection: Connection) -> None:
        wait(self._sent)
        self._settle(connection)

    def release(self) -> None:
        # The messages on their way end by themselves. Each is tried again, because nobody notes its end.
        self._sent.clear()

    def handle(self, connection: Connection) -> RoundResult:
        """Notes the messages of new events, sends what is due, and notes what was delivered."""
        with connection.transaction():
            read = handle_batch(
                connection,
                PROCESSOR,
                self._feed,
                lambda batches: _note(connection, batches),
                events=_EVENTS,
                types=(),
            )
        # A message whose end is noted in this round leaves its place to one that is due already.
        busy = self._send(connection) or bool(self._sent)
        if self._sent:
            wait(self._sent, timeout=_LOOK_S, return_when=FIRST_COMPLETED)
        self._settle(connection)
        return RoundResult(passed=read.passed, more=read.more or busy, wait_s=1.0)

    def _send(self, connection: Connection) -> bool:
        """Sends the due messages that have a place. Returns whether there was one."""
        places = _AT_ONCE - len(self._sent)
        if places <= 0:
            return False
        users = [each.user_id for each in self._sent.values()]
        values = {
            "webhooks": [each.webhook_id for each in self._sent.values()],
            "users": users,
            "tenants": [tenant_of(each) for each in users],
            "of_webhook": _OF_WEBHOOK,
            "of_user": _OF_USER,
            "of_tenant": _OF_TENANT,
            "limit": places,
        }
        claimed = [_Due(*row) for row in tuples_of(connection, statement(_PACKAGE, "claim_due"), values)]
        webhooks = webhooks_of(connection, {each.user_id for each in claimed}) if claimed else {}
        for due in claimed:
            webhook = webhooks.get(due.user_id, {}).get(due.webhook_id)
            if webhook is None:  # it was removed, or its user was erased
                connection.execute(statement(_PACKAGE, "drop_webhook"), due.names)
                continue
            [row] = rows_of(
                connection,
                statement(_PACKAGE, "event"),
                {"partition": due.partition, "position": due.position},
            )
            event = event_if_readable(row)
            if isinstance(event.payload, Erased):
                connection.execute(statement(_PACKAGE, "drop_delivery"), due.names)
                continue
            self._sent[self._senders.submit(self._post, webhook, event)] = due
        return bool(claimed)

    def _post(self, webhook: Webhook, event: Event) -> None:
        body = body_of(event)
        headers = headers_of(event, body, webhook.secret, datetime.now(UTC))
        post(webhook.url, headers, body, private=self._settings.webhook_private)

    def _settle(self, connection: Connection) -> None:
        """Notes the end of each message that ended. Any failure concerns only its own message."""
        for future in [each for each in self._sent if each.done()]:
            due = self._sent.pop(future)
            error = future.exception()
            if error is None:
                connection.execute(statement(_PACKAGE, "drop_delivery"), due.names)
                continue
            why = str(error) if isinstance(error, TargetError) else f"not sent: {type(error).__name__}"
            values = {**due.names, "error": why, "attempts": self._settings.webhook_attempts}
            connection.execute(statement(_PACKAGE, "delivery_failed"), values)


def _note(connection: Connection, batches: Batches) -> None:
    """Adds a message for each event and each webhook of its user that asks for its type. No payload is read."""
    passed = {
        "partitions": [page.claim.partition for page in batches],
        "after": [page.claim.position for page in batches],
        "last": [page.last for page in batches],
        "stream": STREAM,
    }
    events = tuples_of(connection, statement(_PACKAGE, "events_of_webhooks"), passed)
    if not events:
        return
    webhooks = webhooks_of(connection, {user for user, *_ in events})
    due = [
        (user, webhook.webhook_id, partition, position)
        for user, partition, position, kind in events
        for webhook in webhooks.get(user, {}).values()
        if kind in webhook.types and position > webhook.position
    ]
    if due:
        columns = dict(
            zip(
                ("users", "webhooks", "partitions", "positions"),
                map(list, zip(*due, strict=True)),
                strict=True,
            )
        )
        connection.execute(statement(_PACKAGE, "add_deliveries"), columns)
