"""The curator as a worker: whose turn it is, and what its role may do."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import psycopg
import pytest

from events.platform.database import Connection, connect
from events.store import log
from events.types.curation import ACTOR
from events.types.envelope import partition_of, uuid7
from events.types.relations import CardsConnected, ConnectionWithdrawn
from ingest.curator.runner import curate, memory_of
from ingest.curator.worker import PROCESSOR, Curator
from tests.support.ingest.curating import fold, relations, said, tell
from tests.support.projectors.folding import count, event, settings_of
from tests.support.roles import roles_for

TOLD = (
    (0, "Alex has a pet."),
    (30, "Alex has a dog named Rex."),
    (60, "Nora has a car."),
    (90, "Nora doesn't have a car."),
)


def curator(connection: Connection, database: str, idle_s: int = 0) -> Curator:
    made = Curator(settings_of(database, curator_idle_s=idle_s), lambda: False)
    made.prepare(connection)
    return made


def left(connection: Connection) -> int:
    return sum(head - position for position, head in PROCESSOR.progress(connection).values())


def test_a_user_who_just_spoke_waits(connection: Connection, database: str) -> None:
    tell(connection, *TOLD)
    early = curator(connection, database, idle_s=3600).handle(connection)
    assert (early.done, early.resting) == (0, "no user with new events is idle for 3600 s yet")
    assert left(connection) == count(connection, "log.events")
    idle = curator(connection, database)
    assert idle.handle(connection).done == 1
    assert idle.handle(connection).resting is None
    added = count(connection, "log.events")
    assert idle.handle(connection).done == 0  # its own events are nothing to curate
    assert left(connection) == 0
    assert count(connection, "log.events") == added


def test_a_user_whose_tables_are_behind_holds_up_nobody_else(connection: Connection, database: str) -> None:
    tell(connection, *TOLD)
    tell(connection, *TOLD, user="eve")
    assert partition_of("ada") != partition_of("eve")
    behind = "UPDATE log.checkpoints SET position = position - 1 WHERE processor = 'cards' AND partition = %s"
    connection.execute(behind, [partition_of("eve")])
    worker = curator(connection, database)
    assert worker.handle(connection).done == 1
    assert PROCESSOR.positions(connection)[partition_of("eve")] == 0
    connection.execute(behind.replace("- 1", "+ 1"), [partition_of("eve")])
    assert worker.handle(connection).done == 1
    worker.handle(connection)
    assert left(connection) == 0


def doomed(database: str, after: int) -> Connection:
    """Returns a connection whose session the server ends before the statement number ``after``."""
    counted = iter(range(after))

    class Doomed(psycopg.Cursor[Any]):
        def execute(self, *args: Any, **options: Any) -> Any:
            if next(counted, None) is None:
                super().execute("SELECT pg_terminate_backend(pg_backend_pid())")
            return super().execute(*args, **options)

    opened = connect(database, application="doomed")
    opened.cursor_factory = Doomed
    return opened


def until_death(dying: Connection, database: str) -> None:
    while True:
        curator(dying, database).handle(dying)


def remembered(connection: Connection, user: str) -> tuple[set[Any], ...]:
    """Returns the words of what the curator added to the memory of a user."""
    memory = memory_of(connection, user)
    threads = {(each.title, len(each.cards)) for each in memory.threads}
    return relations(connection, user), threads, {each.content for each in memory.insights.present}


def test_ten_deaths_give_the_same_memory(connection: Connection, database: str) -> None:
    users = [f"user {number}" for number in range(4)]
    chance = random.Random(5)
    told = [(number // 4, said(chance)) for number in range(60)]
    for user in (*users, "eve"):
        tell(connection, *told, user=user)
    assert curate(connection, "eve").events
    fold(database)
    for _ in range(10):
        with doomed(database, chance.randint(1, 60)) as dying, pytest.raises(psycopg.OperationalError):
            until_death(dying, database)
    while curator(connection, database).handle(connection).done:
        fold(database)
    fold(database)
    expected = remembered(connection, "eve")
    assert expected[0]
    assert {user: remembered(connection, user) for user in users} == dict.fromkeys(users, expected)
    written = count(connection, "log.events")
    assert [curate(connection, user).events for user in users] == [()] * len(users)
    assert count(connection, "log.events") == written


LINK = {"from_card": uuid7(), "to_card": uuid7(), "predicate": "expands", "reason": "because"}
CONNECTED = replace(event(CardsConnected(**LINK), "ada"), actor=ACTOR)  # type: ignore[arg-type]
WITHDRAWN = replace(event(ConnectionWithdrawn(**LINK), "ada"), actor=ACTOR)  # type: ignore[arg-type]

REFUSED: dict[str, Callable[[Connection], object]] = {
    "append any event": lambda role: log.append(role, [CONNECTED]),
    "withdraw": lambda role: log.append(role, [WITHDRAWN], only_adds=True),
    "hide a withdrawal": lambda role: log.append(role, [CONNECTED, WITHDRAWN], only_adds=True),
    "write as another": lambda role: log.append(role, [replace(CONNECTED, actor="api")], only_adds=True),
    "update": lambda role: role.execute("UPDATE log.events SET user_id = 'eve'"),
    "delete": lambda role: role.execute("DELETE FROM log.events"),
    "truncate": lambda role: role.execute("TRUNCATE log.events"),
    "change a card": lambda role: role.execute("UPDATE cards.cards SET content = ''"),
    "delete a relation": lambda role: role.execute("DELETE FROM cards.relations"),
    "erase": lambda role: role.execute("SELECT sealing.destroy_subject('ada')"),
    "forget an erasure": lambda role: role.execute("DELETE FROM erasure.tombstones"),
}


def test_the_role_curates_and_can_do_nothing_else(connection: Connection, database: str) -> None:
    tell(connection, (0, "Alex has a pet."), (30, "Alex has a dog named Rex."))
    with roles_for(database, ("agent",)) as (url,), connect(url, application="curator") as role:
        for attempt in REFUSED.values():
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                attempt(role)
        curator = Curator(settings_of(url, curator_idle_s=0), lambda: False)
        curator.prepare(role)
        assert curator.handle(role).done == 1
    fold(database)
    assert relations(connection) == {("Alex has a dog named Rex", "expands", "Alex has a pet")}


def test_sealed_events_are_checked_too(connection: Connection, database: str, sealed: None) -> None:
    with roles_for(database, ("agent",)) as (url,), connect(url, application="curator") as role:
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            log.append(role, [WITHDRAWN], only_adds=True)
        [place] = log.append(role, [CONNECTED], only_adds=True)
    assert not place.duplicate
