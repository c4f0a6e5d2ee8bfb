"""A generated year of chat in two languages, imported twice and curated three times.

CARDLOG_BENCH_TURNS (5,000) turns of one user about three contacts. Prints what the curator added, its speed (with the
waits for the tables), and the calls and tokens of a model per 1,000 turns. Fails unless the second import adds nothing,
the second and the third run add nothing, and the tables are those of a rebuild. Goal: 50 turns/s.
"""

import os
import random
import time
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.bench.support.stack import measured_stack
from tests.support.ingest.curating import said
from tests.support.person import Person
from tests.support.stack import WITHOUT_MODEL, Running
from tests.support.web import WEB

TURNS = int(os.environ.get("CARDLOG_BENCH_TURNS", "5000"))
_BATCH = 500
_BEGAN = datetime(2025, 1, 1, 8, tzinfo=UTC)
_GOAL = 50.0


def tell(running: Running, user: str) -> None:
    chosen = random.Random(5)
    turns: list[dict[str, Any]] = [
        {
            "user_id": user, "turn_id": f"t{number}", "text": said(chosen), "session_id": f"s{number // 20}",
            "said_at": (_BEGAN + timedelta(minutes=number * 525_600 // TURNS)).isoformat(), "timezone": "UTC",
        }
        for number in range(TURNS)
    ]  # fmt: skip
    for begin in range(0, TURNS, _BATCH):
        running.push(*turns[begin : begin + _BATCH])
    running.wait()


def curate(person: Person) -> int:
    """Runs the curator until it adds nothing. Returns how much it added."""
    added = 0
    while True:
        url, body = f"{person.stack.write_url}/v1/curator/runs", {"user_id": person.user}
        answer = WEB.post(url, json=body, headers=person.stack.headers, timeout=120)
        assert answer.status_code == 200, answer.text
        acts = answer.json()["acts"]
        if not acts:
            return added
        added += len(acts)
        person.stack.wait()


def main() -> None:
    with measured_stack(**WITHOUT_MODEL) as running:
        person = Person(running, "year")
        tell(running, person.user)
        began = time.monotonic()
        added = curate(person)
        speed = TURNS / (time.monotonic() - began)
        first = running.command("digest", "--json").stdout
        assert "cards" in first
        tell(running, person.user)
        assert running.command("digest", "--json").stdout == first, "the second import changed the tables"
        assert [curate(person), curate(person)] == [0, 0], "a further run added something"
        assert running.command("digest", "--json").stdout == first
        rebuilt = running.command("rebuild", "cards", "--verify")
        assert rebuilt.returncode == 0, rebuilt.stdout + rebuilt.stderr
        runs = person.read("curator/runs", limit=500)["runs"]
        calls, tokens = sum(run["model"] is not None for run in runs), sum(run["tokens"] for run in runs)
        print(f"{TURNS} turns: {added} acts in {len(runs)} runs, {speed:.0f} turns/s")
        print(f"per 1,000 turns: {calls * 1_000 / TURNS:.1f} calls, {tokens * 1_000 / TURNS:.0f} tokens")
        kinds: dict[str, int] = {}
        for run in runs:
            for act in run["acts"]:
                kinds[act["predicate"] or act["act"]] = kinds.get(act["predicate"] or act["act"], 0) + 1
        print(", ".join(f"{kind} {count}" for kind, count in sorted(kinds.items())))
        assert speed >= _GOAL, f"slower than {_GOAL:.0f} turns/s"


if __name__ == "__main__":
    main()
