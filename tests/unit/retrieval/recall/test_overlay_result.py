"""The overlay changes replaced cards, removes withdrawn cards, and shows a projected card once."""

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest

from events.language.terms import analyse, term_keys
from events.platform.settings import Settings
from events.types.turns import TurnRecorded
from ingest.extraction.extractor_port import RecordedTurn, SessionBatch
from ingest.extraction.rules.extractor import RulesExtractor
from ingest.extraction.rules.patterns import compiled
from projectors.cards.card import StoredCard
from retrieval.pool import open_pool
from retrieval.query.question import understand
from retrieval.query.scope import scope_of
from retrieval.recall.fusion import Evidence
from retrieval.recall.overlay import Overlay
from retrieval.recall.overlay_result import OverlayResult
from tests.support.cards import card

NOW = datetime(2026, 5, 8, 16, 44, tzinfo=UTC)
QUESTION = understand("where is the spare key?", NOW)
SCOPE = scope_of(QUESTION, user_id="ann", projects=("default",))
OLD, REAL, PENDING = UUID(int=1), UUID(int=2), UUID(int=3)


def event(content: str = "the spare key is under the pot", turn: str = "t1", **more: Any) -> StoredCard:
    keys = term_keys("ann", analyse(content))
    usual: dict[str, Any] = {
        "kind": "event", "content": content, "turn_ids": [turn], "occurred_at": NOW, "episode": False,
        "term_keys": keys, "own_terms": len(keys),
    }  # fmt: skip
    return card(**usual | more)


def state(turn: str = "t1", **more: Any) -> StoredCard:
    usual: dict[str, Any] = {"kind": "state", "effective_at": NOW - timedelta(days=9), "occurred_at": None}
    return event(turn=turn, **usual | more)


@pytest.mark.parametrize(
    ("real", "shown"),
    [
        (event(), {REAL}),  # the same card, real by now
        (event(turn="t2"), {REAL, PENDING}),  # of another turn
        (event(episode=True), {REAL, PENDING}),  # the turn itself, not what was made of it
        (state(), {REAL, PENDING}),
    ],
)
def test_a_pending_card_steps_back_for_the_real_one_of_its_turn(real: StoredCard, shown: set[UUID]) -> None:
    laid = OverlayResult(cards={PENDING: event()}, pending=frozenset({PENDING}))
    assert laid.merge({REAL: real}, SCOPE).keys() == shown


def test_a_pending_card_does_not_step_back_for_one_it_replaces() -> None:
    laid = OverlayResult(cards={PENDING: event()}, gone=frozenset({REAL}), pending=frozenset({PENDING}))
    assert laid.merge({REAL: event()}, SCOPE).keys() == {PENDING}


def test_what_changes_is_shown_changed_or_not_at_all() -> None:
    ended = state(superseded_at=NOW - timedelta(days=1))
    assert OverlayResult(cards={OLD: ended}).merge({OLD: state()}, SCOPE) == {}
    verified = state(last_verified=NOW)
    assert OverlayResult(cards={OLD: verified}).merge({OLD: state()}, SCOPE) == {OLD: verified}


@pytest.mark.parametrize(
    "hidden",
    [
        event(project_id="novel"),
        event(retracted=True),
        event(contested=True),
        state(superseded_at=NOW),
        state(effective_at=NOW + timedelta(days=1)),
    ],
)
def test_a_pending_card_that_may_not_answer_does_not(hidden: StoredCard) -> None:
    assert OverlayResult(cards={PENDING: hidden}, pending=frozenset({PENDING})).merge({}, SCOPE) == {}


def test_the_evidence_of_a_pending_card_is_the_share_of_the_question_that_it_holds() -> None:
    cards = {
        OLD: event("the spare key is under the pot"),
        REAL: event("a spare tyre"),
        PENDING: event("soup for lunch"),
    }
    evidence = OverlayResult(cards=cards).evidence(QUESTION, {}, {})
    assert evidence.keys() == {OLD, REAL}
    assert (evidence[OLD].words, evidence[OLD].meaning, evidence[REAL].words) == (1, 1, 0.5)
    assert evidence[OLD].votes == pytest.approx(2 * evidence[REAL].votes)
    of_assistant = OverlayResult(cards={OLD: event(provenance="assistant_stated")})
    assert of_assistant.evidence(QUESTION, {}, {})[OLD].words == 0.5


def test_a_pending_card_with_the_most_words_of_a_question_is_the_best_hit_of_the_words() -> None:
    asked = understand("麻糬是什麼動物?", NOW)
    told = "我養了一隻貓叫麻糬。"
    laid = OverlayResult(cards={PENDING: event(told)})
    evidence = laid.evidence(asked, {OLD: Evidence(votes=1.0)}, {OLD: frozenset()})[PENDING]
    assert (evidence.words, evidence.words_place) == (1, 1)
    assert 0.5 < evidence.meaning < 1, "the card does not tell the word 動物"
    near = laid.evidence(asked, {OLD: Evidence(votes=1.0, meaning_place=1.0)}, {OLD: frozenset()})[PENDING]
    assert evidence.meaning_place < near.meaning_place < 1, "it is at least the second by meaning"
    whole = frozenset(term_keys("ann", analyse("麻糬是一隻動物")))
    beside = laid.evidence(asked, {OLD: Evidence(votes=1.0)}, {OLD: whole})[PENDING]
    assert beside.words == beside.meaning == evidence.meaning


def test_a_pending_card_inside_the_stretch_asked_about_has_evidence() -> None:
    asked = understand("what happened yesterday?", NOW)
    inside, outside = event("soup", occurred_at=NOW - timedelta(days=1)), event("tea")
    assert OverlayResult(cards={OLD: inside, REAL: outside}).evidence(asked, {}, {}).keys() == {OLD}


def test_the_first_reading_is_done_before_anybody_waits_for_it() -> None:
    settings = Settings(database_url="postgresql://127.0.0.1:1/none")
    overlay = Overlay(settings, open_pool(settings, "test"))
    compiled.cache_clear()
    overlay.warm()
    met = compiled.cache_info().misses
    for text in (
        "My new address is Kaohsiung.",
        "I just started working at Globex.",
        "我住在台北",
        "我對花生過敏",
    ):
        turn = TurnRecorded(
            turn_id=text, text=text, role="user", said_at=NOW, timezone="UTC", session_id="s", project_id="p"
        )
        RulesExtractor().extract(SessionBatch((RecordedTurn("ann", 1, turn),)))
    assert compiled.cache_info().misses == met
    asyncio.run(overlay.close())
