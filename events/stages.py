"""What each stage says of itself, so that status can tell why one stands still."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

import psycopg
from psycopg.rows import class_row

from events.sql import statement

State = Literal["running", "waiting", "stopped"]


@dataclass(frozen=True, slots=True)
class StageReport:
    """The last word of one worker of a stage."""

    stage: str
    worker: str
    state: State
    detail: str | None
    changed_at: datetime
    seen_at: datetime


def report(
    connection: psycopg.Connection[Any], stage: str, worker: str, state: State, detail: str | None = None
) -> None:
    """Say how ``worker`` of ``stage`` is; kept until it says something else."""
    connection.execute(
        statement("events", "report_stage"),
        {"stage": stage, "worker": worker, "state": state, "detail": detail},
    )


def reports(connection: psycopg.Connection[Any]) -> list[StageReport]:
    """The last word of every worker of every stage."""
    with connection.cursor(row_factory=class_row(StageReport)) as cursor:
        return cursor.execute(statement("events", "stage_reports")).fetchall()
