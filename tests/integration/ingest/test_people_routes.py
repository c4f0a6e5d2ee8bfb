"""People over HTTP: who there is, merged, split and told apart, with no command lost and nothing destroyed."""

from datetime import timedelta
from typing import Any

import pytest
from starlette.testclient import TestClient

from events.language.chinese_script import to_simplified
from events.platform.database import connect
from events.store import log
from events.types.cards import CardOrigin, EventNoted, SourceSpan, StateAsserted
from events.types.envelope import NewEvent, uuid7
from events.types.extraction import CardsWithdrawn
from projectors.generations.digest import digest_of
from projectors.people import PeopleProjector
from tests.support.projectors.folding import NOW, event, fold_live, rebuild
from tests.support.tables import rows

USER = {"user_id": "ada"}
SAID = (
    "My sister Noor is a nurse.",
    "Noor from work told me that the job is boring.",
    "Noor called about the weekend.",
    "Noor from work is Noora Haddad.",
)


def card(text: str, at: int, payload: type[EventNoted | StateAsserted] = EventNoted, **more: Any) -> NewEvent:
    """The episode of a turn, or a state that rests on it."""
    when = NOW + timedelta(minutes=at)
    origin = CardOrigin(
        project_id="default", session_id="s", turn_ids=(f"t{at}",), said_at=when, provenance="user_stated",
        source_span=SourceSpan(turn_id=f"t{at}", start=0, end=len(text), text=text),
    )  # fmt: skip
    usual: dict[str, Any] = {"content": text, "entity": "user", "tags": (), "origin": origin}
    if payload is EventNoted:
        usual |= {"occurred_at": when, "episode": True}
    else:
        usual |= {"cardinality": "single_value", "effective_at": when}
    return event(payload(**usual | more), "ada", occurred_at=when)


def tell(database: str, *events: NewEvent, folded: bool = True) -> list[NewEvent]:
    """Appends events. ``folded``: their names are folded too, and not their cards alone."""
    if not folded:
        fold_live(database, PeopleProjector())
    with connect(database, application="test people") as connection:
        log.append(connection, list(events))
    fold_live(database)
    if folded:
        fold_live(database, PeopleProjector())
    return list(events)


def people(read: TestClient, **asked: str) -> dict[str, Any]:
    answer = read.get("/v1/people", params=USER | asked)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def ids(found: dict[str, Any]) -> dict[str, str]:
    """The ids of people by name and first tie."""
    return {" ".join([each["name"], *each["kinship"][:1]]): each["person_id"] for each in found["people"]}


def command(write: TestClient, person: str, verb: str, status: int = 200, **body: object) -> dict[str, Any]:
    answer = write.post(f"/v1/people/{person}/{verb}", json=USER | body)
    assert answer.status_code == status, answer.text
    found: dict[str, Any] = answer.json()
    return found


def told(read: TestClient, person: str) -> list[str]:
    answer = read.get(f"/v1/people/{person}/timeline", params=USER)
    assert answer.status_code == 200, answer.text
    return [each["card"]["content"] for each in answer.json()["entries"]]


@pytest.mark.parametrize("folded", [True, False])
def test_two_of_a_name_are_proposed_merged_and_split(
    write: TestClient, read: TestClient, database: str, folded: bool
) -> None:
    tell(database, *(card(text, at) for at, text in enumerate(SAID)), folded=folded)
    found = people(read)
    known = ids(found)
    work, whole, sister = known["Noor work"], known["Noora Haddad"], known["Noor sister"]
    [proposal] = found["proposals"]
    assert (proposal["person_id"], proposal["into_id"]) == (work, whole)
    assert SAID[3] in proposal["evidence"][0]
    assert found["shared_names"] == [{"name": "noor", "person_ids": sorted((work, sister))}]
    assert told(read, whole) == [SAID[3]]

    merged = command(write, work, "merge", into_id=whole)
    assert (merged["person_id"], merged["merged"], merged["name"]) == (whole, [work], "Noora Haddad")
    assert people(read)["proposals"] == []
    assert told(read, work) == [SAID[3], SAID[1]]
    assert told(read, sister) == [SAID[0]]
    # The other way round is a cycle, the same way again changes nothing.
    assert command(write, whole, "merge", 409, into_id=work)["field"] == "into_id"
    assert command(write, work, "merge", into_id=whole)["merged"] == [work]

    command(write, work, "split", from_id=whole)
    assert set(told(read, work)) == {SAID[1], SAID[3]}
    assert told(read, whole) == [SAID[3]]
    command(write, work, "split", from_id=whole)
    assert command(write, work, "split", 409, from_id=sister)["title"] == "Not merged"
    command(write, work, "distinct", other_id=whole)
    assert command(write, work, "merge", 409, into_id=whole)["title"] == "Distinct"
    fold_live(database, PeopleProjector())
    with connect(database, application="test people") as connection:
        live = digest_of(connection, PeopleProjector(), "people")
        rebuild(database, PeopleProjector())
        assert digest_of(connection, PeopleProjector(), "people") == live


