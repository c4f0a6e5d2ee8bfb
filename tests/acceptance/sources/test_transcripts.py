"""The page about the sources shows ten stories as calls and answers, as they are now."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

from tests.support.person import Person

PAGE = Path(__file__).parents[3] / "docs" / "sources.md"
BEGIN, END = "```text\n1 ", "\n```\n"


class Story:
    """Calls of one person, and the parts of their answers that matter. Ids are left out."""

    def __init__(self, person: Person) -> None:
        self.person = person
        self.lines: list[str] = []

    def title(self, words: str) -> None:
        number = sum(not line.startswith(" ") for line in self.lines) + 1
        self.lines.append(f"{number} {words}")

    def say(self, text: str, day: str, **more: Any) -> None:
        self.person.say(text, said_at=f"{day}T09:00:00Z", **more)
        self.note(f"turn {day}{self._told(more)}", text)

    def note(self, call: str, answer: object) -> None:
        words = answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)
        self.lines.append(f"  {call} -> {words}")

    def states(self, key: str, **query: Any) -> None:
        cards = self.person.cards(kind="state", concept_key=key, **query)
        self.note(
            f"GET cards{self._told({'concept_key': key} | query)}", sorted(card["content"] for card in cards)
        )

    def card(self, key: str) -> str:
        return str(self.person.cards(kind="state", concept_key=key)[0]["card_id"])

    def write(self, path: str, shown: str, *, method: str = "POST", status: int = 202, **body: Any) -> Any:
        answer = self.person.write(path, method=method, status=status, **body)
        words = {name: value for name, value in body.items() if name not in ("from_card", "to_card")}
        told = f"{status} {answer['detail']}" if status >= 400 else str(status)
        self.note(f"{method} {shown}{self._told(words)}", told.replace(str(answer.get("relation_id")), "ID"))
        self.person.stack.wait()
        return answer

    def prompt(self, query: str, *wanted: str) -> None:
        lines = self.person.context(query, as_of="2026-06-01T00:00:00Z")["text"].splitlines()
        kept = [line for line in lines if any(word in line for word in wanted)]
        self.lines += [f"  POST context {query!r}", *(f"    {line}" for line in kept)]

    @staticmethod
    def _told(body: dict[str, Any]) -> str:
        return f" {json.dumps(body, ensure_ascii=False)}" if body else ""


def wrong_edge(story: Story) -> None:
    story.title("A wrong retraction is withdrawn; what is said again holds; contradictory edges are refused")
    story.say("I'm allergic to peanuts.", "2026-03-01")
    story.say("My sister is called Ada.", "2026-03-02")
    ends: dict[str, Any] = {"from_card": story.card("sibling"), "to_card": story.card("allergy")}
    edge = story.write("relations", "relations", **ends, predicate="retracts", reason="misheard")
    story.states("allergy")
    story.write("relations", "relations", status=409, **ends, predicate="update", reason="new")
    story.write(f"relations/{edge['event_id']}/withdraw", "relations/ID/withdraw", reason="it was right")
    story.states("allergy")
    story.write("relations", "relations", **ends, predicate="retracts", reason="misheard")
    story.say("I'm allergic to peanuts.", "2026-04-01")
    story.states("allergy")


def late_turn(story: Story) -> None:
    story.title("The past of the core document after a late turn")
    place = "/profile/residence"
    patch = [{"op": "add", "path": place, "value": "Rome"}]
    story.write("memory/{user}/events", "memory/U/events", status=200, actor="user", patch=patch)
    [patched] = story.person.read("memory/{user}/history")["changes"]
    story.say("I live in Oslo.", "2026-05-01")
    then = {"as_of": "2026-05-02T00:00:00Z"}
    for shown, query in (
        ({}, {}),
        (then, then),
        (then | {"known_at": "before the turn"}, then | {"known_at": patched["recorded_at"]}),
    ):
        snippets = story.person.read("memory/{user}", paths=[place, "/goals/x"], **query)["snippets"]
        story.note(f"GET memory/U{story._told(shown)}", snippets[0]["value"])


def agent(story: Story) -> None:
    story.title("An agent does not overrule a correction of the user")
    story.say("I work at Acme.", "2026-03-01")
    story.say("My sister is called Ada.", "2026-03-02")
    old = story.card("employer")
    story.write(f"cards/{old}/correct", "cards/OLD/correct", value="Initech", reason="misheard")
    new, by = story.card("employer"), dict[str, Any](agent_id="curator")
    story.write(f"cards/{new}/retract", "cards/NEW/retract", status=403, **by)
    ends: dict[str, Any] = {"from_card": story.card("sibling"), "to_card": new}
    story.write("relations", "relations", status=403, **ends, predicate="retracts", reason="a guess", **by)
    edges = story.person.read(f"cards/{old}/relations")["relations"]
    back = f"relations/{edges[0]['event_id']}/withdraw"
    story.write(back, "relations/ID/withdraw", status=403, reason="a guess", **by)
    story.states("employer")


def modes(story: Story) -> None:
    story.title("Facts stay in their mode")
    for name in ("journal", "travel"):
        story.write(f"modes/{name}", f"modes/{name}", method="PUT", status=200, description=name)
    story.say("I live in Rome.", "2026-03-01", mode="journal")
    story.say("I live in Milan.", "2026-03-02", mode="travel")
    for name in ("journal", "travel"):
        story.states("residence", mode=name)


def past_turn(story: Story) -> None:
    story.title("The turn of a superseded fact is marked as past")
    story.say("I live in Taipei.", "2026-05-03")
    story.say("I moved to Taichung.", "2026-05-20")
    story.prompt("where do I live?", "Taipei", "Taichung")


def wish(story: Story) -> None:
    story.title("A wish in prose changes no list by default")
    story.say("Add call the lawyer about the divorce to my to-do list.", "2026-05-21")
    story.note(
        "GET references", [each["rendering"] for each in story.person.read("references")["references"]]
    )
    story.note("GET proposals", story.person.read("proposals")["proposals"])


def rex(story: Story) -> None:
    story.title("Rex is Alex's dog, and his death is told by Alex")
    story.say("Alex has a dog named Rex.", "2026-01-05", session_id="one")
    story.say("Alex told me that Rex passed away last week.", "2026-05-05", session_id="two")
    story.states("pet")
    story.states("pet", status="*")
    story.states("pet", as_of="2026-03-15T00:00:00Z")


def fields(story: Story) -> None:
    story.title("Fields of an event of the document are taken or refused by name")
    patch = [{"op": "add", "path": "/uncategorized/tea", "value": "green"}]
    taken: dict[str, Any] = {"actor": "agent", "patch": patch, "confidence": 0.8, "rationale": "she said so"}
    story.write("memory/{user}/events", "memory/U/events", status=200, **taken)
    for name in ("colour", "eventId"):
        more: dict[str, Any] = {"actor": "agent", "patch": patch, name: "red"}
        story.write("memory/{user}/events", "memory/U/events", status=422, **more)


def half_life(story: Story) -> None:
    story.title("A mode has its decay")
    story.write("modes/diary", "modes/diary", method="PUT", status=200, description="d", default_decay="slow")
    told = {each["name"]: each["default_decay"] for each in story.person.read("modes")["modes"]}
    story.note("GET modes", told["diary"])


def alert(story: Story) -> None:
    story.title("An alert names both sides")
    story.say("Noa likes tea.", "2026-05-06")
    story.say("Noa dislikes tea.", "2026-05-07")
    story.prompt("what does Noa like to drink?", "<conflict ")


def test_the_page_shows_ten_stories_as_they_are(person: Person) -> None:
    story = Story(person)
    told = (wrong_edge, late_turn, agent, modes, past_turn, wish, rex, fields, half_life, alert)
    for number, tell in enumerate(told):
        story.person = Person(person.stack, f"{person.user}-{number}")
        tell(story)
    page = PAGE.read_text("utf-8")
    begin = page.index(BEGIN)
    end = page.index(END, begin)
    if os.environ.get("CARDLOG_WRITE_TRANSCRIPTS"):
        PAGE.write_text(page[:begin] + "\n".join(["```text", *story.lines]) + page[end:], "utf-8")
    else:
        assert page[begin:end].splitlines()[1:] == story.lines
