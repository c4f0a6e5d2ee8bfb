"""Read your own writes: a new turn answers at once, at every stage of its way."""

import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from redis import Redis

from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
from events.types.envelope import partition_of
from events.types.extraction import CardsWithdrawn
from retrieval.recall import unprojected_tail
from tests.support.events.payloads import READING
from tests.support.projectors import folding
from tests.support.retrieval.overlay import STAGES, Memory, crowd, overlay_warnings, pending
from tests.support.tables import rows, texts
from tests.support.waiting import ALONE


@pytest.fixture
def settings(database: str, redis: Redis, redis_url: str, tmp_path: Path) -> Settings:
    # No model is set. The semantic channel is down, and no test here depends on it.
    return Settings(database_url=database, redis_url=redis_url, embed_model_path=str(tmp_path), **ALONE)


@pytest.fixture
def memory(settings: Settings, redis: Redis) -> Memory:
    return Memory(settings, redis)


@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES.keys())
def test_what_was_just_said_hides_what_it_replaces(memory: Memory, stages: tuple[str, ...]) -> None:
    earlier = datetime.now(UTC) - timedelta(days=10)
    users = [(f"u{number}", *row) for number, row in enumerate(rows(__file__, "replaced.txt"))]
    for user, before, *_ in users:
        memory.push(before, user=user, said_at=earlier.isoformat(), timezone="Asia/Taipei")
    memory.settle()
    for user, _, new, question, old_value, _ in users:
        assert memory.values(question, user=user) == [(old_value, False)]
        memory.push(new, user=user, timezone="Asia/Taipei")
    for stage in stages:
        getattr(memory, stage)()
    for user, _, _, question, old_value, value in users:
        answer = memory.ask(question, user=user)
        first = answer["cards"][0]
        assert (first["kind"], first["value"], first["pending"]) == ("state", value, True)
        assert old_value not in [card["value"] for card in answer["cards"] if card["kind"] == "state"]
        assert answer["contradictions"] == []
        assert not [warning for warning in answer["warnings"] if "overlay" in warning]
    memory.settle()
    for user, _, _, question, _, value in users:
        assert memory.values(question, user=user) == [(value, False)]


def test_what_was_just_said_comes_first_where_it_is_the_answer(memory: Memory) -> None:
    answers = rows(__file__, "overlay_answers.txt")
    for user, _ in enumerate(answers):
        for number, said in enumerate(texts(__file__, "small_talk.txt")):
            at = f"2026-01-{number + 1:02}T10:00:00+08:00"
            memory.push(said, user=f"u{user}", said_at=at, session_id=f"s{number}")
    memory.settle()
    for user, (turn, question, found) in enumerate(answers):
        memory.push(turn, user=f"u{user}", timezone="Asia/Taipei")
        first = memory.ask(question, user=f"u{user}")["cards"][0]
        assert (found in first["content"], first["pending"]) == (True, True), turn


def test_a_correction_is_corrected_before_any_table_knows_of_it(memory: Memory) -> None:
    memory.push("I live in Taipei.")
    memory.settle()
    memory.push("Typo, I meant Kaohsiung.")
    assert memory.values("where do I live?") == [("Kaohsiung", True)]
    memory.push("I work at Acme.", session_id="new")
    memory.push("Sorry, I meant Globex.", session_id="new")
    assert memory.values("where do I work?") == [("Globex", True)]


def test_at_no_moment_of_its_way_is_a_turn_missing_or_there_twice(memory: Memory) -> None:
    memory.push("I live in Taipei.")
    memory.settle()
    memory.push("My new address is Kaohsiung.")
    moving = threading.Thread(target=memory.settle)
    answers = [memory.ask("where do I live? what is my new address?")]
    moving.start()
    try:
        while moving.is_alive():
            answers.append(memory.ask("where do I live? what is my new address?"))
    finally:
        moving.join()
    answers.append(memory.ask("where do I live? what is my new address?"))
    for answer in answers:
        states = [card["value"] for card in answer["cards"] if card["kind"] == "state"]
        told = [each["content"] for card in answer["cards"] for each in (card, *card["beside"])]
        assert states == ["Kaohsiung"]
        assert told.count("My new address is Kaohsiung.") == 1
    assert pending(answers[0])
    assert not pending(answers[-1])


