"""The examples of the note on modes: one memory with several registers."""

from typing import Any

from tests.support.person import Person

TARGET = "The deploy target of the API is the cluster in Frankfurt."
TIRED = "I am exhausted from deploying my own emotional stability."


def found(person: Person, query: str, **more: Any) -> dict[str, str]:
    return {card["content"]: card["mode"] for card in person.recall(query, k=10, **more)}


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
