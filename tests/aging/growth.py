"""Chains grown part by part in a running Cardlog, every question asked after every part."""

import time
from collections.abc import Callable, Sequence

import httpx2

from tests.aging.chains import Chain
from tests.aging.scoring import CUT, Scores
from tests.support.stack import Running

_BATCH = 2000


def grow(running: Running, told: Sequence[Chain], note: Callable[[str], object]) -> Scores:
    """Push, wait until all is projected, ask; depth after depth. Fails where a turn is not projected in time."""
    depths = len(told[0].parts)
    scores = Scores(depths)
    with httpx2.Client(base_url=running.read_url, headers=running.headers, timeout=60) as client:
        for depth in range(depths):
            began = time.monotonic()
            pushed = _push(running, [entry for chain in told for entry in chain.entries(depth)])
            took = time.monotonic() - began
            for chain in told:
                for probe in chain.probes:
                    answer = client.post(
                        "/v1/recall",
                        json={
                            "user_id": chain.user_id,
                            "query": probe.question,
                            "k": CUT,
                            "as_of": chain.ends[depth].isoformat(),
                        },
                    )
                    answer.raise_for_status()
                    scores.add(chain, depth, probe, answer.json()["cards"])
            asked = time.monotonic() - began - took
            note(f"d{depth}: {pushed} turns in {took:.1f} s, asked in {asked:.1f} s")
    return scores


def _push(running: Running, entries: list[dict[str, str]]) -> int:
    with running.redis as redis:
        for start in range(0, len(entries), _BATCH):
            pipe = redis.pipeline(transaction=False)
            for entry in entries[start : start + _BATCH]:
                pipe.xadd("turns", entry)
            pipe.execute()
            running.wait()
    return len(entries)
