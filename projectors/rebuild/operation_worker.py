"""The worker that does the operations on generations and parked users that the write service asks for."""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from uuid import UUID

import psycopg
from psycopg.rows import class_row

from events.platform.counting import counted
from events.platform.database import Connection, connect, statement
from events.platform.failures import is_away
from events.platform.linger import pause
from events.platform.settings import Settings
from events.store.log import announce, reason_of
from projectors import parking
from projectors.generations.generations import drop as drop_generation
from projectors.generations.generations import list_generations
from projectors.generations.projector import Projector
from projectors.rebuild import swap
from projectors.rebuild.rebuild import Rebuild, RebuildProgress

logger = logging.getLogger(__name__)

_PACKAGE = "projectors.rebuild"
_LOOK_S = 1.0
"""The seconds between two looks for operations."""
_TELL_S = 0.5
"""The least seconds between two reports of progress."""
_FIRST_BACKOFF_S, _LONGEST_BACKOFF_S = 1.0, 60.0
_ATTEMPTS = 3
_KINDS = {
    "generations": ("rebuild", "swap", "drop_generation"),
    "parked users": ("retry_parked", "drop_parked"),
}


@dataclass(frozen=True, slots=True)
class OpenOperation:
    """An operation that is not done. ``attempts`` counts how often a worker began it."""

    operation_id: UUID
    user_id: str
    action: str
    projection: str
    generation: int | None
    event_id: UUID | None
    verify: bool
    because: str | None
    attempts: int

    @property
    def key(self) -> dict[str, object]:
        return {"operation_id": self.operation_id, "user_id": self.user_id}


class _StoppedError(BaseException):
    """The worker was told to stop. No handler of errors takes it."""


class _RefusedError(RuntimeError):
    """The operation was not done. The message gives the reason."""


