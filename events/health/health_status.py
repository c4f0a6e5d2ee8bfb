"""The health status of every stage, from the heartbeats and checkpoints in Postgres. Unknown is never zero."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import psycopg
from psycopg.rows import class_row

from events.health.heartbeat import HeartbeatReport, reports
from events.health.stage_health import BlockedEmbedder, StageHealth, unknown
from events.http.errors import ProblemError
from events.platform.counting import counted
from events.platform.database import Connection, connect, one_row, sees_every_tenant, statement
from events.platform.failures import NEEDS_OPERATOR, in_a_line, is_away
from events.platform.modes import GENERAL_MODE
from events.platform.projections import PROJECTIONS, READERS
from events.resources.status import HealthStatus

STUCK_S = 30.0
"""A stage is stuck when it has work and did none of it for this long."""

RECORDER = "recorder"
RELAY = "relay"
_WITHOUT = "without a vector"
_LONGEST_REASON = 300
_OPTIONAL = frozenset((*PROJECTIONS, "curator")) - {"cards"}
"""Stages that other stages do not need. Such a stage is never stuck while all its workers say why they wait."""


@dataclass(frozen=True, slots=True)
class LogHealth:
    """The health that Postgres knows: every processor of the log, and the workers of every stage.

    ``events`` is the number of events in the log. ``whole`` is False when the database role sees one tenant at a time:
    ages and parked events are then missing.
    """

    readers: tuple[StageHealth, ...]
    reports: tuple[HeartbeatReport, ...]
    events: int | None
    whole: bool = True

    @classmethod
    def absent(cls, why: str, names: Sequence[str] = READERS) -> LogHealth:
        """Returns a health in which everything is unknown. ``why`` is the reason."""
        return cls(tuple(unknown(name, why) for name in names), (), None)

    def reader(self, name: str) -> StageHealth:
        """Returns the processor ``name``. Its health is unknown when it does not exist."""
        found = (stage for stage in self.readers if stage.name == name)
        return next(found, unknown(name, "does not exist"))

    @property
    def recorder(self) -> StageHealth:
        """The recorder's workers. Its lag is unknown, because its queue is in Redis."""
        reports = [report for report in self.reports if report.stage == RECORDER]
        stage = assess(
            RECORDER, reports, behind=0, seconds=0.0, moved_s=None, parked=0, dead=None, position=None
        )
        return replace(
            stage,
            behind=None,
            seconds=None,
            state="unknown",
            detail="its queue was not read",
            stalled_s=None,
        )

    @property
    def parked(self) -> int | None:
        """Events parked in live generations. None when Postgres did not tell, or not of every tenant."""
        parked = [stage.parked for stage in self.readers]
        return sum(count or 0 for count in parked) if self.events is not None and self.whole else None


@dataclass(frozen=True, slots=True)
class _Row:
    processor: str
    generation: int
    status: str
    position: int
    behind: int
    seconds: float | None
    moved_s: float | None
    parked: int | None
    parked_reason: str | None
    parked_at: datetime | None
    changing: bool
    waited_s: float | None = None


class WorkClock:
    """Measures how long each processor has had work, as far as the calls of this clock saw it."""

    def __init__(self) -> None:
        self._since: dict[tuple[str, int], float] = {}

    def seconds(self, processor: str, generation: int, behind: int) -> float:
        """Returns the seconds since the first call that saw work, and since then none that saw no work."""
        if not behind:
            self._since.pop((processor, generation), None)
            return 0.0
        now = time.monotonic()
        return now - self._since.setdefault((processor, generation), now)


