"""The loop of the workers that do what the write service asks for in tables."""

import logging
from collections.abc import Callable
from contextlib import suppress

import psycopg

from events.platform.database import Connection, connect, statement
from events.platform.linger import pause
from events.platform.settings import Settings
from events.store.log import reason_of

logger = logging.getLogger(__name__)

_PACKAGE = "projectors.rebuild"
LOOK_S = 1.0
"""The seconds between two looks for requests."""
TELL_S = 0.5
"""The least seconds between two reports of progress."""
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 1.0, 60.0


class StoppedError(BaseException):
    """The worker was told to stop. No handler of errors takes it."""


class RequestWorker:
    """Does open requests until ``stopping`` is true. Of all workers with one ``name``, one works at a time."""

    def __init__(self, settings: Settings, name: str, stopping: Callable[[], bool]) -> None:
        self._settings = settings
        self._name = name
        self._stopping = stopping
        self._backoff_s = _FIRST_BACKOFF_S

    def run(self) -> None:
        """Works until ``stopping``. Waits while Postgres is away."""
        while not self._stopping():
            pause_s = LOOK_S
            try:
                with connect(self._settings.database_url, application=f"work, {self._name}") as connection:
                    while not self._stopping():
                        pause(self.step(connection), self._stopping)
            except StoppedError:
                return
            except (psycopg.Error, OSError) as error:
                logger.info("%s waits for postgres: %s", self._name, reason_of(error))
                pause_s = self.later()
            pause(pause_s, self._stopping)

    def step(self, connection: Connection) -> float:
        """Does the open requests, unless another worker does. Returns the seconds until the next step."""
        names = {"name": self._name}
        row = connection.execute(statement(_PACKAGE, "request_lock"), names).fetchone()
        if row is None or not row[0]:
            return LOOK_S
        try:
            return self.work(connection)
        finally:
            # The end of a broken connection releases the lock, too.
            with suppress(psycopg.Error):
                connection.execute(statement(_PACKAGE, "request_unlock"), names)

    def work(self, connection: Connection) -> float:
        """Does the open requests. Returns the seconds until the next step. The worker holds the lock of its name."""
        raise NotImplementedError

    def later(self) -> float:
        """Returns the seconds until the next try of what failed: 1 to 60, twice as many each time."""
        now, self._backoff_s = self._backoff_s, min(self._backoff_s * 2, _LONGEST_BACKOFF_S)
        return now

    def at_once(self) -> None:
        """Makes the next :meth:`later` the shortest."""
        self._backoff_s = _FIRST_BACKOFF_S
