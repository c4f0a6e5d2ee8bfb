"""Reextraction keeps both extractions in the log. The cards follow the newer one, live and after a rebuild."""

import json
import threading
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest

from events.health.health_status import read_health
from events.platform.database import Connection, connect
from events.platform.settings import Settings
from events.store import log
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
from tests.support.ingest.model_workers import (
    TOWNS,
    caught_up,
    events_of,
    extracted,
    failed,
    moves,
    reading,
    turn,
)
from tests.support.projectors.folding import fold_live, rebuild
from tests.support.stack import typed_here
from tests.support.waiting import eventually


@pytest.fixture
def settings(database: str, api: MessagesApi) -> Settings:
    return Settings(
        database_url=database, anthropic_base_url=api.url, session_batch_linger_ms=0, session_batch_turns=1
    )


def by_rules(settings: Settings, connection: Connection) -> None:
    """Extracts every turn of the log with the rules, and folds the events."""
    PROCESSOR.open(connection)
    worker = ExtractorWorker(settings, RulesExtractor(), lambda: False)
    while worker.step(connection):
        pass
    ensure_live(connection, CardsProjector())
    fold_live(settings.database_url)


def again(
    settings: Settings, connection: Connection, choice: ReextractionFilter | None = None
) -> ReextractionSummary:
    extractor = ClaudeExtractor(settings)
    work = Reextraction(settings, extractor, lambda: False, backoff=lambda _: 0.0)
    try:
        wanted = list(past_extractions(connection, choice or ReextractionFilter(), extractor))
        return work.run(connection, wanted, lambda _: None)
    finally:
        extractor.close()
        fold_live(settings.database_url)


