"""The examples of the post on a layered memory, as one user meets them: patches, their past, problems, episodes."""

from __future__ import annotations

from typing import Any

from tests.support.person import Person

DOCUMENT, EVENTS = "memory/{user}", "memory/{user}/events"
SINCE = "/healthProfile/conditions/0/since"
YOGA = [
    {"op": "add", "path": "/dynamicCategories/exerciseRoutine", "value": {"description": "User's exercise habits"}},
    {"op": "add", "path": "/dynamicCategories/exerciseRoutine/data", "value": {"yoga": "three times weekly"}},
    {
        "op": "add", "path": "/dynamicCategories/stressManagement",
        "value": {"description": "User's stress management techniques", "data": {"techniques": ["yoga"]}},
    },
]  # fmt: skip


def test_a_patch_changes_what_it_names_and_can_be_taken_back(person: Person) -> None:
    diabetes = {"name": "Type 2 Diabetes", "since": "2018-03", "confidence": 0.95}
    dislikes = {"op": "add", "path": "/dietaryProfile/preferences/dislikes/-", "value": "kale"}
    first = {"op": "add", "path": "/healthProfile/conditions/-", "value": diabetes}
    person.write(EVENTS, actor="user", patch=[first, dislikes])
    yoga = person.write(EVENTS, actor="agent", source="msg-9", rationale="told", patch=YOGA)
    replaced = [{"op": "replace", "path": SINCE, "value": "2019-03"}]
    person.write(EVENTS, actor="user", patch=replaced)

    now = person.read(DOCUMENT)["document"]
    assert now["dynamicCategories"]["exerciseRoutine"]["data"] == {"yoga": "three times weekly"}
    assert now["healthProfile"]["conditions"] == [{**diabetes, "since": "2019-03"}]
    assert now["dietaryProfile"]["preferences"]["dislikes"] == ["kale"]
    assert now["_meta"]["version"] == 3
    before = person.read(DOCUMENT, version="2")["document"]
    assert before["healthProfile"]["conditions"][0]["since"] == "2018-03"
    changes = person.read("memory/{user}/history")["changes"]
    assert [change["version"] for change in changes] == [3, 2, 1]
    between: dict[str, Any] = {"from": "2", "to": "3"}
    assert {"op": "replace", "path": SINCE, "value": "2019-03"} in person.read(
        "memory/{user}/diff", **between
    )["patch"]

    person.write("memory/{user}/rollback", event_ids=[yoga["event_id"]])
    now = person.read(DOCUMENT)["document"]
    assert now["dynamicCategories"] == {}
    assert now["healthProfile"]["conditions"][0]["since"] == "2019-03"
    person.write("memory/{user}/cherry-pick", event_ids=[yoga["event_id"]])
    assert set(person.read(DOCUMENT)["document"]["dynamicCategories"]) == {
        "exerciseRoutine",
        "stressManagement",
    }
    unfit = [{"op": "test", "path": SINCE, "value": "1999"}, replaced[0]]
    problem = person.write(EVENTS, actor="agent", patch=unfit, status=409)
    assert person.read(f"{DOCUMENT}/queue")["entries"][0]["queue_id"] == problem["queue_id"]
    facts = person.context("what do I have?", paths=["/healthProfile/conditions"], token_budget=1500)["text"]
    assert "Type 2 Diabetes</fact>" in facts
    assert "yoga" not in facts.partition("<memory>")[0]


def test_a_problem_keeps_what_worked(person: Person) -> None:
    spikes: dict[str, Any] = {"description": "Post-dinner glucose spikes", "priority": 8}
    opened = person.write("memory/{user}/problems", status=201, **spikes)["problem_id"]
    tried = (
        ("2023-11-20", "Walking after dinner", "20-30 point reduction"),
        ("2023-11-25", "Reduced carb portion", "40-50 point reduction"),
    )
    for date, approach, outcome in tried:
        attempt: dict[str, Any] = {
            "date": date,
            "approach": approach,
            "outcome": outcome,
            "successful": True,
        }
        person.write(f"memory/{{user}}/problems/{opened}/attempt", **attempt)
    [problem] = person.read("memory/{user}/problems")["problems"]
    assert (problem["status"], problem["priority"]) == ("active", 8)
    assert [(each["date"][:10], each["approach"], each["outcome"]) for each in problem["attempts"]] == list(
        tried
    )
    person.stack.wait()
    prompt = person.context("what helped my glucose after dinner?", token_budget=900)["text"]
    for _, approach, outcome in tried:
        assert f"<worked>{approach}: {outcome}" in prompt
