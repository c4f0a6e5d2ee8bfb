"""Waits until everything pushed so far has become cards."""

import time
from collections.abc import Callable, Mapping
from contextlib import closing
from typing import TypeVar

import psycopg

from events.health import heartbeat
from events.platform.counting import counted
from events.platform.database import Connection, connect, statement
from events.platform.failures import in_a_line
from events.platform.projections import PROJECTIONS
from events.platform.settings import Settings
from events.platform.streams import REDIS_AWAY
from events.store import log
from events.store.checkpoints import Processor
from ingest.extraction.workers.rules_worker import PROCESSOR as EXTRACTOR
from ingest.recording.intake import Intake
from projectors.vectors.pending import waiting_up_to

_LOOK_EVERY_S = 0.02
_TELL_EVERY_S = 5.0
_T = TypeVar("_T")


class StillBehindError(RuntimeError):
    """The timeout is over. The message names the stage that is behind, and its lag."""


class CatchingUp:
    """Follows the turns of one moment through the stages, one stage after the other, so that none is missed.

    It does not wait for turns that are pushed after the start. It skips a projection, with a note, when its workers
    report that they wait (vectors without an embedding model). It never skips ``cards``.
    """

    def __init__(self, settings: Settings, timeout: float, *, tell_every_s: float = _TELL_EVERY_S) -> None:
        self._settings = settings
        self._timeout = timeout
        self._deadline = time.monotonic() + timeout
        self._tell_every_s = tell_every_s
        self._told_at = time.monotonic()
        self._note: Callable[[str], None] = print

    def run(self, note: Callable[[str], None]) -> None:
        """Returns when everything is projected. Raises :class:`StillBehindError` after the timeout.

        ``note`` gets a line about what is behind every ``tell_every_s`` seconds.
        """
        self._note = note
        with closing(Intake(self._settings)) as intake:
            last = self._with_retry(intake.last_ids, "the queue")
            self._until(
                lambda: "" if intake.settled_up_to(last) else "the recorder has turns left in the queue"
            )
        heads = self._heads()
        self._until(lambda: self._looked(lambda connection: self._behind(connection, EXTRACTOR, heads)))
        heads = self._heads()
        for name in sorted(PROJECTIONS, key="vectors".__eq__):
            self._until(
                lambda name=name: self._looked(lambda c: self._projection_behind(c, name, heads))  # type: ignore[misc]
            )

    def _looked(self, look: Callable[[Connection], _T]) -> _T:
        with connect(self._settings.database_url, application="wait") as connection:
            return look(connection)

    def _heads(self) -> Mapping[int, int]:
        return self._with_retry(lambda: self._looked(log.heads), "the log")

    def _behind(self, connection: Connection, processor: Processor, heads: Mapping[int, int]) -> str:
        positions = processor.positions(connection)
        behind = sum(max(0, head - positions.get(partition, 0)) for partition, head in heads.items())
        return f"{processor.name} is {counted(behind, 'event')} behind" if behind else ""

    def _projection_behind(self, connection: Connection, name: str, heads: Mapping[int, int]) -> str:
        live = statement("projectors.generations", "live_generation")
        row = connection.execute(live, {"projection": name}).fetchone()
        if row is None:
            return f"{name} has no live generation yet"
        behind = self._behind(connection, Processor(name, row[0]), heads)
        if not behind and name == "vectors" and (waiting := waiting_up_to(connection, heads)):
            behind = f"{counted(waiting, 'card')} without a vector"
        if behind and name != "cards":
            reports = heartbeat.reports(connection)
            alive = [report for report in reports if report.stage == name and report.alive]
            if alive and all(report.state == "waiting" for report in alive):
                self._note(f"not waiting for {name}: {alive[0].detail}")
                return ""
        return behind

    def _until(self, behind: Callable[[], str]) -> None:
        while why := self._with_retry(behind, "the stack"):
            if time.monotonic() > self._deadline:
                raise StillBehindError(f"after {self._timeout:.0f} s, {why}")
            self._tell(why)
            time.sleep(_LOOK_EVERY_S)

    def _tell(self, why: str) -> None:
        if time.monotonic() - self._told_at >= self._tell_every_s:
            self._told_at = time.monotonic()
            self._note(f"waiting: {why}")

    def _with_retry(self, look: Callable[[], _T], what: str) -> _T:
        """Returns ``look()``, and calls it again while Redis or Postgres is away."""
        while True:
            try:
                return look()
            except (psycopg.OperationalError, *REDIS_AWAY) as error:
                if time.monotonic() > self._deadline:
                    raise StillBehindError(
                        f"after {self._timeout:.0f} s, {what} cannot be reached: {error}"
                    ) from error
                self._tell(f"{what} cannot be reached: {in_a_line(str(error))}")
                time.sleep(0.2)