@pytest.mark.parametrize("name", ["Alex", "小林"])
def test_two_of_a_name_have_facts_of_their_own(
    write: TestClient, read: TestClient, database: str, name: str
) -> None:
    said = [row[1:] for row in rows(__file__, "two_of_a_name.txt") if row[0] == name]

    def say(at: int) -> None:
        text, entity, value = said[at]
        told = [card(text, at * 60)]
        if entity != "-":
            job = {"entity": entity, "concept_key": "employer", "value": value, "announced": True}
            told.append(card(text, at * 60, StateAsserted, **job))
        tell(database, *told)

    def work(person: str) -> list[str]:
        facts = read.get(f"/v1/people/{person}", params=USER).json()["facts"]
        return [each["value"] for each in facts if each["concept_key"] == "employer"]

    for at in range(4):
        say(at)
    found = people(read)
    [proposal] = found["proposals"]
    assert to_simplified(said[3][0]) in proposal["evidence"][0]
    theirs, whole = proposal["person_id"], proposal["into_id"]
    [shared] = found["shared_names"]
    [sister] = set(shared["person_ids"]) - {theirs}
    first, second, third, later = (said[at][2] for at in (0, 1, 2, 4))
    assert (work(sister), work(theirs), work(whole)) == ([first], [second], [third])
    command(write, theirs, "merge", into_id=whole)
    tell(database)
    assert (work(sister), work(theirs), work(whole)) == ([first], [third], [third])
    say(4)
    assert (work(sister), work(theirs), work(whole)) == ([first], [later], [later])
    command(write, theirs, "split", from_id=whole)
    tell(database)
    assert (work(sister), work(theirs), work(whole)) == ([first], [later], [third])


@pytest.mark.parametrize("folded", [True, False])
def test_a_noted_person_has_facts_names_and_a_timeline(
    write: TestClient, read: TestClient, database: str, folded: bool
) -> None:
    noted = write.post("/v1/people", json=USER | {"name": "王小美", "kinship": "姊姊"})
    assert noted.status_code == 201, noted.text
    person = noted.json()["person_id"]
    assert (
        write.post("/v1/people", json=USER | {"name": "王小美", "kinship": "我姐姐"}).json()["title"]
        == "Exists"
    )
    command(write, person, "alias", alias="May")
    command(write, person, "alias", alias="may@example.org", kind="handle")
    job: dict[str, Any] = {"concept_key": "employer", "entity": "May", "payload": StateAsserted}
    tell(
        database,
        card("May works at Adobe", 1, value="Adobe", **job),
        card("May works at Intel", 2, value="Intel", announced=True, **job),
        card("王小美告訴我她很忙", 3),
        folded=folded,
    )
    [found] = [each for each in people(read, name="may")["people"] if each["person_id"] == person]
    assert (found["aliases"], found["kinship"], found["addresses"]) == (
        ["May"],
        ["elder_sister"],
        ["may@example.org"],
    )
    shown = read.get(f"/v1/people/{person}", params=USER).json()
    assert [each["value"] for each in shown["facts"]] == ["Intel"]
    assert shown["last_mention"] > shown["facts"][0]["effective_at"]
    entries = read.get(f"/v1/people/{person}/timeline", params=USER).json()["entries"]
    assert [(each["subject"], each["quoted"]) for each in entries] == [
        ("user", "王小美"), ("may", None), ("may", None),
    ]  # fmt: skip


def test_bad_commands_change_nothing(write: TestClient, read: TestClient, database: str) -> None:
    one = write.post("/v1/people", json=USER | {"name": "Ann"}).json()["person_id"]
    other = write.post("/v1/people", json=USER | {"name": "Bo"}).json()["person_id"]
    before = people(read)
    nobody = str(uuid7())
    strange = write.post("/v1/people", json={"user_id": "eve", "name": "Cy"}).json()["person_id"]
    for verb, body, status, field in (
        ("merge", {"into_id": one}, 422, "into_id"),
        ("merge", {"into_id": nobody}, 404, "into_id"),
        ("merge", {"into_id": strange}, 404, "into_id"),
        ("split", {"from_id": other}, 409, "from_id"),
        ("split", {"from_id": one}, 422, "from_id"),
        ("distinct", {"other_id": one}, 422, "other_id"),
        ("distinct", {"other_id": nobody}, 404, "other_id"),
        ("alias", {"alias": "x" * 10_000}, 422, "alias"),
        ("alias", {"alias": " "}, 422, "alias"),
    ):
        assert command(write, one, verb, status, **body)["field"] == field
    assert command(write, strange, "alias", 404, alias="Di")["field"] == "person_id"
    assert write.post("/v1/people", json=USER | {"name": "x" * 10_000}).status_code == 422
    assert read.get(f"/v1/people/{strange}", params=USER).status_code == 404
    assert people(read) == before


def test_a_repeated_command_counts_once(write: TestClient, read: TestClient) -> None:
    key = {"Idempotency-Key": "k1"}
    first = write.post("/v1/people", json=USER | {"name": "Ann"}, headers=key).json()
    assert (
        write.post("/v1/people", json=USER | {"name": "Ann"}, headers=key).json()["person_id"]
        == first["person_id"]
    )
    other = write.post("/v1/people", json=USER | {"name": "Bo"}, headers=key)
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")


def test_withdrawn_cards_name_nobody_and_the_tables_are_those_of_a_rebuild(
    read: TestClient, database: str
) -> None:
    events = tell(database, *(card(text, at) for at, text in enumerate(SAID)))
    gone = CardsWithdrawn(
        event_ids=(events[0].event_id, events[3].event_id), positions=(1, 4), reason="read again"
    )
    tell(database, event(gone, "ada"))
    assert list(ids(people(read))) == ["Noor work"]
    with connect(database, application="test people") as connection:
        live = digest_of(connection, PeopleProjector(), "people")
        rebuild(database, PeopleProjector())
        assert digest_of(connection, PeopleProjector(), "people") == live
