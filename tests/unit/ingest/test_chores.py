"""A chore of the write service is done soon after the start, and not only after its interval."""

import asyncio

import pytest

from ingest.api import chores


def test_a_chore_is_done_soon_after_the_start(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chores, "SOON_S", 0.0)

    async def first() -> int:
        done = asyncio.Event()
        loop, times = asyncio.get_running_loop(), 0

        def chore() -> None:
            nonlocal times
            times += 1
            loop.call_soon_threadsafe(done.set)

        task = asyncio.create_task(chores.keep(chores.HOUR_S, "a review", chore))
        await asyncio.wait_for(done.wait(), 60)
        task.cancel()
        return times

    assert asyncio.run(first()) == 1
