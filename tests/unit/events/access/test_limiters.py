"""Who gets a place, who waits, and who is refused."""

import asyncio

import pytest

from events.access.fair_share import ANYONE, Asker, FairShare
from events.access.limiters import ConcurrencyLimiter, SaturatedError
from tests.support.limiting import Clock, standing_line

pytestmark = pytest.mark.anyio


async def test_those_who_find_no_place_wait_and_come_in_their_order() -> None:
    room, served = ConcurrencyLimiter(2, 30.0), list[int]()
    leave = [asyncio.Event() for _ in range(4)]

    async def visit(number: int) -> None:
        async with room.place((f"tenant {number}", "key")):
            served.append(number)
            await leave[number].wait()

    async with asyncio.TaskGroup() as group:
        for number in range(4):
            group.create_task(visit(number))
        while room.waiting < 2:
            await asyncio.sleep(0)
        assert served == [0, 1]
        leave[1].set()
        while len(served) < 3:
            await asyncio.sleep(0)
        assert (served, room.waiting) == ([0, 1, 2], 1)
        for each in leave:
            each.set()
    assert (served, room.waiting) == ([0, 1, 2, 3], 0)


async def test_a_caller_who_waits_too_long_is_refused_and_takes_no_place() -> None:
    room = ConcurrencyLimiter(1, 0.01)
    async with room.place():
        with pytest.raises(SaturatedError, match="no place of 1 for recalls"):
            async with room.place():
                pass
    assert room.waiting == 0
    async with room.place():
        pass


def served_by(room: ConcurrencyLimiter, asked: list[tuple[Asker, float]]) -> list[Asker]:
    """Returns the askers in the order in which they got their places. Each gives its place back at once."""

    async def run() -> list[Asker]:
        order: list[Asker] = []
        hold = asyncio.Event()

        async def holder() -> None:
            async with room.place(("holder", "key")):
                await hold.wait()

        async def visit(asker: Asker, cost: float) -> None:
            async with room.place(asker, cost):
                order.append(asker)
                await asyncio.sleep(0)

        async with asyncio.TaskGroup() as group:
            group.create_task(holder())
            await asyncio.sleep(0)
            for asker, cost in asked:
                group.create_task(visit(asker, cost))
            while room.waiting < len(asked):
                await asyncio.sleep(0)
            hold.set()
        return order

    return asyncio.run(run())


def test_tenants_take_turns_and_so_do_their_keys() -> None:
    loud, louder, quiet = ("loud", "one"), ("loud", "two"), ("quiet", "key")
    asked = [(loud, 1.0)] * 6 + [(louder, 1.0)] * 2 + [(quiet, 1.0)] * 2
    order = served_by(ConcurrencyLimiter(1, 30.0), asked)
    assert set(order[:4:2]) | set(order[1:4:2]) == {loud, louder, quiet}
    assert order[:4].count(quiet) == 2
    assert order[:6].count(louder) == 2


def test_who_asks_dearly_gets_fewer_turns() -> None:
    dear, cheap = ("dear", "key"), ("cheap", "key")
    order = served_by(ConcurrencyLimiter(1, 30.0), [(dear, 4.0)] * 3 + [(cheap, 1.0)] * 4)
    assert order.index(cheap) <= 1
    assert order[:5].count(cheap) == 4


async def test_one_asker_leaves_places_for_others_and_only_that_asker_is_saturated(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)

    room, leave = ConcurrencyLimiter(4, 30.0, standing_s=3.0), asyncio.Event()
    saturated: dict[str, list[bool]] = {"loud": [], "quiet": []}

    async def visit(tenant: str, cost: float) -> None:
        async with room.place((tenant, "key"), cost):
            saturated[tenant].append(room.saturated)
            await leave.wait()

    async with asyncio.TaskGroup() as group:
        for _ in range(20):
            group.create_task(visit("loud", 4.0))
        while room.waiting < 19:
            await asyncio.sleep(0)
        clock.later += 2.0
        group.create_task(visit("quiet", 1.0))
        while not saturated["quiet"]:
            await asyncio.sleep(0)
        leave.set()
    assert saturated == {"loud": [False, *[True] * 19], "quiet": [False]}
    assert room.waiting == 0