def read_health(connection: Connection, clock: WorkClock | None = None) -> LogHealth:
    """Returns the health of every stage now. Raises ``psycopg.Error``.

    A role that sees one tenant at a time cannot see how old the work is. ``clock`` then tells how long the work has
    waited at least.
    """
    with connection.cursor(row_factory=class_row(_Row)) as cursor:
        rows = cursor.execute(statement("events.health", "reader_lag"), {"readers": list(READERS)}).fetchall()
    heartbeats = tuple(reports(connection))
    totals = one_row(connection, statement("events.health", "log_totals"))
    events, failed = totals
    whole = sees_every_tenant(connection)
    if not whole:
        clock = clock or WorkClock()
        # Under the policies these counts are of no tenant, and ages are missing. They are unknown, not zero.
        rows = [
            replace(
                row,
                seconds=None if row.behind else 0.0,
                parked=None,
                waited_s=clock.seconds(row.processor, row.generation, row.behind),
            )
            for row in rows
        ]
        failed = None
    found = [
        _reader(row, heartbeats, failed)
        for row in rows
        if row.processor != RELAY or _wanted(RELAY, heartbeats)
    ]
    if whole:
        found = [_with_pending(connection, stage) if stage.name == "vectors" else stage for stage in found]
    names = {stage.name for stage in found}
    missing = [unknown(name, "has not been started yet") for name in READERS if name not in names]
    return LogHealth((*found, *missing), heartbeats, events, whole=whole)


def _with_pending(connection: Connection, stage: StageHealth) -> StageHealth:
    """Returns the stage ``vectors`` with the cards that wait for their vector although their events are passed."""
    there = connection.execute(statement("events.health", "pending_vectors_exists")).fetchone()
    if there is None or not there[0]:
        return replace(stage, pending=0, pending_s=0.0)
    row = one_row(connection, statement("events.health", "pending_vectors"))
    waiting, oldest_s, failed, failure = row
    details = [stage.detail] if stage.detail else []
    if waiting and not (stage.detail and _WITHOUT in stage.detail):
        details.append(f"{counted(waiting, 'card')} {_WITHOUT}, the oldest for {oldest_s:.0f} s")
    blocked = _blocked(connection) if there[1] else ()
    for each in blocked:
        why = "" if each.reason in (stage.detail or "") else f": {each.reason}"
        wait = "waits" if each.cards == 1 else "wait"
        details.append(f"{counted(each.cards, 'card')} of {each.mode} {wait} for its embedder{why}")
    if failed:
        details.append(f"{counted(failed, 'card')} cannot be embedded: {failure}")
    return replace(
        stage,
        behind=None if stage.behind is None else stage.behind + waiting,
        seconds=None if stage.seconds is None else max(stage.seconds, oldest_s or 0.0),
        detail="; ".join(details) or None,
        pending=waiting,
        pending_s=oldest_s or 0.0,
        blocked=blocked,
    )


def _blocked(connection: Connection) -> tuple[BlockedEmbedder, ...]:
    rows = connection.execute(statement("events.health", "blocked_vectors")).fetchall()
    return tuple(
        BlockedEmbedder(slot or GENERAL_MODE, in_a_line(reason, _LONGEST_REASON), cards)
        for slot, reason, cards in rows
    )


def _wanted(name: str, reports: Sequence[HeartbeatReport]) -> bool:
    """True when a worker of the stage runs, or ended without being stopped. Without Kafka nobody needs a relay."""
    return any(report.stage == name and report.state != "stopped" for report in reports)


def _reader(row: _Row, reports: Sequence[HeartbeatReport], failed: int | None) -> StageHealth:
    extractor = row.processor == "extractor"
    if row.status == "building":
        return StageHealth(
            f"{row.processor}_g{row.generation}",
            row.behind,
            row.seconds,
            "building" if row.changing else "abandoned",
            None if row.changing else "its rebuild ended without a swap; the next one removes it",
            parked=0,
            dead=0,
            position=row.position,
        )
    return assess(
        row.processor,
        [report for report in reports if report.stage == row.processor],
        behind=row.behind,
        seconds=row.seconds,
        moved_s=row.moved_s,
        waited_s=row.waited_s,
        parked=row.parked,
        dead=failed if extractor else 0,
        position=row.position,
        last_error=(row.parked_reason, row.parked_at),
    )


