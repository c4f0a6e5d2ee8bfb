"""The examples of the chapter on three kinds of cards, from walls of projects to the clock on the wrist."""

from __future__ import annotations

from tests.support.ingest.messages_api import MessagesApi
from tests.support.person import Person


def test_a_project_is_a_wall(person: Person) -> None:
    person.say("The hotel shortlist for Kyoto is Granvia and Sora.", project_id="kyoto")
    person.say("The site shortlist for the data center is Tainan.", project_id="recovery")
    [hotel] = person.recall("find that shortlist", project_id="kyoto", session_id="new")
    assert "Granvia" in hotel["content"]
    assert person.recall("find that shortlist") == []
    assert len(person.recall("find that shortlist", project_id="*")) == 2


def test_a_state_has_one_present_and_keeps_its_past(person: Person) -> None:
    person.say("I live in Taipei.", said_at="2026-04-15T09:00:00Z", session_id="a")
    person.say("I moved to Kaohsiung.", said_at="2026-05-05T09:00:00Z", session_id="b")
    states = person.cards(kind="state", concept_key="residence", status="all")
    new, old = sorted(states, key=lambda card: card["effective_at"], reverse=True)
    assert (new["value"], new["superseded_at"]) == ("Kaohsiung", None)
    assert (old["value"], old["superseded_at"]) == ("Taipei", new["effective_at"])
    assert person.recall("where do I live?", kinds=["state"])[0]["value"] == "Kaohsiung"
    then = person.recall("where do I live?", kinds=["state"], as_of="2026-04-20T00:00:00Z")
    assert [card["value"] for card in then] == ["Taipei"]

    person.say("We use PostgreSQL.", "We use Redis.", session_id="c")
    used = person.cards(kind="state", cardinality="multi_value")
    assert {card["value"] for card in used} == {"PostgreSQL", "Redis"}


def test_a_slip_in_one_conversation_is_put_right(person: Person) -> None:
    person.say("I live in Taipei.", "Typo, I meant Kaohsiung.", session_id="one")
    [card] = person.cards(kind="state", concept_key="residence")
    assert card["value"] == "Kaohsiung"
    [slip] = person.cards(kind="state", status="retracted")
    assert slip["value"] == "Taipei"
    assert person.read("arbitrations")["arbitrations"] == []


def test_yesterday_is_a_date_on_the_clock_of_the_turn(read_by_model: Person, model: MessagesApi) -> None:
    asked: list[str] = []
    model.trouble = lambda request: asked.append(str(request))
    taipei = {"said_at": "2026-05-08T16:44:10+08:00", "timezone": "Asia/Taipei"}
    read_by_model.say("Yesterday I fixed a JWT bug.", **taipei)
    assert "<current_time>2026-05-08T16:44:10+08:00 (Asia/Taipei)</current_time>" in asked[0]
    assert "2026-05-07" in {card["when"] for card in read_by_model.cards(kind="event")}
    asks = {"as_of": "2026-05-08T20:00:00+08:00", "timezone": "Asia/Taipei"}
    first = read_by_model.recall("what did I do yesterday?", **asks)[0]
    assert "JWT bug" in first["content"]


def test_every_axis_slices_and_groups(person: Person) -> None:
    person.say("JWT is a stateless way to authenticate.", agent_id="research")
    person.say("I fixed a bug of the JWT refresh today.", agent_id="coding")
    [jwt] = person.cards(kind="knowledge")
    assert (jwt["title"], jwt["agent_id"]) == ("JWT", "research")
    shares = person.read("cards/aggregate", group_by="agent_id")["groups"]
    assert {share["agent_id"] for share in shares} == {"research", "coding"}
    assert abs(sum(share["share"] for share in shares) - 1) < 0.01
    mentions = person.cards(knowledge=jwt["card_id"])
    assert any("refresh" in card["content"] for card in mentions)
    assert person.cards(provenance="agent_inferred") == []
