"""The concurrency limiter admits a fixed number of callers and lets the others wait in order."""

from __future__ import annotations

import asyncio

import pytest

from events.access.concurrency_limiter import ConcurrencyLimiter, SaturatedError


def test_those_who_find_no_place_wait_and_come_in_their_order() -> None:
    async def run() -> None:
        room, served = ConcurrencyLimiter(2, 30.0), list[int]()
        leave = [asyncio.Event() for _ in range(4)]

        async def visit(number: int) -> None:
            async with room.place():
                served.append(number)
                await leave[number].wait()

        async with asyncio.TaskGroup() as group:
            for number in range(4):
                group.create_task(visit(number))
            while room.waiting < 2:
                await asyncio.sleep(0)
            assert (served, room.saturated) == ([0, 1], True)
            leave[1].set()
            while len(served) < 3:
                await asyncio.sleep(0)
            assert (served, room.waiting, room.saturated) == ([0, 1, 2], 1, False)
            for each in leave:
                each.set()
        assert (served, room.waiting) == ([0, 1, 2, 3], 0)

    asyncio.run(run())


def test_a_caller_who_waits_too_long_is_refused_and_takes_no_place() -> None:
    async def run() -> None:
        room = ConcurrencyLimiter(1, 0.01)
        async with room.place():
            with pytest.raises(SaturatedError, match="one of 1 places"):
                async with room.place():
                    pass
        assert room.waiting == 0
        async with room.place():
            pass

    asyncio.run(run())
