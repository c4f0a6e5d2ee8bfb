"""What recurs becomes an insight with its sources. It is stale without one of them, and a retraction holds."""

import json
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from starlette.testclient import TestClient

from cardlog_client import Client
from deploy.command_line import parse
from events.curator import fold as runs_in
from events.curator import runs_of
from events.platform.database import Connection
from events.store import log
from events.types.extraction import CardsWithdrawn
from ingest.curator.passes import patterns
from ingest.curator.runner import curate, memory_of
from retrieval.export.export import export
from tests.support.conversing import Memory
from tests.support.databases import kill_all
from tests.support.ingest.curating import BEGIN, fold, tell
from tests.support.projectors.folding import count, event

UNREAL = (
    "I didn't go climbing with Tom.",
    "I have never gone climbing with Tom",
    "I'd like to go climbing with Tom",
    "I want to go climbing with Tom.",
    "I'll go climbing with Tom.",
    "I wish I went climbing with Tom.",
    "Did I go climbing with Tom",
    "I went climbing with Tom, right?",
)
TUESDAYS = [(day, "I went climbing with Tom.") for day in (1, 8, 15, 22)]


@pytest.fixture
def memory(database: str, connection: Connection, read: TestClient, write: TestClient) -> Memory:
    return Memory(database, connection, read, write, user="ada")


def told(memory: Memory, status: str = "current") -> list[str]:
    return [each["content"] for each in memory.get("insights", status=status)["insights"]]


def ask(memory: Memory, **asked: object) -> Any:
    answer = memory.read.post("/v1/recall", json={"user_id": memory.user, **asked})
    assert answer.status_code == 200, answer.text
    return answer.json()


def climb(memory: Memory, *days: int) -> None:
    tell(memory.connection, *((day, "I went climbing with Tom.") for day in days))
    curate(memory.connection, memory.user)


def test_a_pattern_is_derived_once_and_shown_with_its_sources(memory: Memory) -> None:
    climb(memory, 1, 8, 15, 22)
    [found] = memory.get("insights")["insights"]
    assert found["content"] == "On Tuesdays: “I went climbing with Tom”"
    assert (found["provenance"], found["kind"], found["status"]) == ("agent_inferred", "pattern", "current")
    shown = memory.get(f"insights/{found['insight_id']}")
    assert [each["content"] for each in shown["cards"]] == ["I went climbing with Tom."] * 4
    before = count(memory.connection, "log.events")
    fold(memory.database)
    assert [curate(memory.connection, "ada").events for _ in range(3)] == [()] * 3
    assert count(memory.connection, "log.events") == before
    assert memory.of("eve").get("insights")["insights"] == []
    assert memory.of("eve").get(f"insights/{found['insight_id']}", answers=404)["field"] == "insight_id"


def test_a_withdrawn_source_makes_an_insight_stale_and_new_sources_derive_it_anew(memory: Memory) -> None:
    climb(memory, 1, 8, 15)
    [found] = memory.get("insights")["insights"]
    source = memory_of(memory.connection, "ada").cards[0]
    gone = CardsWithdrawn(event_ids=(source.card_id,), positions=(source.position,), reason="x")
    log.append(memory.connection, [event(gone, "ada")])
    fold(memory.database)
    assert (told(memory), told(memory, "stale")) == ([], [found["content"]])
    assert curate(memory.connection, "ada").events == ()
    climb(memory, 22)
    assert (told(memory), told(memory, "stale")) == ([found["content"]], [found["content"]])


@pytest.mark.parametrize("status", ["retracted", "superseded"])
def test_a_source_that_does_not_hold_makes_an_insight_stale(memory: Memory, status: str) -> None:
    climb(memory, 1, 8, 15)
    [found] = memory.get("insights")["insights"]
    source = found["sources"][0]
    if status == "retracted":
        memory.post(f"cards/{source}/retract", reason="misheard")
    else:
        memory.event(
            "The climbing with Tom was cancelled.",
            BEGIN,
            replaces="climbing",
            replaces_event=UUID(source),
            status="cancelled",
        )
    fold(memory.database)
    assert (told(memory), told(memory, "stale")) == ([], [found["content"]])
    assert "insights" not in ask(memory, query="What do I do with Tom?")
    assert curate(memory.connection, "ada").events == ()


def test_an_export_holds_the_insights(memory: Memory) -> None:
    climb(memory, 1, 8, 15)
    [found] = memory.get("insights")["insights"]
    lines = [json.loads(line) for line in export(memory.connection, "ada")]
    [exported] = [line for line in lines if line["kind"] == "insight"]
    assert exported == found | {"kind": "insight", "insight_kind": found["kind"]}
    assert lines[-1]["insights"] == 1


def test_the_verbs_list_show_and_retract_an_insight(memory: Memory) -> None:
    climb(memory, 1, 8, 15)
    [found] = memory.get("insights")["insights"]
    insight = found["insight_id"]
    mounts = {
        f"http://{name}": app._transport for name, app in (("write", memory.write), ("read", memory.read))
    }

    def run(*words: str) -> list[str]:
        parsed = parse(["insights", *words, "--user", "ada"])
        with Client("http://write", "http://read", mounts=mounts, api_key="") as client:
            return list(parsed.verb(*parsed.bound.args, **parsed.bound.kwargs, client=client).lines)

    line = f"{insight}  current      3 cards  {found['content']}"
    assert run("list") == [line]
    assert run("show", insight) == [
        line,
        *(f"    2025-01-{day:02}  event      I went climbing with Tom." for day in (7, 14, 21)),
    ]
    assert run("retract", insight, "--reason", "a course") == [line.replace("current  ", "retracted")]
    assert run("list") == ["ada has no current insights"]
    assert run("list", "--status", "retracted") == [line.replace("current  ", "retracted")]