def assess(
    name: str,
    reports: Sequence[HeartbeatReport],
    *,
    behind: int,
    seconds: float | None,
    moved_s: float | None,
    parked: int | None,
    dead: int | None,
    position: int | None,
    waited_s: float | None = None,
    last_error: tuple[str | None, datetime | None] = (None, None),
) -> StageHealth:
    """Returns the health of the stage ``name``.

    ``reports`` are its heartbeats, ``behind`` its lag in events, ``seconds`` its lag in time. The stage last made
    progress ``moved_s`` ago. Where ``seconds`` is unknown, its work has waited for at least ``waited_s``.
    The function reads no clock: the server that keeps an instant measures its age.
    """
    alive = [report for report in reports if report.alive]
    stalled_s = _stalled_for(behind, waited_s if seconds is None else seconds, moved_s)
    state, detail = _state(name, reports, alive, stalled_s)
    errors = [(report.error, report.error_at) for report in reports]
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
        stalled_s=stalled_s,
    )


def _stalled_for(behind: int, seconds: float | None, moved_s: float | None) -> float | None:
    """Returns the seconds since the later of two instants: the arrival of the oldest work, and the last progress.

    Old work does not make a stage that progresses stalled. A stage without work is not stalled.
    """
    if not behind:
        return 0.0
    ages = [age for age in (seconds, moved_s) if age is not None]
    return max(0.0, min(ages)) if ages else None


def _state(
    name: str,
    reports: Sequence[HeartbeatReport],
    alive: Sequence[HeartbeatReport],
    stalled_s: float | None,
) -> tuple[HealthStatus, str | None]:
    if not reports:
        return "unknown", "has not been started yet"
    if not alive:
        last = min(reports, key=lambda report: report.seen_s)
        ended = "stopped" if last.state == "stopped" else "fell silent"
        return "stopped", f"{last.worker} (pid {last.pid}) {ended} {last.seen_s:.0f} s ago"
    waiting = [report for report in alive if report.state == "waiting"]
    reason = waiting[0].detail if waiting else None
    if reason is not None and reason.startswith(NEEDS_OPERATOR):
        return "stuck", reason
    excused = name in _OPTIONAL and len(waiting) == len(alive)
    if stalled_s is not None and stalled_s > STUCK_S and not excused:
        return "stuck", reason or f"no event was processed for {stalled_s:.0f} s"
    if len(waiting) == len(alive):
        return "waiting", reason
    silent = [report for report in reports if not report.alive and report.state != "stopped"]
    if silent:
        return "running", f"{silent[0].worker} (pid {silent[0].pid}) fell silent {silent[0].seen_s:.0f} s ago"
    notes = [report.detail for report in alive if report.state == "running" and report.detail]
    return "running", f"{waiting[0].worker} waits: {reason}" if waiting else notes[0] if notes else None


def refuse_if_stuck(stage: StageHealth, after_s: float) -> None:
    """Raises a 503 :class:`ProblemError` when ``stage`` is stalled for longer than ``after_s`` or needs an operator."""
    if stage.detail is not None and stage.detail.startswith(NEEDS_OPERATOR):
        raise ProblemError(503, "Not ready", f"{stage.name} {stage.detail}", stage=stage.name)
    if stage.stalled_s is not None and stage.stalled_s > after_s:
        raise ProblemError(
            503,
            "Not ready",
            f"{stage.name} has work and processed no event for {stage.stalled_s:.0f} s: {stage.detail}",
            stage=stage.name,
            behind=stage.behind,
            stalled_s=round(stage.stalled_s, 1),
        )


class LogMonitor:
    """Reads the health of the log over one connection, at each call. A Postgres that is away gives an unknown health,
    not an error."""

    def __init__(self, database_url: str, application: str) -> None:
        self._url = database_url
        self._application = application
        self._connection: Connection | None = None
        self._clock = WorkClock()
        self._seen: Sequence[str] = READERS

    def __call__(self) -> LogHealth:
        kept = self._connection
        try:
            if self._connection is None:
                self._connection = connect(self._url, application=self._application)
                self._connection.execute(statement("events.health", "probe_timeout"))
            health = read_health(self._connection, self._clock)
            self._seen = [stage.name for stage in health.readers]
            return health
        except psycopg.Error as error:
            self.close()
            if kept is not None and kept.broken:
                return self()  # it broke since the last call, and the server may be back for long
            reason = in_a_line(str(error)) or type(error).__name__
            why = f"postgres {'is away' if is_away(error) else 'failed'}: {reason}"
            return LogHealth.absent(why, self._seen)

    def close(self) -> None:
        """Closes the connection. The next call opens a new one."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None
