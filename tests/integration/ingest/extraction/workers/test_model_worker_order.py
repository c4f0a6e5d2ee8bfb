"""Results are written once and in order, also when a worker stops or loses its connection."""

import pytest

from events.store.feed import LogFeed
from events.types.cards import KnowledgeLearned
from events.types.envelope import NewEvent, partition_of
from events.types.extraction import TurnsExtracted
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers import partition_assignment
from ingest.extraction.workers.partition_assignment import PartitionAssignment
from ingest.extraction.workers.rules_worker import PROCESSOR, ExtractorWorker
from tests.support.events.turns import neighbours
from tests.support.ingest.messages_api import Trouble, calls
from tests.support.ingest.model_workers import Reader, moves, turn
from tests.support.waiting import eventually


def test_sessions_are_written_in_order_and_the_checkpoint_passes_no_turn_that_is_not_done(
    reader: Reader,
) -> None:
    slow, quick = neighbours(2)
    hold = reader.holding("I moved to Lisbon.")
    reader.set(extract_timeout_s=300)
    reader.append(*moves(slow, 3, session="a"), *moves(quick, 3, session="b")[1:])
    partition = partition_of(slow)
    with reader.working():
        eventually(lambda: reader.extracted(quick) == ["b-1", "b-2"])
        # The later turns of the slow session are answered early. They wait for the first turn.
        eventually(lambda: len(reader.api.requests) == 5)
        assert reader.extracted(slow) == []
        assert PROCESSOR.positions(reader.connection)[partition] == 0
        hold.set()
        reader.until_read(slow, quick)
    assert reader.extracted(slow) == ["a-0", "a-1", "a-2"]


@pytest.mark.parametrize("later", ["model", "rules"])
def test_what_was_written_above_the_checkpoint_is_neither_paid_nor_written_again(
    reader: Reader, later: str
) -> None:
    slow, quick = neighbours(2)
    reader.api.trouble = lambda request: (
        Trouble(hang=True) if request.turns == ["I moved to Lisbon."] else None
    )
    reader.append(*moves(slow, 1, session="a"), *moves(quick, 3, session="b")[1:])
    with reader.working(extract_grace_s=0, extract_timeout_s=300):
        eventually(lambda: reader.extracted(quick) == ["b-1", "b-2"])
    assert reader.extracted(slow) == []
    asked = len(reader.api.requests)
    reader.api.trouble = lambda _: None
    if later == "model":
        with reader.working():
            reader.until_read(slow, quick)
        assert [request.turns for request in reader.api.requests[asked:]] == [["I moved to Lisbon."]]
    else:
        rules = ExtractorWorker(reader.settings, RulesExtractor(), lambda: False)
        while rules.step(reader.connection):
            pass
    assert reader.extracted(slow, quick) == ["b-1", "b-2", "a-0"]
    assert reader.behind() == 0


def test_the_rules_leave_a_partition_alone_that_a_model_is_reading(reader: Reader) -> None:
    hold = reader.holding()
    reader.set(extract_timeout_s=300)
    reader.append(*moves("ana", 2))
    rules = ExtractorWorker(reader.settings, RulesExtractor(), lambda: False)
    with reader.working():
        eventually(lambda: len(reader.api.requests) == 2)
        reader.append(*moves("bea", 1))
        eventually(lambda: len(reader.api.requests) == 3)
        assert rules.step(reader.connection) == 0
        hold.set()
        reader.until_read("ana", "bea")
    assert reader.extracted("ana") == ["s-0", "s-1"]


def test_without_knowledge_nothing_explained_becomes_a_card(reader: Reader) -> None:
    told = "A JWT is a signed token."
    found = {"turn": 1, "quote": told, "title": "JWT", "definition": "a signed token"}
    reader.api.trouble = lambda _: calls({"states": [], "events": [], "knowledge": [found]})
    for user, wanted in (("ana", True), ("bea", False)):
        reader.read(turn(user, told, 0), knowledge_extraction=wanted)
        learned = reader.payloads(KnowledgeLearned, user)
        assert len(learned) == wanted
        [said] = reader.payloads(TurnsExtracted, user)
        assert said.cards == 1 + wanted


def test_running_calls_at_a_stop_are_awaited_and_written(reader: Reader) -> None:
    reader.api.seconds = 0.5
    reader.append(*moves("ana", 3))
    with reader.working() as stop:
        eventually(lambda: len(reader.api.requests) == 3)
        stop.set()
    assert reader.extracted("ana") == ["s-0", "s-1", "s-2"]
    assert len(reader.api.requests) == 3