def cards(connection: Connection, user: str) -> list[tuple[Any, ...]]:
    return connection.execute(
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


def check_rebuilt(settings: Settings) -> None:
    """Asserts that the live tables equal a rebuild of the log."""
    assert rebuild(settings.database_url, verify=True).equal is True


def test_the_cards_are_those_of_the_newest_reading_and_the_log_keeps_all(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
) -> None:
    log.append(connection, [*moves("ana", 3, then=OTHERS), turn("bea", "I have a dog named Rex.", 0)])
    by_rules(settings, connection)
    assert [card[2] for card in cards(connection, "ana")] == [*TOWNS[:3]]
    api.trouble = moving_to("Ankara")
    tally = again(settings, connection, ReextractionFilter(user_id="ana"))
    assert (tally.turns, tally.left) == (3, 0)
    assert tally.withdrawn == 6  # three states, three episodes
    now = [card for card in cards(connection, "ana") if card[0] == "state"]
    assert [(card[2], card[4]) for card in now] == [("Ankara", True)]
    assert [card[2] for card in cards(connection, "bea")] == ["Rex"]
    episodes = connection.execute("SELECT count(*) FROM cards.cards WHERE user_id = 'ana' AND episode")
    assert episodes.fetchone() == (3,)
    kinds = [type(event.payload).__name__ for event in events_of(connection, "ana")]
    assert kinds.count("StateAsserted") == 3 + 3
    [withdrawn] = [e.payload for e in events_of(connection, "ana") if isinstance(e.payload, CardsWithdrawn)]
    assert "read again by claude" in withdrawn.reason
    check_rebuilt(settings)
    api.trouble = moving_to("Bergen")
    assert again(settings, connection).turns == 1  # only bea's was not read with today's prompt
    assert again(settings, connection, ReextractionFilter(user_id="ana", prompt_version="rules-9")).turns == 0


def test_a_reading_can_be_replaced_again_and_again(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
) -> None:
    log.append(connection, moves("ana", 4, then=OTHERS))
    by_rules(settings, connection)
    for town in ("Ankara", "Bergen", "Cusco"):
        api.trouble = moving_to(town)
        changed = replace(settings, model=f"model of {town}", session_batch_turns=3)
        assert again(changed, connection).turns == 4
        assert [card[2] for card in cards(connection, "ana") if card[0] == "state"] == [town]
        assert again(changed, connection).turns == 0
    check_rebuilt(settings)


def test_a_statement_others_made_too_survives_and_what_only_the_old_reading_had_does_not(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
) -> None:
    later = turn("ana", "I have a dog named Rex.", 500, gap_s=1)
    log.append(connection, [turn("ana", "I have a dog named Rex. I moved to Lisbon.", 0), later])
    by_rules(settings, connection)
    before = connection.execute("SELECT mentions FROM cards.cards WHERE value = 'Rex'").fetchall()
    assert before == [(2,)]
    api.trouble = lambda request: (
        calls({"states": [], "events": [], "knowledge": []})
        if any("Lisbon" in text for text in request.turns)
        else None
    )
    again(settings, connection)
    states = [card[2] for card in cards(connection, "ana") if card[0] == "state"]
    assert states == ["Rex"]
    assert connection.execute("SELECT mentions FROM cards.cards WHERE kind = 'state'").fetchall() == [(1,)]
    check_rebuilt(settings)


def test_a_user_without_any_card_left_looks_like_one_who_never_had_one(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
) -> None:
    log.append(connection, [turn("ana", "I moved to Lisbon.", 0)])
    by_rules(settings, connection)

    class Silent(RulesExtractor):
        prompt_version = "silent-1"

        def extract(self, burst: Any) -> Any:
            return replace(super().extract(burst), cards=())

    wanted = list(past_extractions(connection, ReextractionFilter(), Silent()))
    Reextraction(settings, Silent(), lambda: False).run(connection, wanted, lambda _: None)
    fold_live(settings.database_url)
    assert connection.execute("SELECT count(*) FROM cards.cards").fetchone() == (0,)
    check_rebuilt(settings)


def test_turns_given_up_or_extracted_by_the_fallback_are_extracted_again(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("CARDLOG_REDIS_URL", "redis://127.0.0.1:1")
    api.trouble = lambda _: says("no")
    log.append(connection, moves("ana", 2))
    with reading(settings):
        eventually(caught_up(connection, "ana"))
    assert len(failed(connection, "ana")) == 2
    assert read_health(connection).reader("extractor").dead == 2
    told = "2 turns without cards, given up by the extractor, need you: `cardlog reextract`"
    assert told in typed_here(capsys, "status").stdout
    api.trouble = lambda _: None
    ensure_live(connection, CardsProjector())
    assert again(settings, connection).turns == 2
    assert extracted(connection, "ana") == ["s-0", "s-1"]
    assert read_health(connection).reader("extractor").dead == 0
    assert [card[2] for card in cards(connection, "ana") if card[0] == "state"] == [*TOWNS[:2]]
    check_rebuilt(settings)


def test_turns_that_cannot_be_read_keep_the_reading_they_have(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
) -> None:
    log.append(connection, moves("ana", 2))
    by_rules(settings, connection)
    before = cards(connection, "ana")
    api.trouble = lambda _: says("no")
    tally = again(settings, connection)
    assert (tally.turns, tally.left) == (0, 2)
    assert cards(connection, "ana") == before
    check_rebuilt(settings)


def test_a_session_read_again_is_written_in_its_order(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
) -> None:
    log.append(connection, moves("ana", 3))
    by_rules(settings, connection)
    answered = threading.Event()

    others: list[Request] = []

    def first_is_last(request: Request) -> None:
        if TOWNS[0] in request.turns[0]:
            answered.wait(20)
        else:
            others.append(request)
            if len(others) == 2:
                answered.set()

    api.trouble = first_is_last
    assert again(settings, connection).turns == 3
    assert answered.is_set()
    assert extracted(connection, "ana") == ["s-0", "s-1", "s-2"] * 2


def test_what_was_done_stays_done_when_it_is_stopped(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
) -> None:
    for number in range(12):
        log.append(connection, moves(f"user{number}", 2))
    by_rules(settings, connection)
    stop = threading.Event()
    api.trouble = lambda _: stop.set() if len(api.requests) >= 5 else None
    extractor = ClaudeExtractor(settings)
    few = replace(settings, extract_concurrency=2)
    try:
        wanted = list(past_extractions(connection, ReextractionFilter(), extractor))
        first = Reextraction(few, extractor, stop.is_set).run(connection, wanted, lambda _: None)
    finally:
        extractor.close()
    assert 0 < first.turns < 24
    asked = len(api.requests)
    second = again(settings, connection)
    assert first.turns + second.turns == 24
    assert len(api.requests) == asked + second.calls
    read = [
        event.payload
        for number in range(12)
        for event in events_of(connection, f"user{number}")
        if isinstance(event.payload, TurnsExtracted) and event.payload.replaces
    ]
    assert sum(len(each.turn_ids) for each in read) == 24
    check_rebuilt(settings)


def test_a_model_that_goes_away_ends_it_and_what_was_read_is_kept(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
) -> None:
    for number in range(4):
        log.append(connection, moves(f"user{number}", 2))
    by_rules(settings, connection)
    few = replace(settings, extract_concurrency=1)
    api.trouble = lambda _: None if len(api.requests) <= 2 else status(401)
    first = again(few, connection)
    assert (first.turns, first.left) == (2, 0)
    assert "refuses the key" in (first.away or "")
    api.trouble = lambda _: None
    second = again(few, connection)
    assert (second.turns, second.away) == (6, None)
    check_rebuilt(settings)


def test_only_one_reads_again_at_a_time(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
) -> None:
    with connect(settings.database_url, application="another") as other:
        other.execute("SELECT pg_advisory_lock(hashtextextended('cardlog reextract', 0))")
        with pytest.raises(ReextractionBusyError, match="another cardlog reextract"):
            Reextraction(settings, RulesExtractor(), lambda: False).run(connection, [], lambda _: None)


def test_the_command_prints_the_cost_first_and_a_dry_run_extracts_nothing(
    settings: Settings,
    api: MessagesApi,
    connection: Connection,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("CARDLOG_DATABASE_URL", settings.database_url)
    monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
    command = partial(typed_here, capsys, "reextract")
    log.append(connection, moves("ana", 3))
    by_rules(settings, connection)
    dry = command("--dry-run", "--json")
    assert dry.returncode == 0, dry.stderr
    planned = json.loads(dry.stdout)["planned"]
    assert (planned["turns"], planned["bursts"]) == (3, 1)
    assert planned["about"]["cost_usd"] > 0
    assert api.requests == []
    tomorrow = (datetime.now(UTC) + timedelta(days=1)).isoformat()
    none = json.loads(command("--since", tomorrow, "--dry-run", "--json").stdout)
    assert none["planned"]["turns"] == 0
    done = command("--prompt-version", "rules-9", "--json")
    assert done.returncode == 0, done.stderr
    assert "3 turns in 1 burst, to be read by claude-haiku-5-5" in done.stderr
    result = json.loads(done.stdout)["done"]
    assert (result["turns"], result["calls"]) == (3, 1)
    spent, about = result["tokens"], planned["about"]["tokens"]
    assert 0.5 < about / spent < 2
    bad = command("--since", "yesterday")
    assert bad.returncode == 2
    assert "ISO 8601" in bad.stderr
