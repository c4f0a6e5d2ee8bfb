"""What a user gets who asks what is known about oneself."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.platform.settings import Settings
from retrieval.http.read_api import create_app
from tests.support.conversing import Memory, day
from tests.support.waiting import ALONE

QUESTIONS = ("What do you know about me?", "tell me about myself", "你知道我什麼", "说说你对我的了解")


@pytest.fixture
def ask(database: str, memory: Memory) -> Iterator[Any]:
    memory.state("residence", "Porto", day(0), context_layer="personal")
    memory.state("residence", "Lisbon", day(1), context_layer="personal", announced=True)
    memory.state("employer", "Acme", day(2), context_layer="work")
    memory.state("team", "Blue", day(2), context_layer="work", turn_ids=("t-work-2",))
    memory.state("club", "chess club", day(3), context_layer="social", cardinality="multi_value")
    memory.state("name", "Alex", day(4))
    memory.state("residence", "Oslo", day(5), entity="Mei", context_layer="personal")
    for number in range(8):
        memory.state("hobby", f"hobby {number}", day(6), cardinality="multi_value", context_layer="personal")
        memory.event(f"I know what you know about me, number {number}", day(7), importance=9)
    memory.fold()
    settings = replace(Settings(), database_url=database, **ALONE)
    with TestClient(create_app(settings)) as client:

        def asked(query: str, route: str = "recall", **more: Any) -> Any:
            answer = client.post(f"/v1/{route}", json={"user_id": memory.user, "query": query, **more})
            assert answer.status_code == 200, answer.text
            return answer.json()

        yield asked


def contents(answer: Any) -> list[str]:
    return [card["content"] for card in answer["cards"]]


def test_the_most_important_current_states_of_every_layer_answer(ask: Any) -> None:
    for query in QUESTIONS:
        found = ask(query)["cards"]
        assert [card["kind"] for card in found] == ["state"] * 5
        assert {card["context_layer"] for card in found[:4]} == {"personal", "work", "social", None}
        assert {card["content"] for card in found[:4]} == {
            "residence is Lisbon", "employer is Acme", "club is chess club", "name is Alex",
        }  # fmt: skip
        assert contents(ask(query)) == [card["content"] for card in found]
    # What no longer holds is absent, and facts about others come behind. What happened fills the places that are left.
    found = contents(ask(QUESTIONS[0], k=200))
    assert "residence is Porto" not in found
    assert found.index("residence is Oslo") > found.index("residence is Lisbon")
    assert all(content.startswith("I know") for content in found[-8:])
    assert len(found) == len(set(found)) == 22
    # A question with a topic is an ordinary question.
    assert contents(ask("What do you know about Mei?"))[0] == "residence is Oslo"
    # The past is told as it was.
    assert contents(ask(QUESTIONS[0], as_of=day(0).isoformat())) == ["residence is Porto"]


def test_what_newer_words_ended_says_so_and_comes_behind(memory: Memory, ask: Any) -> None:
    memory.event("I quit my job at Acme", day(8), episode=True, turn_ids=("t-quit",))
    memory.fold()
    facts = ask(QUESTIONS[0], k=14)["cards"]
    assert [each["content"] for each in facts if "perhaps_no_longer" in each] == ["employer is Acme"]
    assert facts[-1]["content"] == "employer is Acme"


def test_kinds_k_layers_and_the_budget_decide_how_many(ask: Any) -> None:
    assert len(contents(ask(QUESTIONS[0], k=2))) == 2
    assert all(card["kind"] == "event" for card in ask(QUESTIONS[0], kinds=["event"])["cards"])
    only = ask(QUESTIONS[0], only_layers=["work"])["cards"]
    assert {card["content"] for card in only} == {"employer is Acme", "team is Blue"}
    assert contents(ask(QUESTIONS[0], context_layer="social"))[0] == "club is chess club"
    prompt = ask(QUESTIONS[0], "context", k=50)
    short = ask(QUESTIONS[0], "context", k=50, token_budget=500)
    assert "residence is Lisbon" in prompt["text"]
    assert len(short["text"]) < len(prompt["text"])
    assert short["left_out"]
