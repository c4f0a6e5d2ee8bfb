"""The kinds of references, their ops, and batches of ops."""

import copy
from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.references.kinds import batch
from events.references.kinds.custom import declared, validate
from events.references.kinds.kind import Kind, ReferenceInvalidError, rendering_of
from events.references.kinds.registry import BUILT_IN
from ingest.references.declarations import check_cost
from tests.support.tables import examples_and

AT = "2026-05-08T16:44:10+08:00"
LATER = "2026-06-01T08:00:00+00:00"


def changed(kind: Kind, data: Any, *ops: dict[str, Any], at: str = AT) -> Any:
    for number, op in enumerate(ops):
        data = kind.apply(data, kind.complete(op, at=at, new_id=f"n{number}"))
    return data


def refused(kind: Kind, data: Any, op: dict[str, Any]) -> ReferenceInvalidError:
    with pytest.raises(ReferenceInvalidError) as caught:
        kind.apply(data, kind.complete(op, at=AT, new_id="n"))
    return caught.value


# --- lists


def test_a_list_shows_what_is_done_and_what_is_open() -> None:
    kind = BUILT_IN["todo_list"]
    data = changed(
        kind,
        kind.initial(),
        {"op": "add", "text": "water the ferns", "item_id": "a"},
        {"op": "add", "text": "還書", "item_id": "b", "due": "2026-05-20"},
        {"op": "mark_done", "item_id": "a"},
    )
    assert (
        rendering_of(kind, "home_chores", data)
        == "home chores: [✓] water the ferns · [ ] 還書 (due 2026-05-20)"
    )
    assert data["items"][0]["done_at"] == AT
    again = changed(kind, data, {"op": "reopen", "item_id": "a"}, {"op": "reorder", "ids": ["b"]})
    assert [item["id"] for item in again["items"]] == ["b", "a"]
    assert again["items"][1]["done_at"] is None
    assert rendering_of(kind, "x", changed(kind, data, {"op": "clear"})) == "x: (empty)"


def test_an_op_that_does_not_fit_names_the_argument_and_the_allowed_values() -> None:
    kind = BUILT_IN["todo_list"]
    data = changed(kind, kind.initial(), {"op": "add", "text": "x", "item_id": "a"})
    assert refused(kind, data, {"op": "ad"}).allowed == list(kind.ops)
    assert refused(kind, data, {"op": "mark_done", "item_id": "z"}).allowed == ["a"]
    assert refused(kind, data, {"op": "mark_done"}).field == "item_id"
    assert refused(kind, data, {"op": "add", "text": "y", "item_id": "a"}).field == "item_id"
    assert refused(kind, data, {"op": "add", "text": "y", "due": "soon"}).field == "due"
    assert refused(kind, data, {"op": "add", "text": "y", "colour": "red"}).field == "colour"
    assert refused(kind, data, {"op": "update", "item_id": "a"}).field == "text"
    assert refused(kind, data, {"op": "add", "text": "a\0b"}).field == "text"
    assert refused(kind, data, {"op": "add", "text": "\ud800"}).field == "text"
    assert refused(kind, data, {"op": "reorder", "ids": ["a", "a"]}).field == "ids"


# --- plans, decisions, variables


def test_a_plan_keeps_its_order_and_its_statuses() -> None:
    kind = BUILT_IN["plan"]
    data = changed(
        kind,
        kind.initial(),
        {"op": "set_goal", "goal": "move the office"},
        {"op": "add_step", "text": "find a van", "item_id": "a"},
        {"op": "add_step", "text": "pack", "item_id": "b"},
        {"op": "add_step", "text": "tell the landlord", "item_id": "c", "place": 0},
        {"op": "complete", "item_id": "c"},
        {"op": "block", "item_id": "a", "reason": "no licence"},
        {"op": "move", "item_id": "b", "place": 1},
    )
    assert rendering_of(kind, "move", data) == (
        "move: goal: move the office · [✓] 1. tell the landlord · [ ] 2. pack · [!] 3. find a van (no licence)"
    )
    assert changed(kind, data, {"op": "complete", "item_id": "c"}) == data


def test_a_decision_log_tells_the_evolution_and_never_forgets() -> None:
    kind = BUILT_IN["decision_log"]
    data = changed(
        kind,
        kind.initial(),
        {
            "op": "decide",
            "question": "queue",
            "choice": "NATS",
            "reason": "small",
            "alternatives": ["RabbitMQ"],
            "item_id": "a",
        },
    )
    data = changed(kind, data, {"op": "amend", "item_id": "a", "choice": "NATS JetStream"}, at=LATER)
    data = changed(kind, data, {"op": "reverse", "item_id": "a", "reason": "we need SQL"}, at=LATER)
    assert rendering_of(kind, "stack", data) == (
        "stack: 2026-05-08 queue → NATS (because small), not RabbitMQ; amended 2026-06-01 → NATS JetStream; "
        "reversed 2026-06-01 (because we need SQL)"
    )
    assert refused(kind, data, {"op": "amend", "item_id": "a", "reason": "x"}).field == "item_id"
    assert "remove" not in kind.ops


