"""The examples of the note on modes: one memory with several registers."""

from __future__ import annotations

from typing import Any

from tests.support.person import Person

TARGET = "The deploy target of the API is the cluster in Frankfurt."
TIRED = "I am exhausted from deploying my own emotional stability."
COFFEE = "Remind me to pick up coffee tomorrow."


def found(person: Person, query: str, **more: Any) -> dict[str, str]:
    return {card["content"]: card["mode"] for card in person.recall(query, k=10, **more)}


def test_a_project_has_a_register_and_the_caller_overrides_it(person: Person) -> None:
    project = {"project_id": "flashback"}
    code: dict[str, Any] = {
        "description": "programming",
        "prompt_overrides": {"units": "keep type signatures whole"},
    }
    person.write("modes/code", method="PUT", **code)
    person.write("modes/journal", method="PUT", description="reflections", default_decay="slow")
    person.write("projects/flashback", method="PUT", default_mode="code")
    person.say(TARGET, **project)
    person.say(COFFEE, mode="general", **project)
    person.say(TIRED, mode="journal", **project)

    query = "what is the deploy target?"
    assert found(person, query, mode="code", **project) == {TARGET: "code"}
    assert set(found(person, query, mode="journal", **project).values()) == {"journal"}
    assert found(person, "coffee", mode="general", **project)[COFFEE] == "general"
    everything = found(person, "deploy", modes="all", **project)
    assert {everything[TARGET], everything[TIRED]} == {"code", "journal"}

    declared = {mode["name"]: mode for mode in person.read("modes")["modes"]}
    assert declared["journal"]["default_decay"] == "slow"
    assert declared["code"]["prompt_overrides"] == code["prompt_overrides"]
    person.write("modes/journal/rename", new_name="diary")
    assert found(person, query, mode="diary", **project)[TIRED] == "diary"
    person.write("modes/diary?user_id={user}", method="DELETE")
    assert found(person, "exhausted", mode="general", **project)[TIRED] == "general"
