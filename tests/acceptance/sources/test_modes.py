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


def homes(person: Person, **more: Any) -> dict[str, bool]:
    """The homes that a question finds, each with whether the person lives there now."""
    cards = person.recall("where do I live now?", k=10, kinds=["state"], **more)
    return {card["value"]: card["superseded_at"] is None for card in cards}


def test_a_fact_is_superseded_within_its_mode_only(person: Person) -> None:
    person.write("modes/journal", method="PUT", description="reflections")
    person.write("modes/travel", method="PUT", description="trips")
    person.say("I live in Rome.", mode="journal")
    person.say("I moved to Milan.", mode="travel")
    person.say("I moved to Oslo.")
    assert homes(person, mode="journal") == {"Rome": True}
    assert homes(person, mode="travel") == {"Milan": True}
    assert homes(person, mode="general") == {"Oslo": True}
    for cards in (person.recall("Oslo", mode="general"), person.cards(mode="general")):
        assert {card["mode"] for card in cards} == {"general"}, "one name, and never null"
    person.write("modes/journal/rename", new_name="diary")
    person.say("I moved to Paris.", mode="diary")
    assert homes(person, mode="diary") == {"Paris": True}
    for name in ("diary", "journal"):
        cards = person.cards(mode=name, kind="state", status="*")
        assert {(card["value"], card["status"], card["mode"]) for card in cards} == {
            ("Rome", "superseded", "diary"), ("Paris", "current", "diary"),
        }  # fmt: skip
    groups = person.read("cards/aggregate", group_by="mode", kind="state")["groups"]
    assert {group["mode"]: group["count"] for group in groups} == {"diary": 1, "general": 1, "travel": 1}
    assert set(homes(person, modes="all")) == {"Milan", "Oslo", "Paris"}


def test_a_question_in_a_project_has_the_mode_of_the_project(person: Person) -> None:
    project = {"project_id": "shop"}
    person.write("modes/code", method="PUT", description="programming")
    person.write("modes/journal", method="PUT", description="reflections")
    person.say("The deploy target waits in the meadow.", mode="general", **project)
    assert len(person.recall("the deploy target", k=10, **project)) == 1
    person.write("projects/shop", method="PUT", default_mode="code")
    person.say(TARGET, **project)
    person.say(TIRED, mode="journal", session_id="evening", **project)
    query = "deploy"
    assert found(person, query, **project) == {TARGET: "code"}
    assert found(person, query, mode="journal", **project) == {TIRED: "journal"}
    assert len(found(person, query, modes="all", **project)) == 3
    assert len(found(person, query, project_id="*")) == 3
    assert TIRED not in person.context(query, **project)["text"]
    assert TIRED in person.context(query, mode="journal", **project)["text"]


def test_references_and_the_core_document_are_outside_modes(person: Person) -> None:
    person.write("modes/code", method="PUT", description="programming")
    person.write("projects/default", method="PUT", default_mode="code")
    person.write("references/todo_list", key="groceries", status=201)
    person.write("references/todo_list/groceries", method="PATCH", op="add", text="oat milk")
    person.say("I live in Lisbon.")
    person.stack.wait()
    for more in ({}, {"mode": "code"}, {"mode": "general"}):
        [card] = person.recall("oat milk groceries", kinds=["reference"], **more)
        assert (card["content"], card["mode"]) == ("groceries: [ ] oat milk", None)
    assert person.read("memory/{user}")["document"]["profile"]["residence"] == "Lisbon"
