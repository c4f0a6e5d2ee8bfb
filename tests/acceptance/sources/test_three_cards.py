"""The examples of the chapter on three kinds of cards: states that contradict each other, and concepts."""

from __future__ import annotations

from typing import Any

from tests.support.person import Person


def alerts(person: Person, query: str) -> list[str]:
    lines = person.context(query)["text"].splitlines()
    return [line for line in lines if line.startswith("<conflict ")]


def test_an_alert_names_both_sides(person: Person) -> None:
    person.say("I live in Taipei.", said_at="2026-01-05T09:00:00Z")
    person.say("I live in Kaohsiung.", said_at="2026-03-05T09:00:00Z")
    [alert] = alerts(person, "where do I live?")
    assert alert.startswith('<conflict cards="1" concept="residence">Lives in Taipei / Lives in Kaohsiung: ')

    person.say("Alex likes tea.", said_at="2026-03-06T09:00:00Z")
    person.say("Alex dislikes tea.", said_at="2026-03-07T09:00:00Z")
    [alert] = [told for told in alerts(person, "what does Alex like to drink?") if "tea" in told]
    assert ">Alex likes tea / Alex dislikes tea: two statements differ" in alert


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


def test_close_names_are_one_concept_and_related_concepts_list_each_other(person: Person) -> None:
    jwt = "JSON-Web-Token is a stateless way to authenticate."
    person.say("JWT (JSON Web Token) is a lightweight authentication mechanism.")
    person.say(jwt)
    person.say("OAuth 2.0 is an authorization framework for delegated access. It is related to JWT.")
    known = concepts(person)
    assert sorted(known) == ["JWT", "OAuth 2.0"]
    assert related(person, known["OAuth 2.0"]) == [known["JWT"]["content"]]
    assert related(person, known["JWT"]) == [known["OAuth 2.0"]["content"]]

    person.say("Bearer Token is a method of access for whoever holds it.")
    bearer, token = concepts(person)["Bearer Token"], known["JWT"]
    ends = {"from_card": bearer["card_id"], "to_card": token["card_id"]}
    person.write("relations", status=202, predicate="related_to", reason="a JWT is a bearer token", **ends)
    person.stack.wait()
    assert bearer["content"] in related(person, token)
    assert related(person, bearer) == [token["content"]]


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
