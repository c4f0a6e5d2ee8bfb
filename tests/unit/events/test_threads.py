"""The fold of threads: a thread only grows, and its last event decides whether it is open."""

from dataclasses import replace
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from events.threads import fold, in_order
from events.types.envelope import Event
from events.types.threads import CardsThreaded, ThreadClosed, ThreadOpened, ThreadRenamed
from tests.support.projectors.statements import event

OPENED = event(ThreadOpened(title="the move", project_id="default"), 1)
THREAD = OPENED.event_id
CARDS = st.lists(st.integers(1, 9).map(lambda number: UUID(int=number)), min_size=1, max_size=4).map(tuple)
IDS = st.sampled_from([THREAD, UUID(int=99)])  # the second one was never opened, or its opening was erased
CHANGES = st.one_of(
    st.builds(CardsThreaded, thread_id=IDS, card_ids=CARDS, reason=st.just("alike")),
    st.builds(ThreadRenamed, thread_id=IDS, title=st.sampled_from(["one", "two"])),
    st.builds(ThreadClosed, thread_id=IDS),
    st.builds(ThreadOpened, title=st.just("again"), project_id=st.just("default"), thread_id=IDS),
)


def log_of(changes: list[object]) -> list[Event]:
    later = [
        replace(event(payload, 2 + place, position=2 + place), version=2 + place)
        for place, payload in enumerate(changes)
    ]
    return [OPENED, *later]


@given(st.lists(CHANGES, max_size=12))
def test_a_thread_has_every_card_that_was_added_and_the_last_title_and_status(changes: list[object]) -> None:
    own = [each for each in changes if each.thread_id == THREAD]  # type: ignore[attr-defined]
    [thread] = fold(log_of(changes)).values()
    added = [card for each in own if isinstance(each, CardsThreaded) for card in each.card_ids]
    assert sorted(thread.cards) == sorted(set(added))
    titles = [each.title for each in own if isinstance(each, ThreadRenamed)]
    assert thread.title == ([*titles] or ["the move"])[-1]
    turns = [isinstance(each, ThreadOpened) for each in own if isinstance(each, ThreadOpened | ThreadClosed)]
    assert (thread.status == "open") == ([True, *turns][-1])


@given(st.lists(CHANGES, max_size=12), st.integers(0, 12))
def test_a_card_keeps_the_reason_of_the_event_that_added_it_first(changes: list[object], at: int) -> None:
    before = fold(log_of(changes[:at]))[THREAD].cards
    after = fold(log_of(changes))[THREAD].cards
    assert before.items() <= after.items()


def test_open_threads_come_first_and_then_the_last_changed() -> None:
    others = [
        event(ThreadOpened(title=title, project_id="default"), 2, position=at)
        for at, title in ((2, "a"), (3, "b"))
    ]
    closed = event(ThreadClosed(thread_id=others[1].event_id), 3, position=4)
    found = in_order(fold([OPENED, *others, closed]).values())
    assert [each.title for each in found] == ["a", "the move", "b"]