async def test_a_burst_is_answered_and_who_comes_to_a_line_that_stands_is_refused_early(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)

    room = ConcurrencyLimiter(2, 100.0, standing_s=10.0)
    others = asyncio.Event()
    served: list[str] = []

    async def visit(name: str) -> None:
        await room.admit((name, "key"))
        async with room.place((name, "key")):
            served.append(name)
            await others.wait()

    async with standing_line(room, clock) as burst:
        late = asyncio.create_task(visit("burst"))
        quiet = asyncio.create_task(visit("quiet"))
        while "quiet" not in served:
            await asyncio.sleep(0)
        clock.later += 11.0
        with pytest.raises(SaturatedError, match="within 10 s"):
            await late
    others.set()
    await quiet
    assert (burst, room.waiting) == ([*range(20)], 0)
    await visit("burst")


async def test_a_line_that_is_empty_for_a_moment_still_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    room, leave = ConcurrencyLimiter(2, 100.0, standing_s=10.0), asyncio.Semaphore(0)
    served: list[int] = []

    async def visit(number: int) -> None:
        await room.admit(ANYONE)
        async with room.place():
            served.append(number)
            await leave.acquire()

    async with asyncio.TaskGroup() as group:
        for number in range(2):
            group.create_task(visit(number))
        while not room.waiting:
            await asyncio.sleep(0)
        clock.later += 11.0
        leave.release()
        while len(served) < 2:
            await asyncio.sleep(0)
        for number in range(2, 9):
            group.create_task(visit(number))
        while room.waiting < 7:
            await asyncio.sleep(0)
        late = asyncio.create_task(visit(9))
        await asyncio.sleep(0)
        clock.later += 11.0
        with pytest.raises(SaturatedError, match="within 10 s"):
            await late
        for _ in range(10):
            leave.release()
    assert served == [*range(9)]


async def test_slow_answers_of_before_refuse_nobody_who_comes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock(monkeypatch)

    room, leave = ConcurrencyLimiter(2, 1000.0, standing_s=10.0), asyncio.Semaphore(0)

    async def visit() -> None:
        await room.admit(ANYONE)
        async with room.place():
            await leave.acquire()

    async with asyncio.TaskGroup() as group:
        for _ in range(12):
            group.create_task(visit())
        while room.waiting < 11:
            await asyncio.sleep(0)
        for left in reversed(range(11)):
            clock.later += 40.0
            leave.release()
            while room.waiting > left:
                await asyncio.sleep(0)
        leave.release()
    leave.release()
    await asyncio.wait_for(visit(), 60)


def test_the_lines_of_one_asker_get_turns_one_after_the_other() -> None:
    async def run() -> list[str]:
        room, hold, order = ConcurrencyLimiter(1, 30.0), asyncio.Event(), list[str]()

        async def visit(line: str) -> None:
            async with room.place(("tenant", "key"), line=line):
                order.append(line)
                await hold.wait()

        async with asyncio.TaskGroup() as group:
            for line in ("first", *["long"] * 6, "short", "short"):
                group.create_task(visit(line))
            while room.waiting < 8:
                await asyncio.sleep(0)
            hold.set()
        return order

    assert asyncio.run(run()) == ["first", "long", "short", "long", "short", *["long"] * 4]


async def test_what_a_request_waited_for_one_place_counts_for_the_next(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    clock = Clock(monkeypatch)

    outer, inner, refused = ConcurrencyLimiter(1, 600.0), ConcurrencyLimiter(1, 200.0), asyncio.Event()

    async def visit() -> None:
        async with outer.place():
            try:
                async with inner.place():
                    pass
            except SaturatedError:
                refused.set()

    async with inner.place():
        async with outer.place():
            visitor = asyncio.create_task(visit())
            while not outer.waiting:
                await asyncio.sleep(0)
            clock.later = 300.0
        for _ in range(100):
            await asyncio.sleep(0)
        assert refused.is_set()
    await visitor


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