def test_a_variable_changes_at_a_pointer_by_merge_and_by_patch() -> None:
    kind = BUILT_IN["variable"]
    data = changed(
        kind,
        kind.initial(),
        {"op": "set", "path": "/database", "value": "MariaDB"},
        {"op": "set", "path": "/cache/main", "value": "Valkey"},
        {"op": "merge", "value": {"database": "PostgreSQL", "team": ["Ida", "Bo"]}},
        {
            "op": "patch",
            "patch": [
                {"op": "test", "path": "/team/0", "value": "Ida"},
                {"op": "add", "path": "/team/-", "value": "Cy"},
            ],
        },
        {"op": "unset", "path": "/cache"},
    )
    assert data == {"database": "PostgreSQL", "team": ["Ida", "Bo", "Cy"]}
    assert rendering_of(kind, "stack", data) == "stack: database = PostgreSQL · team = Ida, Bo, Cy"
    assert changed(kind, data, {"op": "set", "value": None}) is None
    assert refused(kind, data, {"op": "unset", "path": "/nothing"}).field == "path"
    assert refused(kind, data, {"op": "set", "path": "a", "value": 1}).field == "path"
    assert refused(kind, data, {"op": "set", "path": "/database/x", "value": 1}).field == "path"
    fault = refused(kind, data, {"op": "patch", "patch": [{"op": "test", "path": "/database", "value": "x"}]})
    assert fault.field == "patch/0"
    before = copy.deepcopy(data)
    refused(
        kind,
        data,
        {"op": "patch", "patch": [{"op": "remove", "path": "/team"}, {"op": "remove", "path": "/z"}]},
    )
    assert data == before


# --- declared kinds


def test_a_pattern_takes_linear_time() -> None:
    kind = declared("code", {"type": ["string", "object"], "pattern": "^(a+)+$"})
    with pytest.raises(ReferenceInvalidError):
        validate(kind, "a" * 50_000 + "b")


# --- properties

_texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), min_size=1, max_size=12).filter(
    lambda text: bool(text.strip())
)
_ids = st.sampled_from("abcdef")
_LISTS = st.one_of(
    st.fixed_dictionaries({"op": st.just("add"), "text": _texts, "item_id": _ids}),
    st.fixed_dictionaries({"op": st.sampled_from(("mark_done", "reopen", "remove")), "item_id": _ids}),
    st.fixed_dictionaries({"op": st.just("update"), "item_id": _ids, "text": _texts}),
    st.fixed_dictionaries({"op": st.just("reorder"), "ids": st.lists(_ids, unique=True)}),
    st.just({"op": "clear"}),
)
_PLANS = st.one_of(
    st.fixed_dictionaries({"op": st.just("set_goal"), "goal": _texts}),
    st.fixed_dictionaries(
        {"op": st.just("add_step"), "text": _texts, "item_id": _ids}, optional={"place": st.integers(0, 5)}
    ),
    st.fixed_dictionaries(
        {"op": st.sampled_from(("start", "complete", "block", "skip", "remove")), "item_id": _ids}
    ),
    st.fixed_dictionaries({"op": st.just("move"), "item_id": _ids, "place": st.integers(0, 5)}),
)
_DECISIONS = st.one_of(
    st.fixed_dictionaries({"op": st.just("decide"), "question": _texts, "choice": _texts, "item_id": _ids}),
    st.fixed_dictionaries({"op": st.just("reverse"), "item_id": _ids}),
    st.fixed_dictionaries({"op": st.just("amend"), "item_id": _ids, "choice": _texts}),
)


def test_copies_of_copies_are_bounded() -> None:
    copies = [{"op": "copy", "from": "/a", "path": "/a/-"}] * 18
    fault = refused(BUILT_IN["variable"], {"a": [1]}, {"op": "patch", "patch": copies})
    assert fault.field.startswith("patch/")
    assert "bytes" in fault.reason
    data = changed(BUILT_IN["variable"], {"a": [1]}, {"op": "patch", "patch": copies[:5]})
    assert len(data["a"]) == 6


