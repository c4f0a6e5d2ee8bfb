"""Patches of the document over HTTP: applied as a whole, or queued with the reason, the document unchanged."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from events.references import reference_log
from events.types.core import STREAM
from tests.support.projectors.folding import count
from tests.support.retrieval.core_documents import Documents, add, remove, replaced, test_of
from tests.support.tables import examples_and
from tests.support.waiting import eventually


def test_the_examples_of_patches_over_http(ada: Documents) -> None:
    ada.patch(
        add(
            "/healthProfile/conditions/-", {"name": "Type 2 Diabetes", "since": "2018-03", "confidence": 0.95}
        )
    )
    ada.patch(
        add(
            "/dynamicCategories/exerciseRoutine",
            {"description": "habits", "data": {"preferred": ["walking"]}},
        ),
        add("/healthProfile/other/recentA1c", "6.8"),
        actor="agent",
    )
    done = ada.patch(
        add("/dynamicCategories/exerciseRoutine/data/yoga", "three times weekly"),
        add(
            "/dynamicCategories/stressManagement",
            {"description": "stress", "data": {"techniques": ["yoga"]}, "createdAt": "2023-12-15T10:30:00Z"},
        ),
        actor="agent",
        source="turn 1",
        confidence=0.9,
    )
    assert (done["version"], done["changed"]) == (3, True)
    document = ada.document()
    exercise = document["dynamicCategories"]["exerciseRoutine"]
    assert exercise["data"] == {"preferred": ["walking"], "yoga": "three times weekly"}
    assert exercise["usageCount"] == 2
    assert document["dynamicCategories"]["stressManagement"]["createdAt"] == "2023-12-15T10:30:00Z"
    assert document["_meta"]["version"] == 3
    ada.patch(
        replaced("/healthProfile/conditions/0/since", "2019-03"),
        source="user_correction",
        confidence=0.98,
    )
    assert ada.value("/healthProfile/conditions/0/since") == "2019-03"
    explained = ada.done(ada.get(explain=True))["explain"]
    since = explained["/healthProfile/conditions/0/since"]
    assert (since["version"], since["confidence"], since["source"]) == (4, 0.98, "user_correction")
    assert explained["/healthProfile/conditions/0/name"]["version"] == 1
    yoga = explained["/dynamicCategories/exerciseRoutine/data/yoga"]
    assert (yoga["version"], yoga["source"], yoga["event_id"]) == (3, "turn 1", done["event_id"])


@pytest.mark.parametrize(
    ("ops", "status", "fault", "op", "path"),
    [
        ([test_of("/profile/residence", "Rome")], 409, "test", 0, "/profile/residence"),
        ([add("/goals/other/a", 1), test_of("/goals/other/a", True)], 409, "test", 1, "/goals/other/a"),
        ([remove("/profile/nothing")], 409, "path", 0, "/profile/nothing"),
        ([add("/profile/a/b", 1)], 409, "path", 0, "/profile/a/b"),
        ([add("/profile/nicknames/5", "x")], 409, "path", 0, "/profile/nicknames/5"),
        ([{"op": "move", "from": "/profile/x", "path": "/profile/name"}], 409, "path", 0, "/profile/x"),
        ([{"op": "move", "from": "/profile", "path": "/profile/other/x"}], 409, "path", 0, "/profile/other/x"),
        ([add("/preferences/other/x", 1), add("/profile/shoe", "x")], 422, "schema", 1, "/profile"),
        ([add("/healthProfile/conditions/-", {"since": "2018"})], 422, "schema", 0, "/healthProfile/conditions/0"),
        ([add("/newCategory", {})], 422, "schema", 0, ""),
        ([add("/newCategory/x", 1)], 409, "path", 0, "/newCategory/x"),
        ([add("/_meta/version", 9)], 422, "protected", 0, "/_meta/version"),
        ([replaced("", {})], 422, "protected", 0, ""),
        ([{"op": "copy", "from": "/_meta", "path": "/profile/other/x"}], 422, "protected", 0, "/_meta"),
        ([test_of("/_meta/version", 99)], 409, "test", 0, "/_meta/version"),
        ([add("/dynamicCategories/x", {"data": 1}), add("/dynamicCategories/x/usageCount", 9)], 422, "protected", 1,
         "/dynamicCategories/x/usageCount"),
    ],
)  # fmt: skip
def test_a_patch_that_does_not_fit_changes_nothing_and_waits_when_it_may_fit_later(
    ada: Documents, ops: list[dict[str, Any]], status: int, fault: str, op: int, path: str
) -> None:
    ada.patch(add("/profile/residence", "Lisbon"))
    problem = ada.refused(*ops, status=status)
    assert (problem["fault"], problem["op"], problem["path"], problem["field"]) == (
        fault,
        op,
        path,
        f"patch/{op}",
    )
    unknown = ops[0]["path"].startswith("/newCategory")
    assert ("a category of your own goes to /dynamicCategories/<name>" in problem["detail"]) == unknown
    entries = ada.done(ada.get("/queue"))["entries"]
    waiting = [(each["queue_id"], each["path"], each["status"]) for each in entries]
    # No approval makes a patch fit the schema, or change a protected place.
    assert waiting == ([(problem["queue_id"], path, "open")] if status == 409 else [])
    assert ("queue_id" in problem, "queue_full" in problem) == (status == 409, False)
    assert ada.document()["_meta"]["version"] == 1


def test_a_failed_test_shows_expected_and_actual(ada: Documents) -> None:
    ada.patch(add("/profile/residence", "Lisbon"))
    problem = ada.refused(test_of("/profile/residence", "Rome"), replaced("/profile/residence", "Oslo"))
    assert (problem["expected"], problem["actual"], problem["version"]) == ("Rome", "Lisbon", 1)


def test_an_index_means_the_item_that_was_there(ada: Documents) -> None:
    for name in ("asthma", "gout"):
        ada.patch(add("/healthProfile/conditions/-", {"name": name}))
    ada.patch(replaced("/healthProfile/conditions/1/name", "gout, left foot"))
    [change, *_] = ada.done(ada.get("/history"))["changes"]
    assert change["patch"][0] == test_of("/healthProfile/conditions/1/name", "gout")
    assert change["patch"][1]["op"] == "replace"


def test_versions_and_idempotency_keys(ada: Documents) -> None:
    first = ada.patch(add("/profile/name", "Ada"), expected_version=0)
    problem = ada.refused(add("/profile/name", "Eve"), expected_version=0)
    assert (problem["field"], problem["version"], problem["path"]) == ("expected_version", 1, "/profile/name")
    assert ada.done(ada.get("/queue"))["entries"] == []
    body = {"patch": [add("/profile/age", 36)], "actor": "user"}
    once, again = (ada.done(ada.send("events", body, **{"idempotency-key": "k"})) for _ in range(2))
    assert once["version"] == again["version"] == first["version"] + 1
    assert (once["duplicate"], again["duplicate"], again["event_id"]) == (False, True, once["event_id"])
    other = ada.send("rollback", {"to_version": 0}, **{"idempotency-key": "k"})
    assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    for path in ("/profile/ages", "/profile", "/profile/age/0"):
        other = ada.send("events", {**body, "patch": [add(path, 36)]}, **{"idempotency-key": "k"})
        assert (other.status_code, other.json()["field"]) == (422, "Idempotency-Key")
    same = ada.patch(add("/profile/age", 36))
    assert (same["changed"], same["version"], same["event_id"]) == (False, 2, None)
    body, held = body | {"patch": [add("/profile/age", 36)]}, {"idempotency-key": "held"}
    assert ada.done(ada.send("events", body, **held))["version"] == 2
    tested = ada.patch(test_of("/_meta/version", 2), add("/profile/age", 37))
    assert tested["version"] == 3
    again = ada.done(ada.send("events", body, **held))
    assert (again["duplicate"], again["changed"], again["version"]) == (True, False, 2)
    assert ada.send("rollback", {"to_version": 3}, **held).status_code == 422


def test_concurrent_first_patches_each_get_a_version_and_an_event(ada: Documents) -> None:
    def first(number: int) -> dict[str, Any]:
        return ada.patch(add(f"/profile/other/k{number}", f"{uuid4()}"))

    def meanwhile(number: int) -> None:
        ada.state("residence", f"city {number}", number)
        ada.fold()

    with ThreadPoolExecutor(8) as many:
        others = [many.submit(meanwhile, number) for number in range(2)]
        answers = list(many.map(first, range(6)))
        for each in others:
            each.result()
    assert all(each["changed"] for each in answers)
    shown = {each["event_id"]: each["version"] for each in ada.done(ada.get("/history"))["changes"]}
    assert {each["event_id"]: each["version"] for each in answers}.items() <= shown.items()
    assert len({each["version"] for each in answers}) == 6
    assert set(ada.value("/profile/other")) == {f"k{number}" for number in range(6)}


def test_many_patches_of_one_document_leave_connections_to_others(
    services: Documents, ada: Documents
) -> None:
    bob, stopped = ada.of(f"user {uuid4()}"), "pg_locks WHERE locktype = 'advisory' AND NOT granted"

    def send(number: int) -> Any:
        return ada.send("events", {"patch": [add(f"/profile/other/k{number}", "v")], "actor": "user"})

    ada.patch(add("/profile/name", "Ada"))
    with ThreadPoolExecutor(20) as many:
        with services.connection.transaction():
            reference_log.lock(services.connection, ada.user, STREAM)
            sent = [many.submit(send, number) for number in range(20)]
            eventually(lambda: count(services.connection, stopped) > 1)
            assert bob.patch(add("/profile/name", "Bob"))["changed"]
        answers = [each.result() for each in sent]
    assert {each.status_code for each in answers} <= {200, 503}
    assert all("retry-after" in each.headers for each in answers if each.status_code == 503)
    done = {f"k{number}" for number, each in enumerate(answers) if each.status_code == 200}
    assert set(ada.value("/profile/other") or ()) == done


def test_an_agent_does_not_replace_what_the_user_said(ada: Documents) -> None:
    ada.patch(add("/profile/residence", "Lisbon"), confidence=0.9)
    problem = ada.refused(replaced("/profile/residence", "Rome"), actor="agent")
    assert (problem["fault"], problem["expected"], problem["actual"]) == ("contradiction", "Rome", "Lisbon")
    assert ada.refused(remove("/profile"), actor="agent")["fault"] == "contradiction"
    assert ada.refused(replaced("/profile/residence", "Rome"), confidence=0.5)["fault"] == "contradiction"
    borrowed = ada.refused(
        replaced("/profile/residence", "Rome"), status=422, actor="agent", source="user_correction"
    )
    assert borrowed["field"] == "source"
    ada.patch(replaced("/profile/residence", "Rome"))
    assert ada.value("/profile/residence") == "Rome"


def test_what_the_user_did_meanwhile_does_not_wait(ada: Documents) -> None:
    ada.patch(add("/profile/residence", "Lisbon"))
    waits = ada.refused(replaced("/profile/residence", "Rome"), actor="agent")
    assert "the user decides" in waits["detail"]
    [entry] = ada.done(ada.get("/queue"))["entries"]
    assert entry["queue_id"] == waits["queue_id"]
    ada.patch(replaced("/profile/residence", "Rome"))
    assert ada.done(ada.get("/queue"))["entries"] == []


def deep(levels: int) -> Any:
    value: Any = 1
    for _ in range(levels):
        value = {"a": value}
    return value


@examples_and(
    ([{"op": "add", "path": "/" + "x" * 3000, "value": 1}], "patch/0"),
    ([{"op": "add", "path": "/preferences/other/x", "value": 1}] * 1001, "patch"),
    ([{"op": "add", "path": "/preferences/other/x", "value": "x" * 200_000}], "patch"),
    ([{"op": "add", "path": "/preferences/other/x", "value": float("nan")}], "(body)"),
    ([{"op": "add", "path": "/preferences/other/x", "value": deep(200)}], "(body)"),
)
def test_a_malformed_patch_is_refused_and_not_queued(ada: Documents, patch: Any, field: str | None) -> None:
    ada.patch(add("/profile/name", "Ada"))
    before = ada.get().text
    answer = ada.send("events", {"patch": patch, "actor": "user"})
    if field is not None:
        assert (answer.status_code, answer.json().get("field")) == (422, field), answer.text
        assert ada.get().text == before
    else:
        assert answer.status_code in (200, 422), answer.text
    assert ada.done(ada.get("/queue"))["entries"] == []


def raw(ada: Documents, body: bytes) -> Any:
    url = f"/v1/memory/{ada.user}/events"
    return ada.write.post(url, content=body, headers={"content-type": "application/json"})


def test_a_name_that_is_there_twice_is_refused(ada: Documents) -> None:
    ada.patch(add("/profile/name", "Ada"))
    body = b'{"actor": "user", "patch": [{"op": "remove", "path": "/profile/name", "op": "add", "value": 1}]}'
    answer = raw(ada, body)
    assert (answer.status_code, answer.json()["field"], answer.json()["path"]) == (
        422,
        "patch",
        "/profile/name",
    )
    assert ada.value("/profile/name") == "Ada"


def test_the_document_stays_within_its_bounds(ada: Documents) -> None:
    text = "x" * 100_000
    for name in "ab":
        ada.patch(add(f"/preferences/other/{name}", text))
    assert ada.refused(add("/preferences/other/c", text), status=422)["fault"] == "size"
    nested: dict[str, Any] = add("/goals/other/x", deep(20))
    ada.patch(nested)
    path = "/goals/other/x" + "/a" * 20
    assert ada.refused(replaced(path, deep(20)), status=422)["fault"] == "size"


def test_a_user_without_a_document(ada: Documents) -> None:
    for what in ("", "/history", "/diff", "/queue"):
        answer = ada.get(what)
        assert (answer.status_code, answer.json()["field"]) == (404, "user_id")
    assert ada.send("rollback", {"to_version": 0}).status_code == 404
    assert ada.send("cherry-pick", {"event_ids": [str(uuid4())]}).status_code == 404
    assert ada.send(f"queue/{uuid4()}/approve", {}).status_code == 404


def test_facts_stand_first_in_a_prompt_and_stay_the_same(ada: Documents) -> None:
    ada.patch(
        add("/profile/residence", "Lisbon <b>"),
        add("/preferences/likes/-", "tea"),
        add("/preferences/likes/-", "figs"),
        add("/healthProfile/conditions/-", {"name": "asthma", "since": "2019"}),
    )

    def prompt(query: str, **more: Any) -> Any:
        asked = {
            "user_id": ada.user,
            "query": query,
            "paths": ["/profile", "/healthProfile", "/preferences/likes", "/none"],
        }
        answer = ada.read.post("/v1/context", json=asked | more)
        assert answer.status_code == 200, answer.text
        return answer.json()

    first = prompt("where do I live?")
    [core, facts, *_] = first["blocks"]
    assert (core["name"], facts["name"], facts["stable"]) == ("core", "facts", True)
    assert facts["text"] == (
        '<facts>\n<fact path="/profile/residence">Lisbon &lt;b&gt;</fact>\n'
        '<fact path="/healthProfile/conditions/0/name">asthma</fact>\n'
        '<fact path="/healthProfile/conditions/0/since">2019</fact>\n'
        '<fact path="/preferences/likes">tea, figs</fact>\n</facts>\n'
    )
    assert prompt("what do I like?")["blocks"][1] == facts
    least = core["tokens"] + 60
    small = prompt("where do I live?", token_budget=least)
    assert small["tokens"] <= least
    assert "facts have no room" in str(small)
    refused = ada.read.post("/v1/context", json={"user_id": ada.user, "query": "x", "paths": ["x"]})
    assert (refused.status_code, refused.json()["field"]) == (422, "paths")


@pytest.mark.parametrize("path", ["", "/dynamicCategories", "/dynamicCategories/routine"])
def test_a_prompt_has_the_data_of_a_dynamic_category_without_what_the_service_keeps(
    ada: Documents, path: str
) -> None:
    ada.patch(
        add("/dynamicCategories/routine", {"description": "habits", "confidence": 0.9, "data": {}}),
        add("/dynamicCategories/routine/data/yoga", "weekly"),
    )
    asked = {"user_id": ada.user, "query": "x", "paths": [path]}
    _, facts, *_ = ada.read.post("/v1/context", json=asked).json()["blocks"]
    assert facts["text"] == (
        '<facts>\n<fact path="/dynamicCategories/routine/data/yoga">weekly</fact>\n</facts>\n'
    )


def test_a_prompt_names_the_categories_that_the_document_does_not_have(ada: Documents) -> None:
    """A category without a value yet is no mistake, and a misspelt one is."""
    asked = {
        "user_id": ada.user,
        "query": "x",
        "paths": ["/profil/name", "/profile/name", "/healthProfile", ""],
    }
    answer = ada.read.post("/v1/context", json=asked).json()
    assert [each for each in answer["warnings"] if "paths" in each] == [
        "paths: the core document has no /profil"
    ]
