"""How far each stage is: the queue, the extractor, every projection. Unknown is never zero."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

import psycopg
import redis
from psycopg.rows import dict_row

from events import stages
from events.database import connect
from events.settings import Settings
from events.sql import statement
from events.turn import entry_time
from ingest.queue import TurnQueue


@dataclass(frozen=True, slots=True)
class Stage:
    """One stage. ``behind`` counts turns in the queue or events in the log; None is unknown."""

    name: str
    behind: int | None
    seconds: float | None
    state: str
    detail: str | None = None


@dataclass(frozen=True, slots=True)
class Overview:
    """Every stage at one moment, with what was counted on the way."""

    stages: tuple[Stage, ...]
    events: int | None
    parked: int | None
    dead: int | None
    recorded: int | None
    duplicates: int | None

    def document(self) -> dict[str, Any]:
        """As JSON for machines."""
        return {
            "stages": {
                stage.name: {
                    "behind": stage.behind,
                    "seconds": stage.seconds,
                    "state": stage.state,
                    "detail": stage.detail,
                }
                for stage in self.stages
            },
            "events": self.events,
            "parked": self.parked,
            "dead": self.dead,
            "recorded": self.recorded,
            "duplicates": self.duplicates,
        }


def open_queue(settings: Settings) -> TurnQueue:
    """The queue the settings name."""
    client = redis.Redis.from_url(settings.redis_url, socket_timeout=5, socket_connect_timeout=2)
    return TurnQueue(client, settings.turns_stream, settings.consumer_group)


def overview(settings: Settings) -> Overview:
    """Look at everything now; what cannot be reached is unknown, with the reason."""
    queue = open_queue(settings)
    counts: dict[str, int | None]
    try:
        backlog = queue.backlog()
        age = None if backlog.oldest_id is None else datetime.now(UTC) - entry_time(backlog.oldest_id)
        recorder = Stage(
            "recorder",
            backlog.waiting + backlog.pending,
            0.0 if age is None else age.total_seconds(),
            "running",
        )
        counts = dict(queue.counts())
        counts["dead"] = queue.dead_count()
    except redis.RedisError as error:
        recorder = Stage("recorder", None, None, "unknown", f"redis is away: {error}")
        counts = {}
    try:
        with connect(settings.database_url, application="status") as connection:
            rows = _rows(connection)
            said = {report.stage: report for report in stages.reports(connection)}
            parked, events = _totals(connection)
    except psycopg.Error as error:
        reason = f"postgres is away: {str(error).strip().splitlines()[0] if str(error).strip() else error}"
        others = [Stage(name, None, None, "unknown", reason) for name in ("extractor", "cards", "vectors")]
        return Overview(
            (recorder, *others),
            None,
            None,
            counts.get("dead"),
            counts.get("recorded"),
            counts.get("duplicates"),
        )
    found = [recorder]
    for row in rows:
        report = said.get(row["processor"])
        found.append(
            Stage(
                row["processor"],
                row["behind"],
                row["seconds"],
                report.state if report else "unknown",
                report.detail if report else "has not been started yet",
            )
        )
    return Overview(
        tuple(found), events, parked, counts.get("dead"), counts.get("recorded"), counts.get("duplicates")
    )


def _rows(connection: psycopg.Connection[Any]) -> list[dict[str, Any]]:
    with connection.cursor(row_factory=dict_row) as cursor:
        return cursor.execute(statement("deploy", "lags")).fetchall()


def _totals(connection: psycopg.Connection[Any]) -> tuple[int, int]:
    row = connection.execute(statement("deploy", "totals")).fetchone()
    return cast("tuple[int, int]", row)
