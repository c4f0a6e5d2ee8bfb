"""The document of an instant is what was said last until then, in whatever order the words arrived."""

from collections.abc import Sequence
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from events.core.cards import Statements
from events.core.fold import CoreFold
from events.core.past import past_of
from events.core.state import CoreState
from events.types.core import CorePatched
from events.types.envelope import Event
from projectors.core.card_feed import StateFeed
from tests.support.projectors.statements import day, event, said, skill

FEED = StateFeed()
APART = 40
"""Days between two words, so that no change is contested."""


def patched(value: str, on: float) -> Event:
    op = {"op": "add", "path": "/profile/residence", "value": value}
    return event(CorePatched(patch=(op,), guards=(), by="user"), on)


def residence(state: CoreState) -> str | None:
    found: str | None = state.document["profile"].get("residence")
    return found


def in_log(arrived: Sequence[Event], recorded: Sequence[float]) -> list[Event]:
    """Returns the events at the end of each other, with the days on which the log got them."""
    return [
        replace(each, position=place, recorded_at=day(on))
        for place, (each, on) in enumerate(zip(arrived, recorded, strict=True), 1)
    ]


@st.composite
def words(draw: st.DrawFn) -> tuple[list[Event], list[tuple[float, float, str]]]:
    """Returns a log, and (valid from, recorded, value) of every event. A patch arrives when it is made."""
    kinds = draw(st.lists(st.sampled_from(["card", "card", "patch"]), min_size=2, max_size=6))
    said_on = [float(APART * number) for number in range(len(kinds))]
    late = [0.0 if kind == "patch" else draw(st.sampled_from([0.0, 1.0, 90.0, 900.0])) for kind in kinds]
    made = [
        (on + delay, on, f"place {number}", kind)
        for number, (kind, on, delay) in enumerate(zip(kinds, said_on, late, strict=True))
    ]
    made.sort()
    events = [
        patched(value, on) if kind == "patch" else said(value, on, announced=True, confidence=1.0)
        for _, on, value, kind in made
    ]
    log = in_log(events, [recorded for recorded, *_ in made])
    return log, [(on, recorded, value) for recorded, on, value, _ in made]


@given(words(), st.integers(-1, 30), st.integers(-1, 60))
def test_the_last_word_until_an_instant_holds(
    case: tuple[list[Event], list[tuple[float, float, str]]], as_of: int, known_at: int
) -> None:
    log, told = case
    instant, known = as_of * 10.0, known_at * 20.0
    seen = [each for each in log if each.recorded_at <= day(known)]
    due = [(on, value) for on, recorded, value in told if recorded <= known and on <= instant]
    past = past_of(seen, FEED, day(instant))
    assert residence(past.state) == (max(due)[1] if due else None)
    versions = [change.version for change in past.changes.values()]
    assert past.state.version == max(versions, default=0)


@given(words())
def test_the_last_word_holds_now_and_the_clock_of_the_log_never_runs_backwards(
    case: tuple[list[Event], list[tuple[float, float, str]]],
) -> None:
    log, told = case
    fold = CoreFold(CoreState(), Statements(FEED), FEED)
    updated = []
    for each in log:
        fold.take(each)
        updated.append(fold.state.updated_at or day(-1))
    assert residence(fold.state) == max((on, value) for on, _, value in told)[1]
    assert updated == sorted(updated)


def test_a_list_has_the_order_of_the_words_whatever_arrived_first() -> None:
    words = [skill("weaving", 0), skill("sailing", APART)]
    first, late = (
        past_of(in_log(arrived, [100, 101]), FEED, day(200)).state.whole() for arrived in (words, words[::-1])
    )
    assert late | {"_meta": first["_meta"]} == first
