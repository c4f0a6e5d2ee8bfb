"""Workers. One that follows the log is a handler with the heartbeat and the subscription that run it."""

from collections.abc import Callable
from typing import Any, Protocol

from events.health.heartbeat import Heartbeat
from events.platform.settings import Settings
from events.store.feed import Feed
from events.store.subscription import Handler, Subscription, SubscriptionOptions


class Worker(Protocol):
    """A worker that runs until it is told to stop."""

    def run(self) -> None: ...


class LogWorker(Handler):
    """Handles what ``feed`` gives until ``stopping`` is true. ``options`` are those of :class:`SubscriptionOptions`."""

    def __init__(
        self,
        settings: Settings,
        stopping: Callable[[], bool],
        name: str,
        worker: str,
        feed: Feed,
        **options: Any,
    ) -> None:
        self._settings = settings
        self._stopping = stopping
        self._feed = feed
        self._heartbeat = Heartbeat(settings.database_url, name, worker)
        self._subscription = Subscription(
            settings, self, feed, self._heartbeat, stopping, SubscriptionOptions(name=name, **options)
        )

    def run(self) -> None:
        """Works until ``stopping``. Waits while Postgres, or what the work needs, is away."""
        self._subscription.run()