@given(
    st.one_of(
        st.tuples(st.just("todo_list"), st.lists(_LISTS, max_size=12)),
        st.tuples(st.just("plan"), st.lists(_PLANS, max_size=12)),
        st.tuples(st.just("decision_log"), st.lists(_DECISIONS, max_size=12)),
    )
)
def test_every_op_leaves_data_that_fit_and_changes_no_argument(
    case: tuple[str, list[dict[str, Any]]],
) -> None:
    kind = BUILT_IN[case[0]]
    data = kind.initial()
    for op in case[1]:
        completed = kind.complete(op, at=AT, new_id="n")
        before, kept = copy.deepcopy(data), copy.deepcopy(completed)
        try:
            after = kind.apply(data, completed)
        except ReferenceInvalidError:
            after = data
        else:
            assert kind.apply(copy.deepcopy(data), completed) == after
        assert (data, completed) == (before, kept)
        validate(kind, after)
        assert "\n" not in kind.render(after)
        data = after


@given(st.lists(_LISTS, max_size=6), st.sampled_from("uvw"), st.sampled_from("xyz"))
def test_two_additions_commute(ops: list[dict[str, Any]], one: str, other: str) -> None:
    kind = BUILT_IN["todo_list"]
    data = kind.initial()
    for op in ops:
        try:
            data = changed(kind, data, op)
        except ReferenceInvalidError:
            continue
    first, second = ({"op": "add", "text": name, "item_id": name} for name in (one, other))
    here, there = changed(kind, data, first, second), changed(kind, data, second, first)
    assert {each["id"] for each in here["items"]} == {each["id"] for each in there["items"]}
    assert kind.targets(first).isdisjoint(kind.targets(second))


LIST = BUILT_IN["todo_list"]
_OPS = st.one_of(
    st.fixed_dictionaries({"op": st.just("add"), "text": st.sampled_from(("figs", "米"))}),
    st.fixed_dictionaries(
        {
            "op": st.sampled_from(("mark_done", "reopen", "remove")),
            "item_id": st.sampled_from(("n0", "n1", "n2")),
        }
    ),
    st.just({"op": "clear"}),
)


def ids() -> Any:
    numbers = count()
    return lambda: f"n{next(numbers)}"


def done(ops: list[Any]) -> Any:
    op = batch.completed(LIST, {"op": "batch", "ops": ops}, at=AT, new_id=ids())
    return batch.applied(LIST, LIST.initial(), op)


def one_by_one(ops: list[dict[str, Any]]) -> Any:
    data, new_id = LIST.initial(), ids()
    for op in ops:
        data = LIST.apply(data, LIST.complete(op, at=AT, new_id=new_id()))
    return data


@given(st.lists(_OPS, min_size=1, max_size=8))
def test_a_batch_is_its_ops_one_after_the_other(ops: list[dict[str, Any]]) -> None:
    assert outcome(lambda: done(ops)) == outcome(lambda: one_by_one(ops))


def outcome(work: Callable[[], Any]) -> Any:
    """Returns the data, or the argument at fault without its place and the reason."""
    try:
        return work()
    except ReferenceInvalidError as error:
        return error.field.rpartition("/")[2], error.reason


@examples_and(
    ({"op": "batch", "ops": [{"op": "clear"}] * 101}, "ops"),
)
def test_the_place_of_what_does_not_fit_is_named(op: dict[str, Any], field: str) -> None:
    with pytest.raises(ReferenceInvalidError) as caught:
        batch.applied(LIST, LIST.initial(), batch.completed(LIST, op, at=AT, new_id=ids()))
    assert caught.value.field == field


def test_a_batch_changes_what_its_ops_change() -> None:
    ops = [{"op": "mark_done", "item_id": "a"}, {"op": "remove", "item_id": "b"}]
    op = batch.completed(LIST, {"op": "batch", "ops": ops}, at=AT, new_id=ids())
    assert {"a", "b"} <= batch.targets(LIST, op)


def chain(length: int, keyword: str, times: int) -> dict[str, Any]:
    defs: dict[str, Any] = {
        f"a{number}": {keyword: [{"$ref": f"#/$defs/a{number + 1}"}] * times} for number in range(length)
    }
    return {"$defs": defs | {f"a{length}": {"type": "object"}}, "$ref": "#/$defs/a0"}


@examples_and(
    chain(60, "allOf", 2),
    chain(60, "anyOf", 2),
    chain(2000, "oneOf", 1),
)
def test_a_schema_that_reads_a_member_again_and_again_is_refused(schema: Any) -> None:
    with pytest.raises(ReferenceInvalidError) as caught:
        check_cost(schema)
    assert caught.value.field == "schema"


@examples_and(
    chain(5, "allOf", 2),
)
def test_an_ordinary_schema_is_accepted(schema: Any) -> None:
    check_cost(schema)
