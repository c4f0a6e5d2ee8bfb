"""Appends events, folds them, rebuilds their tables, and looks at the tables."""

import atexit
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count as count_from
from typing import Any
from uuid import UUID

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, StateAsserted
from events.types.envelope import NewEvent, Payload, partition_of, uuid7
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live, list_generations
from projectors.generations.projector import Projector
from projectors.rebuild.rebuild import Rebuild, RebuildResult
from projectors.runner import Runner
from tests.support.databases import Place, place_of

NOW = datetime(2026, 5, 8, 16, 44, 10, tzinfo=UTC)


ORIGIN = CardOrigin(
    project_id="default", session_id="s", turn_ids=("t",), said_at=NOW, source_span=None, provenance="user_stated"
)  # fmt: skip


_turns = count_from(1)


def settings_of(database: Place, **changed: Any) -> Settings:
    return replace(Settings(), database_url=place_of(database), **changed)


def fold_live(database: Place, projector: Projector | None = None, *, batch: int = 64) -> None:
    fold(settings_of(database, batch_events=batch), projector or CardsProjector())


def fold(settings: Settings, projector: Projector) -> None:
    """Folds everything that was appended. Folds of one database share a connection, whose caches are warm.

    The first one makes the tables of its projector. To look for them again takes a third of the time of a fold.
    """
    runner = Runner(settings, projector, lambda: False)
    with _connected(settings.database_url) as (connection, made):
        # The tables of vectors depend on the embedders of the projector.
        if type(projector) not in made or projector.name == "vectors":
            ensure_live(connection, projector)
            made.add(type(projector))
        while runner.step(connection):
            pass


_kept: list[tuple[str, Connection, set[type]]] = []
"""The last database, its connection, and the projectors whose tables were made."""


@atexit.register
def _close() -> None:
    for _, connection, _ in _kept:
        connection.close()


@contextmanager
def _connected(database: str) -> Iterator[tuple[Connection, set[type]]]:
    if threading.current_thread() is not threading.main_thread():
        with connect(database, application="test runner") as connection:
            yield connection, set()
        return
    if not _kept or _kept[0][0] != database or _kept[0][1].broken:
        _close()
        _kept[:] = [(database, connect(database, application="test runner"), set())]
    yield _kept[0][1:]


def rebuild(database: Place, projector: Projector | None = None, **options: Any) -> RebuildResult:
    return Rebuild(settings_of(database), projector or CardsProjector(), **{"workers": 1} | options).run()


def event(payload: Payload, user: str = "alex", **envelope: Any) -> NewEvent:
    """An event of a user. ``envelope`` changes its other fields."""
    usual: dict[str, Any] = {"event_id": uuid7(), "stream": "s", "occurred_at": NOW, "actor": "test"}
    return NewEvent(user_id=user, payload=payload, **usual | envelope)


def apart(payload: EventNoted | StateAsserted | KnowledgeLearned, user: str = "alex") -> NewEvent:
    """The event of a card, in a turn of its own unless ``payload`` names one.

    An answer gives the cards of one turn one place.
    """
    if payload.origin.turn_ids != ORIGIN.turn_ids:
        return event(payload, user)
    turn = f"turn {next(_turns)}"
    return event(replace(payload, origin=replace(payload.origin, turn_ids=(turn,))), user)


def noted(content: str, user: str = "alex", **more: Any) -> NewEvent:
    return event(
        EventNoted(content=content, entity="user", tags=(), origin=ORIGIN, occurred_at=NOW, **more), user
    )


def moved(value: str, day: int) -> NewEvent:
    since = NOW.replace(day=day)
    return event(
        StateAsserted(
            content=f"I live in {value}", entity="user", concept_key="residence", value=value, tags=(),
            cardinality="single_value", effective_at=since, origin=replace(ORIGIN, said_at=since),
        )
    )  # fmt: skip


def statuses(connection: Connection, projection: str = "cards") -> dict[int, str]:
    return {standing.number: standing.status for standing in list_generations(connection, projection)}


def count(connection: Connection, what: str = "cards.cards") -> int:
    row = connection.execute(f"SELECT count(*) FROM {what}".encode()).fetchone()
    assert row is not None
    return int(row[0])


def tamper(connection: Connection, change: str) -> None:
    with connection.transaction():
        connection.execute("SET LOCAL session_replication_role = replica")
        connection.execute(change.encode())


def some_events(connection: Connection) -> tuple[int, UUID]:
    partition = partition_of("alex")
    log.append(connection, [noted("one"), noted("two"), noted("three"), noted("other", "bea")])
    [row] = connection.execute(
        "SELECT event_id FROM log.events WHERE partition = %s AND position = 2", [partition]
    ).fetchall()
    return partition, row[0]
