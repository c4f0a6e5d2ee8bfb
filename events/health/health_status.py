"""How every stage stands, judged from what Postgres knows. Unknown is never zero."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from typing import Any, Literal

import psycopg
from psycopg.rows import class_row

from events.health.heartbeat import HeartbeatReport, reports
from events.http.problem import ProblemError
from events.platform.database import connect
from events.platform.failures import is_away
from events.platform.sql import statement

HealthStatus = Literal["running", "waiting", "stuck", "stopped", "building", "abandoned", "unknown"]

STUCK_S = 30.0
"""A stage that has work and did none of it for this long is stuck."""

RECORDER = "recorder"
RELAY = "relay"
_WITHOUT = "without a vector"
_READERS = ("extractor", "cards", "vectors")
_OPTIONAL = frozenset(("vectors",))
"""Stages others do without: one that says why it waits is waiting, however long, and never stuck."""

_WELL = frozenset(("running", "waiting", "building"))


@dataclass(frozen=True, slots=True)
class StageHealth:
    """One stage. None is unknown, everywhere.

    ``behind`` counts turns in the queue or events in the log, ``seconds`` is the age of the oldest of them,
    ``stalled_s`` for how long there has been work and none was done. ``rate`` is what the stage passes a
    second, ``position`` all it ever passed. ``dead`` are turns that go no further: those the recorder
    refused and that wait to be mended, those the extractor gave up. ``pending`` cards wait for their vector though
    their events were passed, the oldest for ``pending_s``; they count in ``behind`` and ``seconds``.
    """

    name: str
    behind: int | None
    seconds: float | None
    state: HealthStatus
    detail: str | None = None
    rate: float | None = None
    parked: int | None = None
    dead: int | None = None
    error: str | None = None
    error_at: datetime | None = None
    workers: int | None = None
    position: int | None = None
    stalled_s: float | None = None
    pending: int | None = None
    pending_s: float | None = None

    @property
    def well(self) -> bool:
        """Whether an operator can leave it alone."""
        return self.state in _WELL

    def document(self) -> dict[str, Any]:
        """As JSON for machines."""
        found = asdict(self)
        del found["name"]
        found["error_at"] = None if self.error_at is None else self.error_at.isoformat()
        return found


def unknown(name: str, why: str) -> StageHealth:
    """A stage nothing is known of."""
    return StageHealth(name, None, None, "unknown", why)


@dataclass(frozen=True, slots=True)
class LogHealth:
    """What Postgres knows: every reader of the log, and the workers of every stage."""

    readers: tuple[StageHealth, ...]
    reports: tuple[HeartbeatReport, ...]
    events: int | None

    @classmethod
    def absent(cls, why: str) -> LogHealth:
        """All of it unknown."""
        return cls(tuple(unknown(name, why) for name in _READERS), (), None)

    def reader(self, name: str) -> StageHealth:
        """The reader ``name``; unknown when there is no such one."""
        found = (stage for stage in self.readers if stage.name == name)
        return next(found, unknown(name, "is not there"))

    @property
    def recorder(self) -> StageHealth:
        """What is known of the recorder without its queue: its workers, and not how far behind they are."""
        said = [report for report in self.reports if report.stage == RECORDER]
        stage = assess(
            RECORDER, said, behind=0, seconds=0.0, moved_s=None, parked=0, dead=None, position=None
        )
        return replace(
            stage,
            behind=None,
            seconds=None,
            state="unknown",
            detail="its queue is not looked at",
            stalled_s=None,
        )

    @property
    def parked(self) -> int | None:
        """Events parked in live generations."""
        parked = [stage.parked for stage in self.readers]
        return None if self.events is None else sum(count or 0 for count in parked)


@dataclass(frozen=True, slots=True)
class _Row:
    processor: str
    generation: int
    status: str
    position: int
    behind: int
    seconds: float | None
    moved_s: float | None
    parked: int
    parked_reason: str | None
    parked_at: datetime | None
    changing: bool


def read_health(connection: psycopg.Connection[Any]) -> LogHealth:
    """How everything stands now. Raises ``psycopg.Error``."""
    with connection.cursor(row_factory=class_row(_Row)) as cursor:
        rows = cursor.execute(statement("events.health", "reader_lag")).fetchall()
    said = tuple(reports(connection))
    totals = connection.execute(statement("events.health", "log_totals")).fetchone()
    assert totals is not None
    events, failed = totals
    found = [_reader(row, said, failed) for row in rows if row.processor != RELAY or _wanted(RELAY, said)]
    found = [_with_pending(connection, stage) if stage.name == "vectors" else stage for stage in found]
    there = {stage.name for stage in found}
    missing = [unknown(name, "has not been started yet") for name in _READERS if name not in there]
    return LogHealth((*found, *missing), said, events)


def _with_pending(connection: psycopg.Connection[Any], stage: StageHealth) -> StageHealth:
    """The stage of the vectors, with the cards that it passed and that still wait for their vector."""
    row = connection.execute(statement("events.health", "pending_vectors_there")).fetchone()
    if row is None or not row[0]:
        return replace(stage, pending=0, pending_s=0.0)
    row = connection.execute(statement("events.health", "pending_vectors")).fetchone()
    assert row is not None
    waiting, oldest_s, failed, failure = row
    said = [stage.detail] if stage.detail else []
    if waiting and not (stage.detail and _WITHOUT in stage.detail):
        said.append(f"{waiting} cards {_WITHOUT}, the oldest for {oldest_s:.0f} s")
    if failed:
        said.append(f"{failed} cards cannot be embedded: {failure}")
    return replace(
        stage,
        behind=None if stage.behind is None else stage.behind + waiting,
        seconds=None if stage.seconds is None else max(stage.seconds, oldest_s or 0.0),
        detail="; ".join(said) or None,
        pending=waiting,
        pending_s=oldest_s or 0.0,
    )


def _wanted(name: str, said: Sequence[HeartbeatReport]) -> bool:
    """Whether anybody runs the stage, or did and was not told to stop: nobody needs a relay without Kafka."""
    return any(report.stage == name and report.state != "stopped" for report in said)


def _reader(row: _Row, said: Sequence[HeartbeatReport], failed: int) -> StageHealth:
    extractor = row.processor == "extractor"
    if row.status == "building":
        return StageHealth(
            f"{row.processor}_g{row.generation}",
            row.behind,
            row.seconds,
            "building" if row.changing else "abandoned",
            None if row.changing else "its rebuild died; the next one removes it",
            parked=0,
            dead=0,
            position=row.position,
        )
    return assess(
        row.processor,
        [report for report in said if report.stage == row.processor],
        behind=row.behind,
        seconds=row.seconds,
        moved_s=row.moved_s,
        parked=row.parked,
        dead=failed if extractor else 0,
        position=row.position,
        last_error=(row.parked_reason, row.parked_at),
    )


def assess(
    name: str,
    said: Sequence[HeartbeatReport],
    *,
    behind: int,
    seconds: float | None,
    moved_s: float | None,
    parked: int,
    dead: int | None,
    position: int | None,
    last_error: tuple[str | None, datetime | None] = (None, None),
) -> StageHealth:
    """What to think of a stage that is ``behind`` so far, moved ``moved_s`` ago, and whose workers said ``said``.

    No clock is read: every age was measured by the server that keeps the instant.
    """
    alive = [report for report in said if report.alive]
    standing = _stalled_for(behind, seconds, moved_s)
    state, detail = _state(name, said, alive, standing)
    errors = [(report.error, report.error_at) for report in said]
    error, error_at = max(
        (each for each in (*errors, last_error) if each[1] is not None),
        key=lambda each: each[1],  # type: ignore[arg-type, return-value]
        default=(None, None),
    )
    rates = [report.rate for report in alive if report.rate is not None]
    return StageHealth(
        name=name,
        behind=behind,
        seconds=seconds,
        state=state,
        detail=detail,
        rate=sum(rates) if rates and len(rates) == len(alive) else None,
        parked=parked,
        dead=dead,
        error=error,
        error_at=error_at,
        workers=len(alive),
        position=position,
        stalled_s=standing,
    )


def _stalled_for(behind: int, seconds: float | None, moved_s: float | None) -> float | None:
    """Work may have waited for long in a stage that moves, and a stage without work need not move."""
    if not behind:
        return 0.0
    ages = [age for age in (seconds, moved_s) if age is not None]
    return max(0.0, min(ages)) if ages else None


def _state(
    name: str, said: Sequence[HeartbeatReport], alive: Sequence[HeartbeatReport], standing: float | None
) -> tuple[HealthStatus, str | None]:
    if not said:
        return "unknown", "has not been started yet"
    if not alive:
        last = min(said, key=lambda report: report.seen_s)
        what = "stopped" if last.state == "stopped" else "fell silent"
        return "stopped", f"{last.worker} (pid {last.pid}) {what} {last.seen_s:.0f} s ago"
    waiting = [report for report in alive if report.state == "waiting"]
    reason = waiting[0].detail if waiting else None
    if standing is not None and standing > STUCK_S and not (len(waiting) == len(alive) and name in _OPTIONAL):
        return "stuck", reason or f"nothing was done for {standing:.0f} s"
    if len(waiting) == len(alive):
        return "waiting", reason
    silent = [report for report in said if not report.alive and report.state != "stopped"]
    if silent:
        return "running", f"{silent[0].worker} (pid {silent[0].pid}) fell silent {silent[0].seen_s:.0f} s ago"
    notes = [report.detail for report in alive if report.state == "running" and report.detail]
    return "running", f"{waiting[0].worker} waits: {reason}" if waiting else notes[0] if notes else None


def refuse_if_stuck(stage: StageHealth, after_s: float) -> None:
    """Raise a 503 :class:`ProblemError` naming ``stage`` when it has had work and done none for ``after_s``."""
    if stage.stalled_s is not None and stage.stalled_s > after_s:
        raise ProblemError(
            503,
            "Not ready",
            f"{stage.name} has had work and done none for {stage.stalled_s:.0f} s: {stage.detail}",
            stage=stage.name,
            behind=stage.behind,
            stalled_s=round(stage.stalled_s, 1),
        )


class LogMonitor:
    """Looks at the log again and again over one connection; a Postgres that is away is an answer, not an error."""

    def __init__(self, database_url: str, application: str) -> None:
        self._url = database_url
        self._application = application
        self._connection: psycopg.Connection[Any] | None = None

    def __call__(self) -> LogHealth:
        try:
            if self._connection is None:
                self._connection = connect(self._url, application=self._application)
                self._connection.execute(statement("events.health", "probe_timeout"))
            return read_health(self._connection)
        except psycopg.Error as error:
            self.close()
            reason = str(error).strip().splitlines() or [type(error).__name__]
            return LogHealth.absent(f"postgres {'is away' if is_away(error) else 'cannot tell'}: {reason[0]}")

    def close(self) -> None:
        """Give the connection back."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
