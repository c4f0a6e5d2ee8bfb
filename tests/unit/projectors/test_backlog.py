"""The operator sees how many cards wait for their vector, and for how long."""

from projectors.backlog import Backlog


def test_a_backlog_that_grows_is_never_done_and_one_that_shrinks_is_at_its_rate() -> None:
    backlog = Backlog()
    assert backlog.count(1000, 30.0, 0.0) == "behind: 1,000 cards without a vector, the oldest for 30 s"
    assert backlog.count(1600, 90.0, 10.0) == (
        "falling behind: 1,600 cards without a vector, the oldest for 2 minutes, at this rate never embedded"
    )
    # Only the last minute counts.
    for second in (40.0, 70.0, 100.0):
        backlog.count(1600, 90.0, second)
    assert backlog.count(1000, 90.0, 130.0) == (
        "catching up: 1,000 cards without a vector, the oldest for 2 minutes, at this rate embedded in 2 minutes"
    )
    assert backlog.count(0, None, 140.0) is None
    assert backlog.count(10, 1.0, 141.0) == "behind: 10 cards without a vector, the oldest for 1 s"


def test_cards_are_counted_now_and_then() -> None:
    backlog = Backlog()
    assert backlog.due(0.0)
    backlog.count(0, None, 0.0)
    assert not backlog.due(4.9)
    assert backlog.due(5.0)
