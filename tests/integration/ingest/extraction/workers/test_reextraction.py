"""Reextraction keeps both extractions in the log. The cards follow the newer one, live and after a rebuild."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from events.health.health_status import read_health
from events.health.heartbeat import reports
from events.platform.database import connect
from events.platform.settings import Settings
from events.types.extraction import CardsWithdrawn, TurnsExtracted
from ingest.extraction.claude.extractor import ClaudeExtractor
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.workers.reextraction import (
    Reextraction,
    ReextractionBusyError,
    ReextractionFilter,
    ReextractionSummary,
    past_extractions,
)
from ingest.extraction.workers.rules_worker import PROCESSOR, ExtractorWorker
from projectors.cards.projector import CardsProjector
from projectors.generations.generations import ensure_live
from tests.support.ingest.messages_api import MessagesApi, Request, calls, says, status
from tests.support.ingest.model_workers import TOWNS, Reader, moves, turn
from tests.support.projectors.folding import fold_live, rebuild
from tests.support.stack import typed_here
from tests.support.waiting import eventually


@pytest.fixture
def settings(database: str, api: MessagesApi) -> Settings:
    return Settings(
        database_url=database, anthropic_base_url=api.url, session_batch_linger_ms=0, session_batch_turns=1
    )


def by_rules(reader: Reader) -> None:
    """Extracts every turn of the log with the rules, and folds the events."""
    PROCESSOR.open(reader.connection)
    worker = ExtractorWorker(reader.settings, RulesExtractor(), lambda: False)
    while worker.step(reader.connection):
        pass
    ensure_live(reader.connection, CardsProjector())
    fold_live(reader.settings.database_url)


def again(reader: Reader, choice: ReextractionFilter | None = None) -> ReextractionSummary:
    extractor = ClaudeExtractor(reader.settings)
    work = Reextraction(reader.settings, extractor, lambda: False, backoff=lambda _: 0.0)
    try:
        wanted = list(past_extractions(reader.connection, choice or ReextractionFilter(), extractor))
        return work.run(reader.connection, wanted, lambda _: None)
    finally:
        extractor.close()
        fold_live(reader.settings.database_url)


def cards(reader: Reader, user: str) -> list[tuple[Any, ...]]:
    return reader.connection.execute(
        "SELECT kind, concept_key, value, content, superseded_at IS NULL FROM cards.cards "
        "WHERE user_id = %s AND NOT coalesce(episode, false) ORDER BY kind, effective_at, content",
        (user,),
    ).fetchall()


OTHERS = "I like the words Ankara, Bergen, Cusco."  # a value that nobody said is not believed


def moving_to(town: str) -> Any:
    """A model that finds one town in every turn."""

    def answer(request: Any) -> Any:
        return calls(
            {
                "states": [
                    {
                        "turn": number, "quote": words, "content": f"Lives in {town}", "entity": "user",
                        "concept_key": "residence", "value": town, "cardinality": "single_value",
                        "statement": "asserted",
                    }
                    for number, words in enumerate(request.turns, 1)
                ],
            }
        )  # fmt: skip

    return answer


def check_rebuilt(reader: Reader) -> None:
    """Asserts that the live tables equal a rebuild of the log."""
    assert rebuild(reader.settings.database_url, verify=True).equal is True


def test_the_cards_are_those_of_the_newest_reading_and_the_log_keeps_all(reader: Reader) -> None:
    reader.append(*moves("ana", 3, then=OTHERS), turn("bea", "I have a dog named Rex.", 0))
    by_rules(reader)
    assert [card[2] for card in cards(reader, "ana")] == [*TOWNS[:3]]
    reader.api.trouble = moving_to("Ankara")
    tally = again(reader, ReextractionFilter(user_id="ana"))
    assert (tally.turns, tally.left) == (3, 0)
    assert tally.withdrawn == 6  # three states, three episodes
    now = [card for card in cards(reader, "ana") if card[0] == "state"]
    assert [(card[2], card[4]) for card in now] == [("Ankara", True)]
    assert [card[2] for card in cards(reader, "bea")] == ["Rex"]
    episodes = reader.connection.execute("SELECT count(*) FROM cards.cards WHERE user_id = 'ana' AND episode")
    assert episodes.fetchone() == (3,)
    kinds = [type(event.payload).__name__ for event in reader.events("ana")]
    assert kinds.count("StateAsserted") == 3 + 3
    [withdrawn] = reader.payloads(CardsWithdrawn, "ana")
    assert "read again by claude" in withdrawn.reason
    check_rebuilt(reader)
    reader.api.trouble = moving_to("Bergen")
    assert again(reader).turns == 1  # only bea's was not read with today's prompt
    assert again(reader, ReextractionFilter(user_id="ana", prompt_version="rules-12")).turns == 0


def test_a_reading_can_be_replaced_again_and_again(reader: Reader) -> None:
    reader.append(*moves("ana", 4, then=OTHERS))
    by_rules(reader)
    for town in ("Ankara", "Bergen", "Cusco"):
        reader.api.trouble = moving_to(town)
        reader.set(model=f"model of {town}", session_batch_turns=3)
        assert again(reader).turns == 4
        assert [card[2] for card in cards(reader, "ana") if card[0] == "state"] == [town]
        assert again(reader).turns == 0
    check_rebuilt(reader)


def test_a_statement_others_made_too_survives_and_what_only_the_old_reading_had_does_not(
    reader: Reader,
) -> None:
    later = turn("ana", "I have a dog named Rex.", 500, gap_s=1)
    reader.append(turn("ana", "I have a dog named Rex. I moved to Lisbon.", 0), later)
    by_rules(reader)
    before = reader.connection.execute("SELECT mentions FROM cards.cards WHERE value = 'Rex'").fetchall()
    assert before == [(2,)]
    reader.api.trouble = lambda request: (
        calls({"states": [], "events": [], "knowledge": []})
        if any("Lisbon" in text for text in request.turns)
        else None
    )
    again(reader)
    states = [card[2] for card in cards(reader, "ana") if card[0] == "state"]
    assert states == ["Rex"]
    assert reader.connection.execute("SELECT mentions FROM cards.cards WHERE kind = 'state'").fetchall() == [
        (1,)
    ]
    check_rebuilt(reader)


def test_a_user_without_any_card_left_looks_like_one_who_never_had_one(reader: Reader) -> None:
    reader.append(turn("ana", "I moved to Lisbon.", 0))
    by_rules(reader)

    class Silent(RulesExtractor):
        prompt_version = "silent-1"

        def extract(self, burst: Any) -> Any:
            return replace(super().extract(burst), cards=())

    wanted = list(past_extractions(reader.connection, ReextractionFilter(), Silent()))
    Reextraction(reader.settings, Silent(), lambda: False).run(reader.connection, wanted, lambda _: None)
    fold_live(reader.settings.database_url)
    assert reader.connection.execute("SELECT count(*) FROM cards.cards").fetchone() == (0,)
    check_rebuilt(reader)


def test_turns_given_up_or_extracted_by_the_fallback_are_extracted_again(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", reader.settings.database_url)
    monkeypatch.setenv("CARDLOG_REDIS_URL", "redis://127.0.0.1:1")
    reader.api.trouble = lambda _: says("no")
    reader.read(*moves("ana", 2))
    assert len(reader.failed("ana")) == 2
    assert read_health(reader.connection).reader("extractor").dead == 2
    told = "2 turns without cards, given up by the extractor, need you: `cardlog reextract --given-up`"
    assert told in typed_here(capsys, "status").stdout
    assert not read_health(reader.connection).reader("extractor").well
    reader.api.trouble = lambda _: None
    ensure_live(reader.connection, CardsProjector())
    assert again(reader, ReextractionFilter(given_up=True)).turns == 2
    assert reader.extracted("ana") == ["s-0", "s-1"]
    assert read_health(reader.connection).reader("extractor").dead == 0
    assert [card[2] for card in cards(reader, "ana") if card[0] == "state"] == [*TOWNS[:2]]
    check_rebuilt(reader)


def test_turns_that_cannot_be_read_keep_the_reading_they_have(reader: Reader) -> None:
    reader.append(*moves("ana", 2))
    by_rules(reader)
    before = cards(reader, "ana")
    reader.api.trouble = lambda _: says("no")
    tally = again(reader)
    assert (tally.turns, tally.left) == (0, 2)
    assert cards(reader, "ana") == before
    check_rebuilt(reader)


def test_a_session_read_again_is_written_in_its_order(reader: Reader) -> None:
    reader.append(*moves("ana", 3))
    by_rules(reader)
    answered = threading.Event()

    others: list[Request] = []

    def first_is_last(request: Request) -> None:
        if TOWNS[0] in request.turns[0]:
            answered.wait(60)
        else:
            others.append(request)
            if len(others) == 2:
                answered.set()

    reader.api.trouble = first_is_last
    assert again(reader).turns == 3
    assert answered.is_set()
    assert reader.extracted("ana") == ["s-0", "s-1", "s-2"] * 2


def test_what_was_done_stays_done_when_it_is_stopped(reader: Reader) -> None:
    for number in range(12):
        reader.append(*moves(f"user{number}", 2))
    by_rules(reader)
    stop = threading.Event()
    reader.api.trouble = lambda _: stop.set() if len(reader.api.requests) >= 5 else None
    extractor = ClaudeExtractor(reader.settings)
    few = replace(reader.settings, extract_concurrency=2)
    try:
        wanted = list(past_extractions(reader.connection, ReextractionFilter(), extractor))
        first = Reextraction(few, extractor, stop.is_set).run(reader.connection, wanted, lambda _: None)
    finally:
        extractor.close()
    assert 0 < first.turns < 24
    asked = len(reader.api.requests)
    second = again(reader)
    assert first.turns + second.turns == 24
    assert len(reader.api.requests) == asked + second.calls
    read = [
        event.payload
        for number in range(12)
        for event in reader.events(f"user{number}")
        if isinstance(event.payload, TurnsExtracted) and event.payload.replaces
    ]
    assert sum(len(each.turn_ids) for each in read) == 24
    check_rebuilt(reader)


def test_a_model_that_goes_away_ends_it_and_what_was_read_is_kept(reader: Reader) -> None:
    for number in range(4):
        reader.append(*moves(f"user{number}", 2))
    by_rules(reader)
    reader.set(extract_concurrency=1)
    reader.api.trouble = lambda _: None if len(reader.api.requests) <= 2 else status(401)
    first = again(reader)
    assert (first.turns, first.left) == (2, 0)
    assert "refuses the key" in (first.away or "")
    reader.api.trouble = lambda _: None
    second = again(reader)
    assert (second.turns, second.away) == (6, None)
    check_rebuilt(reader)


def test_only_one_reads_again_at_a_time(reader: Reader) -> None:
    with connect(reader.settings.database_url, application="another") as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('cardlog reextract', 0))")
        with pytest.raises(ReextractionBusyError, match="another cardlog reextract"):
            Reextraction(reader.settings, RulesExtractor(), lambda: False).run(
                reader.connection, [], lambda _: None
            )


def test_the_command_prints_the_cost_first_and_a_dry_run_extracts_nothing(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", reader.settings.database_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", reader.api.url)
    command = partial(typed_here, capsys, "reextract")
    reader.append(*moves("ana", 3))
    by_rules(reader)
    dry = command("--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    planned = json.loads(dry.stdout)["planned"]
    assert (planned["turns"], planned["bursts"]) == (3, 1)
    assert planned["about"]["cost_usd"] > 0
    assert reader.api.requests == []
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    none = json.loads(command("--since", tomorrow, "--dry-run", "--json").stdout)
    assert none["planned"]["turns"] == 0
    done = command("--prompt-version", "rules-12", "--json")
    assert done.returncode == 0, done.stderr
    assert "3 turns in 1 burst, to be read by claude-haiku-5-5" in done.stderr
    result = json.loads(done.stdout)["done"]
    assert (result["turns"], result["calls"]) == (3, 1)
    spent, about = result["tokens"], planned["about"]["tokens"]
    assert 0.5 < about / spent < 2
    bad = command("--since", "yesterday")
    assert bad.returncode == 2
    assert "ISO 8601" in bad.stderr


def test_the_rules_replace_the_cards_of_a_model_only_on_purpose(
    reader: Reader, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", reader.settings.database_url)
    command = partial(typed_here, capsys, "reextract")
    reader.append(*moves("ana", 1))
    by_rules(reader)
    assert command().returncode == 0  # nothing here knows a model
    reader.api.trouble = moving_to("Oslo")
    with reader.working():
        eventually(lambda: any(each.detail for each in reports(reader.connection)))
        refused = command()
        assert refused.returncode == 2
        assert "a model reads the turns here (claude-haiku-5-5 at http://127.0.0.1" in refused.stderr
        reader.append(turn("bea", "I moved to Oslo.", 0))
        reader.until_read("ana", "bea")
    for options in (), ("--dry-run",), ("--prompt-version", "rules-11"):
        refused = command(*options)
        assert refused.returncode == 2
        assert "ANTHROPIC_API_KEY or CARDLOG_OPENAI_BASE_URL" in refused.stderr
    assert not reader.payloads(CardsWithdrawn, "bea")
    none = command("--given-up", "--with-rules", "--json")
    assert json.loads(none.stdout)["planned"]["turns"] == 0
    monkeypatch.setenv("ANTHROPIC_BASE_URL", reader.api.url)
    done = command("--with-rules", "--json")
    assert done.returncode == 0, done.stderr
    assert "to be read by rules" in done.stderr
    assert json.loads(done.stdout)["planned"]["turns"] == 1
    assert len(reader.payloads(CardsWithdrawn, "bea")) == 1