def test_a_recall_reads_few_megabytes_of_what_others_pushed(memory: Memory, redis: Redis) -> None:
    memory.push("I live in Taipei.")
    large = {f"field {number}": "x" * 1_000_000 for number in range(4)}
    redis.xadd("turns", large | {"user_id": "ann"})  # type: ignore[arg-type]
    assert memory.values("where do I live?") == [("Taipei", True)], "an entry that is no turn hides none"
    for _ in range(6):
        redis.xadd("turns", large | {"user_id": "other"})  # type: ignore[arg-type]
    answer = memory.ask("where do I live?")
    assert not pending(answer)
    assert overlay_warnings(answer)


def test_a_contradiction_of_an_old_fact_is_shown_beside_it(memory: Memory) -> None:
    memory.push("I work at Acme.", said_at="2025-01-03T10:00:00Z")
    memory.settle()
    memory.push("I work at Globex.")
    answer = memory.ask("where do I work?")
    assert [card["value"] for card in answer["cards"] if card["kind"] == "state"] == ["Acme"]
    [conflict] = answer["contradictions"]
    assert (conflict["concept_key"], conflict["entity"]) == ("employer", "user")
    assert "Acme or Globex" in conflict["reason"]


def test_a_pending_card_keeps_its_name_from_one_question_to_the_next(memory: Memory) -> None:
    memory.push("My dog is called Rex.")
    first = [card["card_id"] for card in memory.ask("what is my dog's name?")["cards"]]
    memory.push("I like tea.")
    memory.record()
    assert [card["card_id"] for card in memory.ask("what is my dog's name?")["cards"]] == first


def test_asked_for_history_the_replaced_value_is_shown_with_its_end(memory: Memory) -> None:
    memory.push("I live in Taipei.", said_at="2026-01-03T10:00:00+08:00")
    memory.settle()
    memory.push("I moved to Kaohsiung.")
    cards = {
        card["value"]: card
        for card in memory.ask("list all the places I ever lived in")["cards"]
        if card["kind"] == "state"
    }
    assert (cards["Kaohsiung"]["superseded_at"], cards["Kaohsiung"]["pending"]) == (None, True)
    assert cards["Taipei"]["superseded_at"] == cards["Kaohsiung"]["effective_at"]
    assert cards["Taipei"]["pending"] is False


def test_projects_isolate_pending_cards_too(memory: Memory) -> None:
    memory.push("My dog is called Rex.", project_id="novel")
    memory.push("My dog is called Fido.", user="bob")
    question = "what is my dog's name?"
    assert memory.ask(question)["cards"] == []
    assert memory.values(question, project_id="novel") == [("Rex", True)]
    assert memory.values(question, project_id="*") == [("Rex", True)]
    assert memory.values(question, kinds=["knowledge"], project_id="*") == []
    assert memory.values(question, user="bob") == [("Fido", True)]


def test_later_turns_do_not_overlay_the_past(memory: Memory) -> None:
    memory.push("I live in Taipei.", said_at="2026-01-03T10:00:00+08:00")
    memory.settle()
    memory.push("I moved to Kaohsiung.", said_at="2026-04-03T10:00:00+08:00")
    past = memory.values("where do I live?", as_of="2026-02-01T00:00:00+08:00")
    assert past == [("Taipei", False)]
    assert memory.values("where do I live?", known_at="2026-02-01T00:00:00+08:00") == []
    assert memory.values("where do I live?", as_of="2026-04-04T00:00:00+08:00") == [("Kaohsiung", True)]


def test_a_turn_that_came_twice_counts_once_and_one_that_breaks_the_contract_not_at_all(
    memory: Memory,
) -> None:
    memory.push("I live in Taipei.", turn_id="t1")
    memory.settle()
    memory.push("I moved to Kaohsiung.", turn_id="t1")
    memory.push("I moved to Tainan.", said_at="yesterday")
    assert memory.values("where do I live?") == [("Taipei", False)]


def test_turns_extracted_above_the_checkpoint_are_not_extracted_again(memory: Memory) -> None:
    memory.push("I live in Taipei.")
    memory.record()
    assert memory.values("where do I live?") == [("Taipei", True)]
    with connect(memory.settings.database_url, application="test") as connection:
        [turn] = [event for event in log.read(connection, partition_of("ann")) if event.user_id == "ann"]
        read = replace(READING, turn_ids=(turn.payload.turn_id,), turn_positions=(turn.position,))
        log.append(
            connection, [folding.event(read, "ann", occurred_at=turn.occurred_at, actor="extractor/model")]
        )
    assert memory.ask("where do I live?")["cards"] == []


