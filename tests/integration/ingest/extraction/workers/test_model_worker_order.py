"""Results are written once and in order, also when a worker stops or loses its connection."""

import threading
from dataclasses import replace

import pytest

from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from events.store.feed import LogFeed
from events.types.cards import KnowledgeLearned
from events.types.envelope import NewEvent, partition_of
from events.types.extraction import TurnsExtracted
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers import partition_assignment
from ingest.extraction.workers.partition_assignment import PartitionAssignment
from ingest.extraction.workers.rules_worker import PROCESSOR, ExtractorWorker
from tests.support.events.turns import neighbours
from tests.support.ingest.messages_api import MessagesApi, Request, Trouble, calls
from tests.support.ingest.model_workers import (
    behind,
    caught_up,
    events_of,
    extracted,
    moves,
    reading,
    runs,
    turn,
)
from tests.support.waiting import eventually


def test_sessions_are_written_in_order_and_the_checkpoint_passes_no_turn_that_is_not_done(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    slow, quick = neighbours(2)
    hold = threading.Event()

    def delay(request: Request) -> None:
        if request.turns == ["I moved to Lisbon."]:
            hold.wait(20)

    api.trouble = delay
    settings = replace(settings, extract_timeout_s=30)
    log.append(connection, [*moves(slow, 3, session="a"), *moves(quick, 3, session="b")[1:]])
    partition = partition_of(slow)
    with reading(settings):
        eventually(lambda: extracted(connection, quick) == ["b-1", "b-2"])
        # The later turns of the slow session are answered early. They wait for the first turn.
        eventually(lambda: len(api.requests) == 5)
        assert extracted(connection, slow) == []
        assert PROCESSOR.positions(connection)[partition] == 0
        hold.set()
        eventually(caught_up(connection, slow, quick))
    assert extracted(connection, slow) == ["a-0", "a-1", "a-2"]


@pytest.mark.parametrize("later", ["model", "rules"])
def test_what_was_written_above_the_checkpoint_is_neither_paid_nor_written_again(
    settings: Settings, api: MessagesApi, connection: Connection, later: str
) -> None:
    slow, quick = neighbours(2)
    api.trouble = lambda request: Trouble(hang=True) if request.turns == ["I moved to Lisbon."] else None
    log.append(connection, [*moves(slow, 1, session="a"), *moves(quick, 3, session="b")[1:]])
    with reading(replace(settings, extract_grace_s=0, extract_timeout_s=60)):
        eventually(lambda: extracted(connection, quick) == ["b-1", "b-2"])
    assert extracted(connection, slow) == []
    asked = len(api.requests)
    api.trouble = lambda _: None
    if later == "model":
        with reading(settings):
            eventually(caught_up(connection, slow, quick))
        assert [request.turns for request in api.requests[asked:]] == [["I moved to Lisbon."]]
    else:
        rules = ExtractorWorker(settings, RulesExtractor(), lambda: False)
        while rules.step(connection):
            pass
    assert extracted(connection, slow, quick) == ["b-1", "b-2", "a-0"]
    assert behind(connection) == 0


def test_the_rules_leave_a_partition_alone_that_a_model_is_reading(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    hold = threading.Event()

    def delay(_: Request) -> None:
        hold.wait(20)

    api.trouble = delay
    settings = replace(settings, extract_timeout_s=30)
    log.append(connection, moves("ana", 2))
    rules = ExtractorWorker(settings, RulesExtractor(), lambda: False)
    with reading(settings):
        eventually(lambda: len(api.requests) == 2)
        log.append(connection, moves("bea", 1))
        eventually(lambda: len(api.requests) == 3)
        assert rules.step(connection) == 0
        hold.set()
        eventually(caught_up(connection, "ana", "bea"))
    assert extracted(connection, "ana") == ["s-0", "s-1"]


def test_without_knowledge_nothing_explained_becomes_a_card(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    told = "A JWT is a signed token."
    found = {"turn": 1, "quote": told, "title": "JWT", "definition": "a signed token"}
    api.trouble = lambda _: calls({"states": [], "events": [], "knowledge": [found]})
    for user, wanted in (("ana", True), ("bea", False)):
        log.append(connection, [turn(user, told, 0)])
        with reading(replace(settings, knowledge_extraction=wanted)):
            eventually(caught_up(connection, user))
        learned = [e for e in events_of(connection, user) if isinstance(e.payload, KnowledgeLearned)]
        assert len(learned) == wanted
        [said] = [e.payload for e in events_of(connection, user) if isinstance(e.payload, TurnsExtracted)]
        assert said.cards == 1 + wanted


def test_running_calls_at_a_stop_are_awaited_and_written(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    api.seconds = 0.5
    log.append(connection, moves("ana", 3))
    with reading(settings) as stop:
        eventually(lambda: len(api.requests) == 3)
        stop.set()
    assert extracted(connection, "ana") == ["s-0", "s-1", "s-2"]
    assert len(api.requests) == 3


def test_a_lost_connection_costs_no_answer_that_waited_for_another(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    hold = threading.Event()

    def delay(request: Request) -> None:
        if request.turns == ["I moved to Lisbon."]:
            hold.wait(20)

    api.trouble = delay
    settings = replace(settings, extract_timeout_s=30)
    log.append(connection, moves("ana", 4))
    with reading(settings):
        eventually(lambda: len(api.requests) == 4 and api.at_once == 1)
        # The earlier answers have arrived before the later answer is written.
        log.append(connection, moves("bea", 2)[1:])
        eventually(lambda: extracted(connection, "bea") == ["s-1"])
        assert extracted(connection, "ana") == []
        connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE application_name = 'cardlog extractor' AND datname = current_database()"
        )
        hold.set()
        eventually(caught_up(connection, "ana", "bea"))
    assert extracted(connection, "ana") == ["s-0", "s-1", "s-2", "s-3"]
    assert len(api.requests) == 5


def test_two_workers_never_pay_for_a_turn_twice_and_one_continues_alone(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    """A call without an answer in time may be paid for twice. Here every answer is in time, on a busy machine too."""
    settings = replace(settings, extract_timeout_s=60, extract_grace_s=60)
    users = [f"user{number}" for number in range(24)]
    slow, quick = users[:8], users[8:]
    hold = threading.Event()

    def delay(request: Request) -> None:
        if "slowly" in request.turns[0]:
            hold.wait(60)

    api.trouble = delay
    with reading(settings, "one") as stop:
        for user in slow:
            log.append(connection, moves(user, 2, then="We moved slowly."))
        eventually(lambda: len(api.requests) == 8 * 2)
        with reading(settings, "two"):
            # The second worker sees that these turns are open, and leaves them to the first worker.
            for user in quick:
                log.append(connection, moves(user, 6))
            eventually(lambda: len(extracted(connection, *quick)) == 16 * 6)
            hold.set()
            eventually(lambda: len(extracted(connection, *slow)) > 4)
            stop.set()
            for user in users:
                log.append(connection, moves(user, 1, session="later"))
            eventually(caught_up(connection, *users))
    for user in users:
        turns = 2 if user in slow else 6
        assert extracted(connection, user) == [f"s-{number}" for number in range(turns)] + ["later-0"]
    assert len(api.requests) == 8 * 2 + 16 * 6 + 24


def test_a_stopping_worker_keeps_its_partitions_until_its_calls_are_answered(
    settings: Settings, api: MessagesApi, connection: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_assignment, "_IDLE_SESSION_TIMEOUT_MS", 2_000)
    settings = replace(settings, extract_timeout_s=60, extract_grace_s=60)
    api.seconds = 5.0  # longer than the server lets a session be silent
    log.append(connection, moves("ana", 3))
    with reading(settings, "one") as stop:
        eventually(lambda: len(api.requests) == 3)
        with reading(settings, "two"):
            stop.set()
            eventually(caught_up(connection, "ana"))
    assert extracted(connection, "ana") == ["s-0", "s-1", "s-2"]
    assert len(api.requests) == 3


def test_a_worker_that_loses_its_session_to_another_costs_at_most_the_calls_that_were_not_written(
    settings: Settings, api: MessagesApi, connection: Connection
) -> None:
    """The other worker cannot know the answers of the calls that run. It pays for these turns again, and once."""
    settings = replace(settings, extract_timeout_s=60, extract_grace_s=60)
    users = [f"user{number}" for number in range(12)]
    hold = threading.Event()

    def delay(_: Request) -> None:
        hold.wait(60)

    with reading(settings, "one"):
        for user in users:
            log.append(connection, moves(user, 3))
        eventually(caught_up(connection, *users))
        assert len(api.requests) == len(users) * 3
        api.trouble = delay
        for user in users[:4]:
            log.append(connection, moves(user, 1, session="later"))
        eventually(lambda: len(api.requests) == len(users) * 3 + 4)
        with reading(settings, "two"):
            eventually(lambda: runs(connection))
            connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE application_name = 'cardlog extractor' AND datname = current_database()"
            )
            hold.set()
            eventually(caught_up(connection, *users))
    for user in users:
        later = ["later-0"] if user in users[:4] else []
        assert extracted(connection, user) == ["s-0", "s-1", "s-2", *later]
    assert len(api.requests) <= len(users) * 3 + 2 * 4


def test_only_a_session_that_holds_a_partition_is_ended_when_it_is_silent(
    settings: Settings, connection: Connection
) -> None:
    def limit() -> object:
        row = connection.execute("SHOW idle_session_timeout").fetchone()
        assert row is not None
        return row[0]

    def unreadable(*_: object) -> NewEvent:
        raise AssertionError

    assignment = PartitionAssignment(settings, LogFeed(), unreadable)
    PROCESSOR.open(connection)
    assignment.look(connection, 0.0)
    assert limit() == "0"
    log.append(connection, moves("ana", 1))
    [task], _ = assignment.look(connection, 1e9)
    assert limit() == "15s"
    task.outcome = []
    assignment.write(connection)
    assignment.look(connection, 1e9)
    assert (bool(assignment), limit()) == (False, "0")