def test_a_lost_connection_costs_no_answer_that_waited_for_another(reader: Reader) -> None:
    hold = reader.holding("I moved to Lisbon.")
    reader.set(extract_timeout_s=300)
    reader.append(*moves("ana", 4))
    with reader.working():
        eventually(lambda: len(reader.api.requests) == 4 and reader.api.at_once == 1)
        # The earlier answers have arrived before the later answer is written.
        reader.append(*moves("bea", 2)[1:])
        eventually(lambda: reader.extracted("bea") == ["s-1"])
        assert reader.extracted("ana") == []
        reader.connection.execute(
            "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
            "WHERE application_name = 'cardlog extractor' AND datname = current_database()"
        )
        hold.set()
        reader.until_read("ana", "bea")
    assert reader.extracted("ana") == ["s-0", "s-1", "s-2", "s-3"]
    assert len(reader.api.requests) == 5


def test_two_workers_never_pay_for_a_turn_twice_and_one_continues_alone(reader: Reader) -> None:
    """A call without an answer in time may be paid for twice. Here every answer is in time, on a busy machine too."""
    reader.set(extract_timeout_s=300, extract_grace_s=300)
    users = [f"user{number}" for number in range(24)]
    slow, quick = users[:8], users[8:]
    hold = reader.holding("slowly")
    with reader.working("one") as stop:
        for user in slow:
            reader.append(*moves(user, 2, then="We moved slowly."))
        eventually(lambda: len(reader.api.requests) == 8 * 2)
        with reader.working("two"):
            # The second worker sees that these turns are open, and leaves them to the first worker.
            for user in quick:
                reader.append(*moves(user, 6))
            eventually(lambda: len(reader.extracted(*quick)) == 16 * 6)
            hold.set()
            eventually(lambda: len(reader.extracted(*slow)) > 4)
            stop.set()
            for user in users:
                reader.append(*moves(user, 1, session="later"))
            reader.until_read(*users)
    for user in users:
        turns = 2 if user in slow else 6
        assert reader.extracted(user) == [f"s-{number}" for number in range(turns)] + ["later-0"]
    assert len(reader.api.requests) == 8 * 2 + 16 * 6 + 24


def test_a_stopping_worker_keeps_its_partitions_until_its_calls_are_answered(
    reader: Reader, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(partition_assignment, "_IDLE_SESSION_TIMEOUT_MS", 4_000)
    reader.set(extract_timeout_s=300, extract_grace_s=300)
    reader.api.seconds = 6.0  # longer than the server lets a session be silent
    reader.append(*moves("ana", 3))
    with reader.working("one") as stop:
        eventually(lambda: len(reader.api.requests) == 3)
        with reader.working("two"):
            stop.set()
            reader.until_read("ana")
    assert reader.extracted("ana") == ["s-0", "s-1", "s-2"]
    assert len(reader.api.requests) == 3


def test_a_worker_that_loses_its_session_to_another_costs_at_most_the_calls_that_were_not_written(
    reader: Reader,
) -> None:
    """The other worker cannot know the answers of the calls that run. It pays for these turns again, and once."""
    reader.set(extract_timeout_s=300, extract_grace_s=300)
    users = [f"user{number}" for number in range(12)]
    with reader.working("one"):
        for user in users:
            reader.append(*moves(user, 3))
        reader.until_read(*users)
        assert len(reader.api.requests) == len(users) * 3
        hold = reader.holding()
        for user in users[:4]:
            reader.append(*moves(user, 1, session="later"))
        eventually(lambda: len(reader.api.requests) == len(users) * 3 + 4)
        with reader.working("two"):
            eventually(reader.runs)
            reader.connection.execute(
                "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity "
                "WHERE application_name = 'cardlog extractor' AND datname = current_database()"
            )
            hold.set()
            reader.until_read(*users)
    for user in users:
        later = ["later-0"] if user in users[:4] else []
        assert reader.extracted(user) == ["s-0", "s-1", "s-2", *later]
    assert len(reader.api.requests) <= len(users) * 3 + 2 * 4


def test_only_a_session_that_holds_a_partition_is_ended_when_it_is_silent(reader: Reader) -> None:
    def limit() -> object:
        row = reader.connection.execute("SHOW idle_session_timeout").fetchone()
        assert row is not None
        return row[0]

    def unreadable(*_: object) -> NewEvent:
        raise AssertionError

    assignment = PartitionAssignment(reader.settings, LogFeed(), unreadable)
    PROCESSOR.open(reader.connection)
    assignment.look(reader.connection, 0.0)
    assert limit() == "0"
    reader.append(*moves("ana", 1))
    [task], _ = assignment.look(reader.connection, 1e9)
    assert limit() == "15s"
    task.outcome = []
    assignment.write(reader.connection)
    assignment.look(reader.connection, 1e9)
    assert (bool(assignment), limit()) == (False, "0")