def test_what_was_withdrawn_a_moment_ago_does_not_answer(memory: Memory) -> None:
    memory.push("I live in Taipei.")
    memory.settle()
    memory.push("I moved to Kaohsiung.")
    memory.settle()
    with connect(memory.settings.database_url, application="test") as connection:
        said = [event for event in log.read(connection, partition_of("ann")) if event.type == "StateAsserted"]
        taken = CardsWithdrawn(
            event_ids=(said[1].event_id,), positions=(said[1].position,), reason="read again"
        )
        log.append(connection, [folding.event(taken, "ann", occurred_at=datetime.now(UTC))])
    assert memory.values("where do I live?") == [("Taipei", False)]


def test_a_thousand_turns_of_others_hide_nothing_and_more_are_reported(memory: Memory, redis: Redis) -> None:
    memory.push("I live in Taipei.")
    memory.settle()
    memory.push("My new address is Kaohsiung.")
    crowd(redis, 1000)
    answer = memory.ask("where do I live?")
    assert answer["cards"][0]["value"] == "Kaohsiung"
    assert overlay_warnings(answer) == []
    crowd(redis, unprojected_tail.QUEUE_DEPTH)
    [warning] = overlay_warnings(memory.ask("where do I live?"))
    assert "more turns are unprojected than the overlay reads" in warning


@pytest.mark.parametrize("stages", STAGES.values(), ids=STAGES.keys())
def test_the_newest_turns_of_a_users_backlog_count_and_the_rest_is_reported(
    memory: Memory, stages: tuple[str, ...]
) -> None:
    memory.push("I live in Taipei.")
    for number in range(150):
        memory.push(f"I met friend number {number} at the station and we had tea.")
    memory.push("My new address is Kaohsiung.")
    for stage in stages:
        getattr(memory, stage)()
    answer = memory.ask("where do I live?")
    assert [card["value"] for card in answer["cards"] if card["kind"] == "state"] == ["Kaohsiung"]
    [warning] = overlay_warnings(answer)
    assert "more turns are unprojected than the overlay reads" in warning


def test_a_pasted_book_is_skipped_and_reported(memory: Memory) -> None:
    memory.push("My new address is Kaohsiung.")
    memory.push("I live in a book. " * 3000)
    answer = memory.ask("where do I live?")
    assert answer["cards"][0]["value"] == "Kaohsiung"
    assert overlay_warnings(answer)


def test_without_redis_a_recall_answers_with_what_the_log_has(memory: Memory) -> None:
    memory.push("My new address is Kaohsiung.")
    memory.record()
    memory.settings = replace(memory.settings, redis_url="redis://127.0.0.1:1/0")
    answer = memory.ask("where do I live?")
    assert (answer["cards"][0]["value"], answer["cards"][0]["pending"]) == ("Kaohsiung", True)
    [warning] = overlay_warnings(answer)
    assert "queue" in warning
    assert "redis is away" in warning


def test_a_log_that_is_late_or_broken_costs_the_overlay_and_nothing_else(
    memory: Memory, connection: Connection
) -> None:
    memory.push("I live in Taipei.")
    memory.settle()
    memory.push("My new address is Kaohsiung.")
    patient, memory.settings = memory.settings, replace(memory.settings, overlay_deadline_ms=300)
    with connect(memory.settings.database_url, application="test", autocommit=False) as holder:
        holder.execute("LOCK log.heads IN ACCESS EXCLUSIVE MODE")
        late = memory.ask("where do I live?")
    memory.settings = patient
    connection.execute("ALTER TABLE log.checkpoints RENAME TO elsewhere")
    broken = memory.ask("where do I live?")
    for answer, said in ((late, "the overlay is late"), (broken, "the overlay is down: UndefinedTable")):
        assert answer["cards"][0]["value"] == "Taipei"
        [warning] = overlay_warnings(answer)
        assert said in warning
    assert {report["status"] for name, report in late["channels"].items() if name != "semantic"} == {"ok"}
