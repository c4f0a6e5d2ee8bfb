"""Versions, differences, rollbacks and cherry-picks of the document, and the queue of patches that wait."""

import threading
from typing import Any
from uuid import uuid4

import pytest

from tests.support.retrieval.core_documents import Documents, add, remove, replaced, test_of


def test_any_version_can_be_read_and_compared(ada: Documents) -> None:
    seen = []
    for number in range(1, 71):
        ada.patch(add(f"/preferences/other/k{number % 7}", number))
        seen.append(ada.done(ada.get())["updated_at"])
    ada.fold()
    for number in range(71, 75):
        ada.patch(add(f"/preferences/other/k{number % 7}", number))
    for version in (1, 31, 32, 33, 63, 64, 65, 70, 71, 74):
        expected = {f"k{each % 7}": each for each in range(1, version + 1)}
        assert ada.value("/preferences/other", version=version) == expected
    assert ada.done(ada.get(version=0))["document"]["preferences"]["other"] == {}
    assert ada.done(ada.get(as_of=seen[39]))["version"] == 40
    assert ada.done(ada.get("/diff", **{"from": 70, "to": 72})) == {
        "from": 70,
        "to": 72,
        "patch": [replaced("/preferences/other/k1", 71), replaced("/preferences/other/k2", 72)],
        "lines": ["/preferences/other/k1: 64 → 71", "/preferences/other/k2: 65 → 72"],
    }
    page = ada.done(ada.get("/history", limit=3))
    assert [each["version"] for each in page["changes"]] == [74, 73, 72]
    page = ada.done(ada.get("/history", limit=3, cursor=page["next_cursor"]))
    assert [each["version"] for each in page["changes"]] == [71, 70, 69]
    assert ada.get(known_at="2020-01-01T00:00:00Z").status_code == 404  # as it was then
    for query, field in (
        ({"version": 75}, "version"),
        ({"version": -1}, "version"),
        ({"paths": "x"}, "paths"),
    ):
        answer = ada.get(**query)
        assert (answer.status_code, answer.json()["field"]) == (422, field)


def test_a_key_of_another_rollback_or_cherry_pick_is_refused(ada: Documents) -> None:
    ids = [ada.patch(add(f"/profile/other/{each}", "1"))["event_id"] for each in ("a", "b", "c")]
    commands: list[tuple[str, dict[str, Any], list[dict[str, Any]]]] = [
        ("rollback", {"event_ids": ids[1:]}, [{"event_ids": ids[:2]}, {"to_version": 1}]),
        ("cherry-pick", {"event_ids": ids[1:2]}, [{"event_ids": ids[2:]}]),
        ("rollback", {"to_version": 2}, [{"to_version": 3}, {"event_ids": ids[1:]}]),
    ]
    for what, first, others in commands:
        key = {"idempotency-key": str(first)}
        done, again = (ada.done(ada.send(what, first, **key)) for _ in range(2))
        assert (again["event_id"], again["duplicate"]) == (done["event_id"], True)
        for body in others:
            other = ada.send(what, body, **key)
            assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")


@pytest.mark.parametrize("folded", [True, False])
def test_a_rollback_leaves_events_out_and_can_be_left_out_itself(ada: Documents, folded: bool) -> None:
    first = ada.patch(add("/profile/name", "Ada"))
    wrong = ada.patch(add("/profile/age", 99))
    ada.patch(add("/profile/hometown", "Ulm"))
    if folded:
        ada.fold()
    tried = ada.done(ada.send("rollback", {"event_ids": [wrong["event_id"]], "dry_run": True}))
    assert (tried["patch"], tried["changed"]) == ([remove("/profile/age")], False)
    assert ada.version() == 3
    done = ada.done(ada.send("rollback", {"event_ids": [wrong["event_id"]], "rationale": "a joke"}))
    assert (done["version"], done["patch"]) == (4, [remove("/profile/age")])
    assert ada.value("/profile/age") is None
    assert ada.value("/profile/hometown") == "Ulm"
    back = ada.done(ada.send("rollback", {"event_ids": [done["event_id"]]}))
    assert back["version"] == 5
    assert ada.value("/profile/age") == 99
    explained = ada.done(ada.get(explain=True))["explain"]
    assert explained["/profile/age"]["event_id"] == wrong["event_id"]
    to = ada.done(ada.send("rollback", {"to_version": 1}))
    assert ada.value("/profile") == ada.value("/profile", version=1)
    assert to["version"] == 6
    picked = ada.done(ada.send("cherry-pick", {"event_ids": [wrong["event_id"]]}))
    assert (picked["version"], ada.value("/profile/age")) == (7, 99)
    if folded:
        ada.fold()
    assert [ada.value("/profile/age", version=version) for version in range(1, 8)] == [
        None, 99, 99, None, 99, None, 99,
    ]  # fmt: skip
    again = ada.send("cherry-pick", {"event_ids": [first["event_id"]]})
    assert (again.status_code, again.json()["field"]) == (422, "event_ids")
    for what in ("rollback", "cherry-pick"):
        unknown = ada.send(what, {"event_ids": [str(uuid4())]})
        assert (unknown.status_code, unknown.json()["field"]) == (404, "event_ids")


