"""The examples of the chapter on three kinds of cards: states that contradict each other, and concepts."""

from typing import Any

from tests.support.person import Person


def test_a_time_that_no_calendar_tells_is_marked_and_makes_no_state_of_now(person: Person) -> None:
    person.say("When I was ten we moved to Rome.", "小時候我住在台南。", said_at="2026-05-08T09:00:00Z")
    told = {card["content"]: card for card in person.read("cards")["cards"]}
    for words in ("When I was ten we moved to Rome.", "小時候我住在台南。"):
        assert told[words]["when"] == "said 2026-05-08, time unresolved"
        assert told[words]["time_resolved"] is False
    assert {card["kind"] for card in told.values()} == {"event"}
    assert 'time="unresolved"' in person.context("when did I move to Rome?")["text"]


def concepts(person: Person) -> dict[str, Any]:
    return {card["title"]: card for card in person.read("cards", kind="knowledge")["cards"]}


def related(person: Person, card: dict[str, Any]) -> list[str]:
    links = person.read(f"cards/{card['card_id']}/relations")
    return [each["content"] for each in links["related"]]


def test_a_concept_is_created_edited_merged_and_pinned(person: Person) -> None:
    def sent(path: str, *, method: str = "POST", **body: Any) -> dict[str, Any]:
        done: dict[str, Any] = person.write(path, method=method, status=202, **body)
        person.stack.wait()
        return done

    def of_prompt() -> list[str]:
        lines = person.context("how should I use it?")["text"].splitlines()
        return [line for line in lines if line.startswith("<concept ")]

    mechanism = "a lightweight, stateless, JSON-based identity authentication mechanism"
    jwt = sent("concepts", title="JWT", definition=mechanism, related=["OAuth 2.0"])["event_id"]
    taken = person.write("concepts", title="jwt", definition="again", status=409)
    assert taken["concept_id"] == jwt
    oauth = {"title": "OAuth 2.0", "definition": "delegated access", "agent_id": "research"}
    sent("concepts", **oauth)
    known = concepts(person)
    assert (known["JWT"]["definition"], known["JWT"]["provenance"]) == (mechanism, "user_stated")
    assert known["OAuth 2.0"]["provenance"] == "agent_inferred"
    assert related(person, known["OAuth 2.0"]) == [known["JWT"]["content"]]

    sent(f"concepts/{jwt}", method="PATCH", definition="stateless authentication", title="JWT tokens")
    [card] = [each for each in person.read("concepts")["cards"] if each["card_id"] == jwt]
    assert (card["title"], card["aliases"]) == ("JWT tokens", ["JWT"])
    assert card["definition"] == "stateless authentication"

    other = sent("concepts", title="JSON Web Token", definition="a signed token")["event_id"]
    sent(f"concepts/{other}/merge", into=jwt, reason="one thing")
    assert sorted(concepts(person)) == ["JWT tokens", "OAuth 2.0"]
    assert "JSON Web Token" in concepts(person)["JWT tokens"]["aliases"]

    assert of_prompt() == []
    sent(f"concepts/{other}/pin")
    assert [each["title"] for each in person.read("concepts", pinned="true")["cards"]] == ["JWT tokens"]
    [line] = of_prompt()
    assert line.startswith('<concept title="JWT tokens">')
    sent(f"concepts/{jwt}/pin", pinned=False)
    assert of_prompt() == []


def test_a_conversation_goes_on_from_its_checkpoint(person: Person) -> None:
    path = "sessions/kyoto/checkpoint"
    person.read(path, status=404)
    for step, node in ((1, "retrieve"), (2, "generate")):
        state = {"messages": ["how is the weather?"], "scratchpad": {"step": step, "next": node}}
        person.write(path, status=202, state=state, agent_id="travel")
    saved = person.read(path)
    assert (saved["state"], saved["version"], saved["actor"]) == (state, 2, "agent/travel")
    other = {**state, "session": "another one"}
    person.write("sessions/osaka/checkpoint", status=202, state=other)
    assert person.read(path)["state"] == state
    problem = person.write(path, status=422, state={"messages": ["x" * 70_000]})
    assert problem["field"] == "state"
