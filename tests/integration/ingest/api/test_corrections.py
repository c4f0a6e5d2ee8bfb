"""A corrected or retracted card was never true, until that is undone. An agent does not overrule the user."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import uuid4

from tests.support.conversing import Memory, day, link, refused
from tests.support.projectors.folding import rebuild
from tests.support.tables import examples


def residences(memory: Memory, status: str = "current") -> list[str]:
    memory.fold()
    return [card["content"] for card in memory.get("cards", kind="state", status=status)["cards"]]


def test_a_corrected_fact_holds_in_the_place_and_at_the_time_of_the_wrong_one(memory: Memory) -> None:
    memory.state("residence", "Oslo", day(0))
    rome = memory.state("residence", "Rome", day(5))
    memory.fold()
    done = memory.post(f"cards/{rome}/correct", value="Milan", reason="a slip")
    assert residences(memory) == ["residence is Milan"]
    assert residences(memory, "retracted") == ["residence is Rome"]
    assert residences(memory, "superseded") == ["residence is Oslo"]
    right = memory.get(f"cards/{done['event_id']}")
    assert right["effective_at"] == memory.get(f"cards/{rome}")["effective_at"]
    assert (right["provenance"], right["turn_ids"]) == ("user_stated", [])
    assert memory.get("cards", as_of=day(6).isoformat())["cards"][0]["value"] == "Milan"
    [edge] = memory.get(f"cards/{rome}/relations")["relations"]
    assert (edge["predicate"], edge["reason"], edge["other"]["value"]) == ("retracts", "a slip", "Milan")

    memory.post(f"cards/{done['event_id']}/correct", value="Rome")
    assert residences(memory) == ["residence is Rome"]
    assert rebuild(memory.database, verify=True).equal


def test_a_correction_is_of_all_mentions_and_restoring_the_card_undoes_it(memory: Memory) -> None:
    rome = memory.state("residence", "Rome", day(0))
    memory.state("residence", "Rome", day(9))
    tea = memory.state("hobby", "tea", day(1), cardinality="multi_value")
    trip = memory.event("We went to Turku", day(3))
    memory.fold()
    milan = memory.post(f"cards/{rome}/correct", value="Milan")["event_id"]
    go = memory.post(f"cards/{tea}/correct", value="go")["event_id"]
    memory.post(f"cards/{trip}/correct", content="We went to Tampere")
    memory.fold()
    memory.post(f"cards/{milan}/correct", value="Bari")
    right = ["We went to Tampere", "hobby is go", "residence is Bari"]
    wrong = ["We went to Turku", "hobby is tea", "residence is Rome"]
    memory.fold()
    assert sorted(memory.contents()) == right
    assert memory.get("cards", kind="state", status="superseded")["cards"] == []

    def taken_back(card: Any) -> str:
        [edge] = [
            each
            for each in memory.get(f"cards/{card}/relations")["relations"]
            if (each["predicate"], each["direction"]) == ("retracts", "in")
        ]
        return str(edge["event_id"])

    def withdrawn(*relations: str) -> list[str]:
        back = [
            memory.post(f"relations/{each}/withdraw", reason="as it was")["event_id"] for each in relations
        ]
        memory.fold()
        return back

    undone = withdrawn(*(taken_back(card) for card in (rome, tea, trip)))
    assert sorted(memory.contents()) == wrong
    withdrawn(*undone)
    assert sorted(memory.contents()) == right
    withdrawn(*(taken_back(card) for card in (rome, tea, trip)))
    withdrawn(taken_back(go))
    assert sorted(memory.contents()) == [wrong[0], right[1], wrong[2]]
    assert rebuild(memory.database, verify=True).equal


def test_words_alone_and_one_of_several_values_are_corrected(memory: Memory) -> None:
    many: dict[str, Any] = {"cardinality": "multi_value"}
    tea, chess = memory.state("hobby", "tea", day(0), **many), memory.state("hobby", "chess", day(1), **many)
    memory.fold()
    memory.post(f"cards/{tea}/correct", content="collects rare tea")
    memory.post(f"cards/{chess}/correct", value="go")
    assert sorted(residences(memory)) == ["collects rare tea", "hobby is go"]

    hiking = memory.state("hobby", "hiking", day(2), **many)
    memory.state("hobby", "climbing", day(3), statement="updated", replaces="hiking", **many)
    memory.fold()
    memory.post(f"cards/{hiking}/correct", value="caving")
    assert sorted(residences(memory)) == ["collects rare tea", "hobby is caving", "hobby is go"]
    assert rebuild(memory.database, verify=True).equal


def test_an_event_and_a_concept_are_corrected(memory: Memory) -> None:
    trip = memory.event("We went to Turku", day(3))
    jwt = memory.knowledge("JWT", "a cookie", day(4))
    memory.fold()
    refused(memory, f"cards/{trip}/correct", 422, "content", value="Tampere")
    memory.post(f"cards/{trip}/correct", content="We went to Tampere")
    memory.post(f"cards/{jwt}/correct", content="a signed token")
    refused(memory, f"cards/{jwt}/correct", 422, "value", value="a token")
    memory.fold()
    assert sorted(memory.contents()) == ["JWT: a signed token", "We went to Tampere"]
    [tampere] = memory.get("cards", kind="event")["cards"]
    assert tampere["occurred_at"] == memory.get(f"cards/{trip}")["occurred_at"]
    assert memory.get(f"cards/{jwt}")["definition"] == "a signed token"
    turn = memory.event("we met in Turku", day(5), episode=True)
    memory.fold()
    refused(memory, f"cards/{turn}/correct", 422, "card_id", content="we met in Tampere")
    assert rebuild(memory.database, verify=True).equal


def test_a_corrected_card_has_the_kind_of_time_of_the_wrong_one(memory: Memory) -> None:
    known: dict[str, Any] = {"time_resolved": True, "time_grain": "day", "effective_at": day(-100)}
    peckham, acme = (
        memory.state("residence", "Peckham", day(0)),
        memory.state("employer", "Acme", day(0), **known),
    )
    memory.fold()
    home = memory.post(f"cards/{peckham}/correct", value="Camberwell")["event_id"]
    work = memory.post(f"cards/{acme}/correct", value="Ajax")["event_id"]
    memory.fold()
    assert memory.get(f"cards/{home}")["when"].startswith("said ")
    assert memory.get(f"cards/{work}")["when"] == "since 2025-09-27"


@examples
def test_the_right_words_of_an_event_tell_its_time_as_on_the_day_of_the_wrong_ones(
    memory: Memory, right: str, when: str
) -> None:
    words = "appointment on Friday 9 January at 10am"
    at = datetime(2026, 1, 9, 10, tzinfo=UTC)
    known: dict[str, Any] = {
        "time_resolved": True,
        "time_grain": "minute",
        "occurred_until": at + timedelta(minutes=1),
    }
    card = memory.event(words, day(0), occurred_at=at, **known)
    memory.fold()
    done = memory.post(f"cards/{card}/correct", content=right)
    memory.fold()
    assert memory.get(f"cards/{done['event_id']}")["when"] == when


@examples
def test_right_words_without_a_value_keep_no_wrong_value(
    memory: Memory, wrong: str, value: str, right: str, named: str
) -> None:
    card = memory.state("allergy", value, day(0), content=wrong, cardinality="multi_value")
    memory.fold()
    done = memory.post(f"cards/{card}/correct", content=right)
    memory.fold()
    told = memory.get(f"cards/{done['event_id']}")
    assert (told["content"], told["value"]) == (right, named)


def test_a_retracted_card_was_never_true_until_the_retraction_is_withdrawn(memory: Memory) -> None:
    memory.state("residence", "Oslo", day(0))
    rome, trip = memory.state("residence", "Rome", day(5)), memory.event("We went to Turku", day(3))
    memory.fold()
    done = memory.post(f"cards/{rome}/retract", reason="a joke")
    assert memory.post(f"cards/{rome}/retract", reason="a joke") == {**done, "duplicate": True}
    memory.post(f"cards/{trip}/retract")
    assert residences(memory) == ["residence is Oslo"]
    assert memory.contents(kind="event") == []
    refused(memory, f"cards/{rome}/retract", 409, "card_id", reason="no joke")
    refused(memory, f"cards/{rome}/correct", 409, "card_id", value="Milan")
    refused(memory, f"cards/{trip}/correct", 409, "card_id", content="We went to Tampere")

    memory.post(f"relations/{done['event_id']}/withdraw", reason="it was true")
    assert residences(memory) == ["residence is Rome"]
    memory.post(f"cards/{rome}/retract", reason="a joke")
    assert residences(memory) == ["residence is Oslo"]
    assert rebuild(memory.database, verify=True).equal


def test_a_correction_with_one_key_is_appended_once(memory: Memory) -> None:
    rome = memory.state("residence", "Rome", day(5))
    memory.fold()
    path, key = f"/v1/cards/{rome}/correct", {"Idempotency-Key": "k1"}

    def send(value: str) -> Any:
        return memory.write.post(path, json={"user_id": memory.user, "value": value}, headers=key)

    first = send("Milan").json()
    memory.fold()
    assert send("Milan").json() == {**first, "duplicate": True}
    assert send("Bari").status_code == 422
    assert residences(memory) == ["residence is Milan"]


def test_a_card_that_is_not_there_or_not_current_is_not_taken_back(memory: Memory) -> None:
    oslo, rome = memory.state("residence", "Oslo", day(0)), memory.state("residence", "Rome", day(5))
    contested = memory.state("residence", "Bari", day(90))
    memory.fold()
    for what, body in (("correct", {"value": "Milan"}), ("retract", {})):
        refused(memory, f"cards/{uuid4()}/{what}", 404, "card_id", **body)
        refused(memory.of("eve"), f"cards/{rome}/{what}", 404, "card_id", **body)
    refused(memory, f"cards/{rome}/correct", 422, "value")
    for card, remedy in ((oslo, f"GET /v1/cards/{oslo}/latest"), (contested, "contested")):
        problem = refused(memory, f"cards/{card}/correct", 409, "card_id", value="Milan")
        assert problem["title"] == "Not current"
        assert remedy in problem["detail"]
    memory.post(f"cards/{contested}/retract")
    assert residences(memory, "contested") == []


def test_an_agent_takes_back_what_agents_inferred_and_nothing_that_the_user_stated(memory: Memory) -> None:
    guessed = {"provenance": "agent_inferred"}
    rome = memory.state("residence", "Rome", day(5), **guessed)
    memory.state("residence", "Rome", day(6))
    job = memory.state("occupation", "baker", day(5), **guessed)
    memory.fold()
    for what, body in (("correct", {"value": "Milan"}), ("retract", {})):
        problem = refused(memory, f"cards/{rome}/{what}", 403, "card_id", agent_id="curator", **body)
        assert problem["title"] == "Stated by the user"
    ends = link(job, rome, "retracts", "a guess")
    problem = refused(memory, "relations", 403, "to_card", agent_id="curator", **ends)
    assert problem["title"] == "Stated by the user"
    edge = memory.post("relations", **ends)
    memory.fold()
    back = f"relations/{edge['event_id']}/withdraw"
    refused(memory, back, 403, "relation_id", agent_id="curator", reason="it was right")
    undone = memory.post(back, reason="it was right")
    memory.fold()
    again = f"relations/{undone['event_id']}/withdraw"
    refused(memory, again, 403, "to_card", agent_id="curator", reason="it was wrong")
    done = memory.post(f"cards/{job}/correct", value="cook", agent_id="curator")
    memory.fold()
    assert memory.get(f"cards/{done['event_id']}")["provenance"] == "agent_inferred"
    memory.post(f"cards/{done['event_id']}/retract", agent_id="curator")
    assert residences(memory) == ["residence is Rome"]