def test_changes_that_stand_on_others_are_conflicts(ada: Documents) -> None:
    base = ada.patch(add("/dynamicCategories/garden", {"data": {}}))
    rests = ada.patch(add("/dynamicCategories/garden/data/roses", 3))
    ada.patch(add("/profile/name", "Ada"))
    body: dict[str, Any] = {"event_ids": [base["event_id"]]}
    refused = ada.send("rollback", body)
    assert refused.status_code == 409
    [conflict] = refused.json()["conflicts"]
    assert (conflict["event_id"], conflict["path"]) == (
        rests["event_id"],
        "/dynamicCategories/garden/data/roses",
    )
    tried = ada.done(ada.send("rollback", body | {"dry_run": True}))
    assert tried["conflicts"] == [conflict]
    assert ada.version() == 3
    ada.done(ada.send("rollback", {"event_ids": [base["event_id"], rests["event_id"]]}))
    assert ada.value("/dynamicCategories") == {}
    assert ada.value("/profile/name") == "Ada"
    refused = ada.send("cherry-pick", {"event_ids": [rests["event_id"]]})
    assert (refused.status_code, refused.json()["path"]) == (409, "/dynamicCategories/garden/data/roses")


def test_items_are_found_again_when_others_went(ada: Documents) -> None:
    gone = ada.patch(add("/healthProfile/conditions/-", {"name": "flu"}))
    ada.patch(add("/healthProfile/conditions/-", {"name": "asthma"}))
    ada.patch(add("/healthProfile/conditions/1/since", "2019"))
    ada.done(ada.send("rollback", {"event_ids": [gone["event_id"]]}))
    assert ada.value("/healthProfile/conditions") == [{"name": "asthma", "since": "2019"}]


def test_concurrent_edits_hit_the_items_they_mean(ada: Documents) -> None:
    for name in "abcdef":
        ada.patch(add("/healthProfile/conditions/-", {"name": name}))
    answers: list[Any] = []

    def edit(number: int) -> None:
        answers.append(
            ada.send("events", {"patch": [remove("/healthProfile/conditions/0")], "actor": "user"})
        )
        answers.append(
            ada.send("events", {"patch": [add(f"/preferences/other/k{number}", number)], "actor": "user"})
        )

    threads = [threading.Thread(target=edit, args=[number]) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert {each.status_code for each in answers} <= {200, 409}
    versions = [each.json()["version"] for each in answers if each.status_code == 200]
    assert sorted(versions) == list(range(7, 7 + len(versions)))
    removed = sum(1 for each in answers if each.status_code == 200) - 4
    names = [each["name"] for each in ada.value("/healthProfile/conditions")]
    assert names == list("abcdef")[removed:]
    assert len(ada.value("/preferences/other")) == 4


def test_the_queue_is_answered_over_http(ada: Documents) -> None:
    ada.patch(add("/profile/residence", "Lisbon"))
    wanted = [test_of("/profile/residence", "Rome"), replaced("/profile/residence", "Oslo")]
    queue_id = ada.refused(*wanted)["queue_id"]
    other = ada.refused(remove("/profile/nothing"))["queue_id"]
    still = ada.send(f"queue/{other}/approve", {})
    assert (still.status_code, still.json()["path"]) == (409, "/profile/nothing")
    assert ada.done(ada.send(f"queue/{queue_id}/approve", {"reason": "asked her"}))["version"] == 2
    assert ada.value("/profile/residence") == "Oslo"
    ada.done(ada.send(f"queue/{other}/refuse", {"by": "bo"}))
    for answer in ("approve", "refuse"):
        twice = ada.send(f"queue/{queue_id}/{answer}", {})
        assert (twice.status_code, twice.json()["field"]) == (409, "queue_id")
    ada.fold()
    entries = ada.done(ada.get("/queue", status="*"))["entries"]
    assert {each["queue_id"]: (each["status"], each["decided_by"]) for each in entries} == {
        queue_id: ("approved", "user"), other: ("refused", "bo"),
    }  # fmt: skip
    assert ada.done(ada.get("/queue"))["entries"] == []
    third = ada.refused(remove("/profile/nothing"))["queue_id"]
    edited = {"patch": [add("/profile/age", 36)]}
    ada.done(ada.send(f"queue/{third}/approve", edited))
    assert ada.value("/profile/age") == 36
