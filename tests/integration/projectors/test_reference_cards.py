"""A reference is a card: its words are found, an op replaces them, and a rebuild gives the same rows."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from starlette.testclient import TestClient

from events.platform.database import Connection
from events.store import log
from events.types.cards import EventNoted, StateAsserted
from projectors.cards.projector import CardsProjector
from projectors.generations.digest import digest_of
from projectors.generations.projector import Projector
from projectors.references import ReferencesProjector
from tests.support.databases import Place
from tests.support.projectors.folding import NOW, ORIGIN, apart, count, fold_live, rebuild
from tests.support.tables import examples


def op(write: TestClient, key: str, name: str, **more: Any) -> dict[str, Any]:
    answer = write.patch(f"/v1/references/todo_list/{key}", json={"user_id": "ada", "op": name, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


def same_after_a_rebuild(database: Place, connection: Connection, projector: Projector) -> None:
    fold_live(database, projector, batch=3)
    live = digest_of(connection, projector, projector.name)
    rebuild(database, projector)
    assert digest_of(connection, projector, projector.name) == live


def test_the_words_of_a_reference_are_replaced_by_each_op(write: TestClient, connection: Connection) -> None:
    write.post("/v1/references/todo_list", json={"user_id": "ada", "key": "trip"})
    for number in range(5):
        op(write, "trip", "add", text=f"pack the {number}. bag", item_id=str(number))
        if number % 2:
            fold_live(connection, CardsProjector())
    write.post("/v1/references/todo_list/trip/archive", json={"user_id": "ada"})
    write.post("/v1/references/todo_list/trip/restore", json={"user_id": "ada", "version": 3})
    write.post("/v1/references/todo_list", json={"user_id": "ada", "key": "gone"})
    write.post("/v1/references/todo_list/gone/archive", json={"user_id": "ada"})
    fold_live(connection, CardsProjector())
    rows = connection.execute("SELECT content, kind FROM cards.cards").fetchall()
    assert rows == [("trip: [ ] pack the 0. bag · [ ] pack the 1. bag", "reference")]
    [(card_id,)] = connection.execute("SELECT card_id FROM cards.cards").fetchall()
    for verb, more in (("verify", {}), ("correct", {"value": "a bag"}), ("retract", {})):
        refused = write.post(f"/v1/cards/{card_id}/{verb}", json={"user_id": "ada", **more})
        assert (refused.status_code, refused.json()["field"]) == (422, "card_id")
    [(cards, terms)] = connection.execute("SELECT cards, terms FROM cards.card_counts").fetchall()
    [(own,)] = connection.execute("SELECT own_terms FROM cards.cards").fetchall()
    assert (cards, terms) == (1, own)
    same_after_a_rebuild(connection, connection, CardsProjector())
    same_after_a_rebuild(connection, connection, ReferencesProjector())


OPS = st.lists(
    st.one_of(
        st.tuples(st.just("add"), st.sampled_from("abcd")),
        st.tuples(st.sampled_from(("mark_done", "remove")), st.sampled_from("abcd")),
        st.tuples(st.sampled_from(("clear", "archive", "restore")), st.just("")),
    ),
    min_size=1,
    max_size=12,
)


@settings(max_examples=2, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(st.dictionaries(st.uuids(), OPS, min_size=4, max_size=6))
def test_any_ops_leave_tables_that_a_rebuild_makes_again(
    write: TestClient, connection: Connection, objects: dict[UUID, list[tuple[str, str]]]
) -> None:
    for key, ops in objects.items():
        path = f"/v1/references/todo_list/{key}"
        write.post("/v1/references/todo_list", json={"user_id": "ada", "key": str(key)})
        for name, item in ops:
            if name in ("archive", "restore"):
                write.post(f"{path}/{name}", json={"user_id": "ada"})
            else:
                body = {"user_id": "ada", "op": name} | ({"item_id": item} if item else {})
                write.patch(path, json=body | ({"text": f"item {item}"} if name == "add" else {}))
    for projector in (CardsProjector(), ReferencesProjector()):
        same_after_a_rebuild(connection, connection, projector)
    for key in objects:
        shown = connection.execute(
            'SELECT rendering, archived FROM "references".objects WHERE key = %s', [str(key)]
        )
        [(rendering, archived)] = shown.fetchall()
        cards = connection.execute("SELECT content FROM cards.cards WHERE title = %s", [str(key)]).fetchall()
        assert cards == ([] if archived else [(rendering,)])


@pytest.mark.parametrize("folded", [True, False])
@examples
def test_questions_about_the_present_find_the_reference(
    write: TestClient, read: TestClient, connection: Connection, folded: bool, query: str, key: str
) -> None:
    fold_live(connection, CardsProjector())
    write.post("/v1/references/todo_list", json={"user_id": "ada", "key": "Project TODO"})
    op(write, "Project TODO", "add", text="fix the login page")
    write.post("/v1/references/variable", json={"user_id": "ada", "key": "stack"})
    write.patch(
        "/v1/references/variable/stack",
        json={"user_id": "ada", "op": "set", "path": "/database", "value": "PostgreSQL"},
    )
    if folded:
        fold_live(connection, CardsProjector())
    answer = read.post("/v1/recall", json={"user_id": "ada", "query": query}).json()
    first = answer["cards"][0]
    assert (first["kind"], first["content"].split(":")[0]) == ("reference", key)
    assert count(connection, "log.events") == 4


@examples
def test_the_present_value_stands_above_records_of_the_same_words(
    write: TestClient, read: TestClient, connection: Connection, query: str, said: str, present: bool
) -> None:
    kinds = {
        "working on": ("plan", {"goal": "working on the login page"}),
        "database": ("variable", {"database we use": "PostgreSQL"}),
        "todo": ("todo_list", {"items": [{"id": "a", "text": "the login page"}]}),
        "正在做": ("plan", {"goal": "正在做登入頁"}),
    }
    kind, data = next(made for word, made in kinds.items() if word in query)
    answer = write.post(f"/v1/references/{kind}", json={"user_id": "ada", "key": "work", "data": data})
    assert answer.status_code == 201, answer.text
    episode = EventNoted(content=said, entity="user", tags=(), origin=ORIGIN, occurred_at=NOW)
    log.append(
        connection,
        [
            apart(replace(episode, episode=True), "ada"),
            apart(episode, "ada"),
            apart(
                StateAsserted(
                    content=said, entity="user", concept_key="current_work", value=said, cardinality="multi_value",
                    tags=(), origin=ORIGIN, effective_at=NOW,
                ),
                "ada",
            ),
        ],
    )  # fmt: skip
    fold_live(connection, CardsProjector())
    answer = read.post("/v1/recall", json={"user_id": "ada", "query": query, "explain": True})
    cards = answer.json()["cards"]
    assert {card["kind"] for card in cards} > {"reference"}
    assert (cards[0]["kind"] == "reference") == present