def test_a_retracted_insight_comes_back_only_from_other_sources(memory: Memory) -> None:
    climb(memory, 1, 8, 15)
    [found] = memory.get("insights")["insights"]
    place = f"insights/{found['insight_id']}/retract"
    stranger = memory.of("eve").post(place, reason="mine", answers=404)
    assert stranger["field"] == "insight_id"
    assert memory.post(place, reason="only a course", answers=200)["status"] == "retracted"
    climb(memory, 22, 29)
    assert (told(memory), told(memory, "retracted")) == ([], [found["content"]])
    climb(memory, 36)
    assert told(memory) == [found["content"]]


def test_a_prompt_tells_a_current_insight_below_what_was_said(memory: Memory) -> None:
    climb(memory, 1, 8, 15)
    asked = {"user_id": "ada", "query": "What did I do with Tom?"}
    prompt = memory.read.post("/v1/context", json=asked).json()
    line = '<insight by="inference" sources="3">On Tuesdays: “I went climbing with Tom”</insight>'
    assert line in prompt["text"]
    names = [each["name"] for each in prompt["blocks"]]
    assert names.index("memory") < names.index("insights")
    [found] = memory.get("insights")["insights"]
    memory.post(f"insights/{found['insight_id']}/retract", reason="no", answers=200)
    assert "<insight " not in memory.read.post("/v1/context", json=asked).json()["text"]


def test_a_recall_tells_a_current_insight_of_the_words_asked_below_the_cards(memory: Memory) -> None:
    climb(memory, 1, 8, 15, 22)
    [known] = memory.get("insights")["insights"]
    asked: dict[str, object] = {"query": "What do I do with Tom?", "k": 1}
    answer = ask(memory, **asked, explain=True)
    assert [each["kind"] for each in answer["cards"]] == ["event"]
    assert answer["insights"] == [known]
    [explained] = answer["explain"]["insights"]
    assert (explained["terms"], explained["sources"]) == (["tom"], known["sources"])
    alone = ask(memory, **asked, kinds=["insight"])
    assert (alone["cards"], alone["insights"]) == ([], [known])
    unasked: list[dict[str, object]] = [
        {"query": "What did Mina cook?"},
        {"kinds": ["event"]},
        {"project_id": "work"},
        {"mode": "journal"},
        {"as_of": "2025-02-01T00:00:00+00:00"},
        {"only_layers": ["work"]},
    ]
    assert [ask(memory, **asked | more).get("insights") for more in unasked] == [None] * len(unasked)
    memory.post(f"insights/{known['insight_id']}/retract", reason="no", answers=200)
    assert "insights" not in ask(memory, **asked)


def test_runs_are_read_again_after_the_connections_ended(memory: Memory, connection: Connection) -> None:
    climb(memory, 1, 8, 15)
    runs = memory.get("curator/runs")["runs"]
    assert len(runs) == 1
    kill_all(connection)
    assert memory.get("curator/runs")["runs"] == runs


def test_an_undone_run_takes_its_insight_back(memory: Memory) -> None:
    climb(memory, 1, 8, 15)
    [run] = runs_in(runs_of(memory.connection, "ada")).values()
    memory.post(f"curator/runs/{run.run_id}/undo", reason="wrong", answers=200)
    fold(memory.database)
    curate(memory.connection, "ada")
    assert (told(memory), len(told(memory, "retracted"))) == ([], 1)


def test_a_pattern_needs_three_days_of_one_mode_and_project(connection: Connection) -> None:
    tell(connection, *TUESDAYS[:3])
    known = memory_of(connection, "ada")
    assert len(patterns(known)) == 1
    first = known.cards[0]
    others = (
        replace(first, mode="journal"),
        replace(first, project_id="work"),
        replace(first, event_status="planned"),
        *(replace(first, content=unreal) for unreal in UNREAL),
    )
    for moved in others:
        assert patterns(replace(known, cards=(moved, *known.cards[1:]))) == []


def test_one_common_word_or_name_is_no_theme(connection: Connection) -> None:
    told_once = (
        "Tom went climbing with Mina.",
        "Tom went to the new bakery.",
        "Tom went fishing in the rain.",
    )
    chinese = ("小明去爬山了。", "小明买了房子。", "小明喜欢面包。")
    tell(connection, *((day, words) for day, words in enumerate(told_once + chinese)))
    assert patterns(memory_of(connection, "ada")) == []


def test_chinese_words_recur_too(connection: Connection) -> None:
    tell(connection, *((day, "我和小明去爬山。") for day in (0, 3, 8)))
    assert [each.payload.content for each in patterns(memory_of(connection, "ada"))] == [
        "一再：「我和小明去爬山」"
    ]
    known = memory_of(connection, "ada")
    for unreal in ("我沒和小明去爬山。", "我想和小明去爬山。", "我和小明去爬山了嗎"):
        assert (
            patterns(replace(known, cards=(replace(known.cards[0], content=unreal), *known.cards[1:]))) == []
        )
