"""``cardlog eval extraction`` gives a correct extractor the full score. A missed or invented card costs score."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest

from deploy.command import main
from evaluation.extraction_trial import KINDS, Case, Result, cases, trial
from events.types.cards import CardOrigin, EventNoted, KnowledgeLearned, StateAsserted
from events.types.extraction import Usage
from ingest.extraction.extractor_port import CardEvent, Extraction, SessionBatch
from tests.support.ingest.messages_api import MessagesApi, status

ALL = cases()


class Scripted:
    """An extractor that returns the planned answer for every case."""

    name = "scripted"
    model: str | None = None
    prompt_version = "scripted-1"

    def __init__(self, reads: Callable[[Case], Sequence[CardEvent]]) -> None:
        self._reads = reads
        self._cases = {case.turns: case for case in ALL}

    def extract(self, burst: SessionBatch) -> Extraction:
        return Extraction(tuple(self._reads(self._cases[burst.turns])), Usage(calls=1))


def origin(case: Case) -> CardOrigin:
    turn = case.turns[0].turn
    return CardOrigin(
        project_id="default", session_id=case.name, turn_ids=(turn.turn_id,), said_at=turn.said_at,
        source_span=None, provenance="user_stated",
    )  # fmt: skip


def labelled(case: Case) -> list[CardEvent]:
    zone = ZoneInfo(case.turns[0].turn.timezone)
    found: list[CardEvent] = [
        StateAsserted(
            content=one["value"], entity=one["entity"], concept_key=one["key"], value=one["value"],
            cardinality="single_value", tags=(), origin=origin(case), effective_at=datetime.now(UTC),
            statement=one.get("statement", "asserted"),  # type: ignore[arg-type]
        )
        for one in case.states
    ]  # fmt: skip
    for event in case.events:
        on = datetime.fromisoformat(event.get("on") or "2026-05-08").replace(tzinfo=zone)
        found.append(
            EventNoted(
                content=" ".join(event["says"]), entity="user", tags=(), origin=origin(case), occurred_at=on,
                time_resolved=True,
            )
        )  # fmt: skip
    found += [
        KnowledgeLearned(content=title, title=title, definition=title, tags=(), origin=origin(case))
        for title in case.knowledge
    ]
    return found


def tried(reads: Callable[[Case], Sequence[CardEvent]]) -> Result:
    return trial(Scripted(reads), ALL, lambda *_: None)


def test_the_labelled_set_has_both_languages_every_kind_and_much_that_gives_no_card() -> None:
    assert sum(len(case.turns) for case in ALL) >= 60
    for language in ("en", "zh"):
        spoken = [case for case in ALL if case.language == language]
        assert len(spoken) >= 25
        assert all(any(getattr(case, kind) for case in spoken) for kind in ("states", "events", "knowledge"))
        assert sum(not (case.states or case.events or case.knowledge) for case in spoken) >= 8


def test_an_extractor_that_finds_the_labels_scores_fully() -> None:
    result = tried(labelled)
    assert result.mistakes == []
    for kind in KINDS:
        score = result.score(kind)
        assert (score.precision, score.recall) == (1.0, 1.0)
        assert score.dated == score.datable
    assert result.score("event").datable > 0
    assert result.usage.calls == len(ALL)


def test_an_invented_card_lowers_the_score() -> None:
    def invented(case: Case) -> list[CardEvent]:
        return [
            StateAsserted(
                content="x", entity="user", concept_key="blood_type", value="AB", cardinality="single_value",
                tags=(), origin=origin(case), effective_at=datetime.now(UTC),
            ),
            EventNoted(
                content="sailed round Cape Horn", entity="user", tags=(), origin=origin(case),
                occurred_at=datetime.now(UTC),
            ),
            KnowledgeLearned(content="x", title="zymurgy", definition="x", tags=(), origin=origin(case)),
        ]  # fmt: skip

    result = tried(invented)
    for kind in KINDS:
        assert result.score(kind).precision == 0.0
        assert result.score(kind).wrong == len(ALL)


@pytest.fixture(autouse=True)
def environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    monkeypatch.delenv("ANTHROPIC_BASE_URL", raising=False)


def test_the_command_measures_the_rules_where_there_is_no_model(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["eval", "extraction", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["extractor"], found["conversations"], found["failed"]) == ("rules", len(ALL), 0)
    assert found["kinds"]["state"]["precision"] > 0.9
    assert set(found["kinds"]["state"]["languages"]) == {"en", "zh"}
    assert main(["eval", "extraction", "--mistakes"]) == 0
    assert capsys.readouterr().out.count("\n") > len(KINDS) * 3


def test_the_command_measures_the_model_where_there_is_one(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["eval", "extraction", "--extractor", "claude"]) == 2
    assert "ANTHROPIC_API_KEY is not set" in capsys.readouterr().err
    with MessagesApi() as api:
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        assert main(["eval", "extraction", "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["extractor"] == "claude"
        assert found["usage"]["calls"] == len(api.requests) > 0
        assert found["kinds"]["state"]["precision"] > 0.9
        api.trouble = lambda _: status(401)
        assert main(["eval", "extraction", "--json"]) == 1
        assert json.loads(capsys.readouterr().out)["failed"] > 0
