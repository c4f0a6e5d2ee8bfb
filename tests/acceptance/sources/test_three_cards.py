"""The examples of the chapter on three kinds of cards: states that contradict each other, and concepts."""

from __future__ import annotations

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
