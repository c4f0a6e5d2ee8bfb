"""Nobody can hold all places."""

from events.access.fair_share import Asker, FairShare


def taken(share: FairShare, asker: Asker) -> int:
    """Takes all places that the asker can have. Returns their number."""
    before = share.held(asker)
    while share.admits(asker):
        share.take(asker)
    return share.held(asker) - before


def test_one_key_gets_a_third_and_one_tenant_half() -> None:
    share = FairShare(90)
    assert taken(share, ("acme", "one")) == 30
    assert taken(share, ("acme", "two")) + taken(share, ("acme", "three")) <= 15
    assert share.free >= 45


def test_whoever_comes_later_finds_places_that_come_back() -> None:
    share = FairShare(90)
    for number in range(3):
        taken(share, (f"tenant {number}", "key"))
    assert share.admits(("another", "key"))
    for number in range(3):
        asker = (f"tenant {number}", "key")
        share.give_back(asker, share.held(asker))
    assert share.free == 90


def test_the_only_place_is_anybodys() -> None:
    share = FairShare(1)
    assert taken(share, ("acme", "one")) == 1
    assert not share.admits(("other", "key"))