class OperationWorker:
    """Does the open operations of one kind on ``projectors``, the oldest first, until ``stopping`` is true.

    An operation is done once: its row names the generation or the event that it shall change, so a worker that goes on
    after a kill sees what is done already. An operation during which a worker ended three times has failed. An
    operation that is refused has failed with the reason. While Postgres is away, it stays open.
    """

    def __init__(
        self, settings: Settings, projectors: Sequence[Projector], kind: str, stopping: Callable[[], bool]
    ) -> None:
        self._projectors = {each.name: each for each in projectors}
        self._actions = _KINDS[kind]
        self._settings = settings
        self._name = f"operations on {kind}, {', '.join(self._projectors)}"
        self._stopping = stopping
        self._backoff_s = _FIRST_BACKOFF_S
        self._told = 0.0

    def run(self) -> None:
        """Works until ``stopping``. Waits while Postgres is away."""
        while not self._stopping():
            try:
                with connect(self._settings.database_url, application=f"work, {self._name}") as connection:
                    while not self._stopping():
                        self.step(connection)
                        pause(_LOOK_S, self._stopping)
            except _StoppedError:
                return
            except (psycopg.Error, OSError) as error:
                logger.info("%s waits for postgres: %s", self._name, reason_of(error))
                pause(self._later(), self._stopping)

    def step(self, connection: Connection) -> None:
        """Does the open operations, unless another worker does."""
        names = {"name": self._name}
        row = connection.execute(statement(_PACKAGE, "operations_lock"), names).fetchone()
        if row is None or not row[0]:
            return
        try:
            self._work(connection)
        finally:
            # The end of a broken connection releases the lock, too.
            with suppress(psycopg.Error):
                connection.execute(statement(_PACKAGE, "operations_unlock"), names)

    def _work(self, connection: Connection) -> None:
        wanted = {"projections": list(self._projectors), "actions": list(self._actions)}
        with connection.cursor(row_factory=class_row(OpenOperation)) as cursor:
            asked = cursor.execute(statement(_PACKAGE, "open_operations"), wanted).fetchall()
        for each in asked:
            if self._stopping():
                break
            self._do(connection, each)
        if asked:
            connection.execute(statement(_PACKAGE, "forget_operations"))
        self._backoff_s = _FIRST_BACKOFF_S

    def _do(self, connection: Connection, asked: OpenOperation) -> None:
        failed, outcome = False, ""
        if asked.attempts >= _ATTEMPTS:
            failed, outcome = (
                True,
                f"a worker ended {_ATTEMPTS} times during this operation; see the log of the workers",
            )
        else:
            connection.execute(statement(_PACKAGE, "begin_operation"), asked.key)
            try:
                outcome = self._carry_out(connection, asked, self._projectors[asked.projection])
            except Exception as error:
                if is_away(error):
                    raise
                failed, outcome = True, reason_of(error)
        connection.execute(
            statement(_PACKAGE, "end_operation"), asked.key | {"failed": failed, "outcome": outcome}
        )
        logger.info("%s of %s: %s", asked.action, asked.projection, outcome)

    def _carry_out(self, connection: Connection, asked: OpenOperation, projector: Projector) -> str:
        if asked.action in _KINDS["parked users"]:
            return self._settle(connection, asked, projector)
        found = {each.number: each.status for each in list_generations(connection, projector.name)}
        if asked.action == "rebuild":
            live = next((number for number, status in found.items() if status == "live"), None)
            if live is not None and asked.generation is not None and live > asked.generation:
                return f"generation {live} is live"
            return self._rebuild(connection, asked, projector)
        assert asked.generation is not None
        if asked.action == "swap":
            if found.get(asked.generation) != "live":
                swap.rollback(connection, projector, asked.generation)
            return f"generation {asked.generation} is live"
        if asked.generation in found:
            drop_generation(connection, projector.name, asked.generation)
        return f"generation {asked.generation} is dropped"

    def _settle(self, connection: Connection, asked: OpenOperation, projector: Projector) -> str:
        result = parking.RetryResult(0, 0, None)
        first = next(iter(parking.queues(connection, projector.name, asked.user_id)), None)
        if asked.action == "retry_parked":
            result = parking.retry(connection, projector, asked.user_id)
        elif first is not None and first.event_id == asked.event_id:
            result = parking.drop(connection, projector, asked.user_id, asked.because or "dropped by hand")
        announce(connection)
        if result.reason is not None:
            raise _RefusedError(f"still waits: {result.reason}")
        return f"{counted(result.folded, 'event')} folded, {result.dropped} dropped"

    def _rebuild(self, connection: Connection, asked: OpenOperation, projector: Projector) -> str:
        def report(progress: RebuildProgress) -> None:
            self._tell(connection, asked, progress)

        result = Rebuild(self._settings, projector, verify=asked.verify, on_progress=report).run()
        if result.replaced is None:
            raise _RefusedError(f"not equal to the live tables, and not swapped: {'; '.join(result.unequal)}")
        compared = "equal to the tables before, and " if result.equal else ""
        return f"{compared}generation {result.generation} is live; {counted(result.events, 'event')}"

    def _tell(self, connection: Connection, asked: OpenOperation, progress: RebuildProgress) -> None:
        """Writes the progress of an operation, at most twice a second within a stage.

        Raises :class:`_StoppedError` when the worker shall stop.
        """
        if self._stopping():
            raise _StoppedError
        if progress.stage != "folding" or time.monotonic() >= self._told + _TELL_S:
            self._told = time.monotonic()
            share = min(0.99, progress.events / max(progress.total, 1))
            with suppress(psycopg.Error):  # The progress is a courtesy. The work goes on without it.
                moved = asked.key | {"stage": progress.stage, "share": share}
                connection.execute(statement(_PACKAGE, "move_operation"), moved)

    def _later(self) -> float:
        """Returns the seconds until the next try of what failed: 1 to 60, twice as many each time."""
        now, self._backoff_s = self._backoff_s, min(self._backoff_s * 2, _LONGEST_BACKOFF_S)
        return now
