"""The op ``batch``: several ops in order are one change, and the place of a bad op is named."""

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from events.references.kinds import batch
from events.references.kinds.kind import ReferenceInvalidError
from events.references.kinds.registry import BUILT_IN
from tests.support.tables import examples_and

AT = "2026-05-08T16:44:10+08:00"
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
