"""The examples of the post on a layered memory: a core document, episodes and problems."""

from typing import Any

from tests.support.ingest.messages_api import MessagesApi, calls
from tests.support.person import Person

CONDITION = {"name": "Type 2 Diabetes", "since": "2018-03", "confidence": 0.95}
SINCE = "/healthProfile/conditions/0/since"


def test_an_operation_tells_the_source_and_the_confidence_of_its_patch(person: Person) -> None:
    person.write(
        "memory/{user}/events",
        actor="user",
        patch=[{"op": "add", "path": "/healthProfile/conditions/-", "value": CONDITION}],
    )
    correction = {
        "op": "replace", "path": SINCE, "value": "2019-03",
        "_event": {"confidence": 0.98, "source": "user_correction"},
    }  # fmt: skip
    person.write("memory/{user}/events", status=422, actor="agent", patch=[correction])
    person.write("memory/{user}/events", actor="user", patch=[correction])
    change = person.read("memory/{user}/history")["changes"][0]
    assert (change["confidence"], change["source"], change["trust"]) == (
        0.98,
        "user_correction",
        "correction",
    )
    explained = person.read("memory/{user}", explain="true")["explain"][SINCE]
    assert (explained["confidence"], explained["source"]) == (0.98, "user_correction")
    assert person.read("memory/{user}", paths=SINCE)["snippets"][0]["value"] == "2019-03"

    other = {**correction, "value": "2020-03", "_event": {"confidence": 0.5}}
    problem = person.write("memory/{user}/events", actor="agent", patch=[correction, other], status=422)
    assert problem["field"] == "patch/1/_event/confidence"
    strange = {**correction, "_event": {"mood": "good"}}
    problem = person.write("memory/{user}/events", actor="agent", patch=[strange], status=422)
    assert problem["field"] == "patch/0/_event/mood"


def test_an_event_counts_once_by_its_id(person: Person) -> None:
    note = {"op": "add", "path": "/healthProfile/other/recentA1c", "value": "6.8 as of November 2023"}
    event: dict[str, Any] = {"id": "mem-7", "actor": "agent", "source": "msg-12", "patch": [note]}
    first = person.write("memory/{user}/events", **event)
    again = person.write("memory/{user}/events", **event)
    assert (again["event_id"], again["duplicate"], again["version"]) == (first["event_id"], True, 1)
    other = {**event, "patch": [{**note, "value": "7.1"}]}
    assert person.write("memory/{user}/events", **other, status=422)["field"] == "Idempotency-Key"


def test_an_episode_has_the_topics_the_sentiment_and_the_importance_that_a_model_gives(
    read_by_model: Person, model: MessagesApi
) -> None:
    words = "I tried that dawn phenomenon strategy. It's been working really well!"
    topics = ["dawn phenomenon", "blood glucose", "insulin management", "success story"]
    event = {
        "turn": 1, "quote": "I tried that dawn phenomenon strategy.", "content": "Tried the dawn phenomenon strategy",
        "entity": "user", "importance": 8, "sentiment": "positive", "topics": topics,
    }  # fmt: skip
    model.trouble = lambda _: calls({"states": [], "events": [event], "knowledge": []})
    read_by_model.say(words)
    [episode] = read_by_model.read("memory/{user}/episodes", topics="dawn phenomenon")["episodes"]
    assert (episode["content"], episode["topics"]) == (words, topics)
    assert (episode["sentiment"], episode["importance"]) == ("positive", 8)
    assert episode["explanation"]["topic_points"] == 3


def test_a_problem_that_is_back_is_no_longer_told_as_over(person: Person) -> None:
    opened = person.write("memory/{user}/problems", description="morning glucose is high", status=201)
    problem = f"memory/{{user}}/problems/{opened['problem_id']}"
    person.write(f"{problem}/close", resolution="the dawn phenomenon strategy worked")
    question = "how is my morning glucose?"
    assert "No longer a problem: morning glucose is high" in person.context(question)["text"]
    person.write(f"{problem}/reopen", reason="it is back")
    prompt = person.context(question)["text"]
    assert "No longer a problem" not in prompt
    assert "Problem: morning glucose is high" in prompt


def test_a_turn_that_arrives_late_changes_the_past_that_it_is_about(person: Person) -> None:
    place = "/profile/residence"
    person.write("memory/{user}/events", actor="user", patch=[{"op": "add", "path": place, "value": "Rome"}])
    [patched] = person.read("memory/{user}/history")["changes"]
    person.say("I live in Oslo.", said_at="2026-05-01T09:00:00+00:00")

    def held(**then: Any) -> list[str | None]:
        answer = person.read("memory/{user}", paths=[place, "/goals/other/x"], **then)
        return [each["value"] for each in answer["snippets"]][:1]

    assert held() == ["Rome"]
    assert held(as_of="2026-05-02T00:00:00Z") == ["Oslo"]
    assert held(as_of="2026-04-30T00:00:00Z") == [None]
    assert held(as_of="2026-05-02T00:00:00Z", known_at=patched["recorded_at"]) == [None]
    explained = person.read("memory/{user}", as_of="2026-05-02T00:00:00Z", explain="true")["explain"][place]
    assert explained["at"].startswith("2026-05-01T09:00:00")
    assert explained["recorded_at"] > patched["recorded_at"]
    assert person.read("memory/{user}")["updated_at"] >= patched["recorded_at"]
    context = person.context("where do I live?", paths=[place], as_of="2026-05-02T00:00:00Z")
    assert f'<fact path="{place}">Oslo</fact>' in context["text"]
