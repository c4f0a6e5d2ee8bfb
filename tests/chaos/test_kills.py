"""kill -9 in the middle of the work: nothing is lost and nothing counts twice."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path

import pytest

from events.platform.database import connect
from tests.support.stack import Running, start, stop

TURNS = 2000
CITIES = ("Lisbon", "Porto", "Oslo", "Cairo")


@pytest.mark.timeout(280)
def test_every_turn_is_in_the_log_once_and_every_card_once(tmp_path: Path) -> None:
    running = start(tmp_path / "data")
    try:
        victims = itertools.cycle(("recorder", "extractor", "projector", "postgres"))
        for number in range(TURNS):
            running.redis.xadd(
                "turns",
                {
                    "user_id": f"u{number % 20}",
                    "turn_id": str(number),
                    "text": f"I bought item number {number} yesterday.",
                },
            )
            if number % 250 == 125:
                running.kill(next(victims))
        running.wait()
        _check(running)
        assert running.command("log", "verify").returncode == 0
    finally:
        assert stop(running) == 0


def _check(running: Running) -> None:
    with connect(running.admin_database_url, application="test") as connection:
        recorded = [
            row[0]
            for row in connection.execute(
                "SELECT substr(dedupe_key, 6) FROM log.events WHERE type = 'TurnRecorded'"
            )
        ]
        assert sorted(map(int, recorded)) == list(range(TURNS))
        # The expectation comes from what was pushed: one episode a turn, in the words of the turn.
        episodes = Counter(
            row[0] for row in connection.execute("SELECT content FROM cards.event_cards WHERE episode")
        )
        assert episodes == Counter(f"I bought item number {number} yesterday." for number in range(TURNS))
        doubled = connection.execute(
            "SELECT count(*) - count(DISTINCT turn_ids) FROM cards.event_cards WHERE episode"
        ).fetchone()
        assert doubled == (0,)
