"""The tables are the same in every column for any order of arrival and any size of batches."""

import random

from hypothesis import example, given
from hypothesis import strategies as st

from tests.support.projectors.histories import cut, history, shuffled
from tests.support.projectors.tables import tables_of


@given(st.integers(0, 2**32), st.integers(1, 24))
def test_tables_do_not_depend_on_arrival_or_batches(seed: int, length: int) -> None:
    events = history(seed, length)
    choose = random.Random(seed + 1)
    at_once = tables_of(events).rows
    live = tables_of(*cut(shuffled(events, choose), choose)).rows
    for table, rows in at_once.items():
        assert live[table] == rows, table


@given(st.integers(0, 2**32), st.integers(1, 40))
# Told later: that the old was over before the contested began.
@example(2639392749, 29)
@example(3588856645, 24)
@example(1986443351, 36)
# Said within a stretch of time, and over with it.
@example(2149164743, 23)
@example(4036552616, 38)
def test_while_a_conflict_is_open_the_old_is_current_and_the_new_never_was(seed: int, length: int) -> None:
    tables = tables_of(history(seed, length))
    for row in tables.arbitrations.values():
        old, new = (tables.cards["u", "state", side] for side in (row.old_card, row.new_card))
        if row.status == "open":
            assert (old.contested, old.retracted, old.ended) == (False, False, False)
            assert old.effective_at is not None
            assert new.effective_at is not None
            assert old.effective_at <= new.effective_at
            assert old.superseded_at is None or old.superseded_at > new.effective_at
        if row.status in ("open", "keep_old"):
            assert new.contested
            assert new.superseded_at == new.effective_at
        if row.status in ("accept_new", "coexist"):
            assert not new.contested
