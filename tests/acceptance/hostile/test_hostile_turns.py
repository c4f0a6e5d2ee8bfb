"""Hostile turns against a running Cardlog harm only their sender."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import httpx2
import pytest
from redis import Redis, ResponseError

from events.types.turn_contract import entry_time
from tests.support import poison
from tests.support.stack import Running
from tests.support.streams import entries
from tests.support.waiting import eventually
from tests.support.web import WEB


def push(stack: Running, **turn: Any) -> httpx2.Response:
    return WEB.post(
        f"{stack.write_url}/v1/turns",
        headers=stack.headers,
        json={"user_id": "m", "text": "x", **turn},
        timeout=30,
    )


def knows(stack: Running, user: str, city: str) -> bool:
    cards = stack.recall(user, "Where do I live?")["cards"]
    return any(card["value"] == city and not card["pending"] for card in cards)


@pytest.mark.parametrize(
    "offset", ["+16:00", "-16:00", "+15:59:59", "+14:01", "-14:01", "+08:00:30", "+23:59"]
)
def test_an_offset_no_place_has_is_refused_over_http_and_buried_from_the_stream(
    stack: Running, offset: str
) -> None:
    said_at = f"2026-05-08T10:00:00{offset}"
    refused = push(stack, said_at=said_at)
    assert refused.status_code == 422, refused.text
    assert refused.json()["field"] == "said_at"
    with stack.redis as redis:
        buried = redis.xadd("turns", {"user_id": "m", "text": "x", "said_at": said_at})
        redis.xadd("turns", {"user_id": f"honest {offset}", "text": "I live in Lisbon."})
        letter = eventually(
            lambda: next((f for f in entries(redis, "turns:dead") if f["entry_id"] == buried), None)
        )
    assert letter["field"] == "said_at"
    eventually(lambda: knows(stack, f"honest {offset}", "Lisbon"))


@pytest.mark.parametrize("ahead", [timedelta(days=1, minutes=5), timedelta(days=40_000)])
def test_what_is_said_more_than_a_day_ahead_is_refused(stack: Running, ahead: timedelta) -> None:
    refused = push(stack, said_at=(datetime.now(UTC) + ahead).isoformat())
    assert (refused.status_code, refused.json()["field"]) == (422, "said_at")
    assert "more than a day ahead" in refused.text


@pytest.mark.timeout(200)
def test_three_hundred_poison_turns_hold_up_nobody(stack: Running) -> None:
    cities = ("Lisbon", "Porto", "Oslo", "Cairo", "Lima", "Quito")
    poisoned = poison.collected(poison.ENTRIES, 300)
    with Redis.from_url(stack.redis_url) as redis:
        for number, entry in enumerate(poisoned):
            if number % 50 == 0:
                text = f"I live in {cities[number // 50]}."
                redis.xadd("turns", {"user_id": f"among poison {number // 50}", "text": text})
            redis.xadd("turns", entry)
    stack.wait()
    for number, city in enumerate(cities):
        eventually(partial(knows, stack, f"among poison {number}", city))


def test_projects_are_isolated_under_every_name(stack: Running) -> None:
    for project, session, text in (
        ("a", "b/c", "I live in Kaoshiung."),
        ("a/b", "c", "Typo, I meant Kaohsiung."),
    ):
        assert push(stack, user_id="walls", project_id=project, session_id=session, text=text).is_success
    stack.wait()
    shown = stack.command("log", "show", "--user", "walls", "--type", "TurnRecorded", "--json")
    streams = {line.split('"stream":')[1].split('"')[1] for line in shown.stdout.splitlines()}
    assert streams == {"session/a/b%2Fc", "session/a%2Fb/c"}
    cards = stack.recall("walls", "Where do I live?", project_id="a")["cards"]
    assert "Kaoshiung" in [card["value"] for card in cards], "a correction in one project is none in another"


@pytest.mark.parametrize("far", ["9999999999999-0", f"{2**64 - 1}-{2**64 - 1}"])
def test_an_id_far_ahead_is_no_date_and_pushing_works_again(stack: Running, far: str) -> None:
    user = f"far {far}"
    with stack.redis as redis:
        redis.xadd("turns", {"user_id": user, "text": "I live in Oslo."}, id=far)
        pushed = eventually(lambda: (answer := push(stack, user_id=user)).status_code == 202 and answer)
        assert pushed

        def dated() -> bool:
            try:
                entry = str(redis.xadd("turns", {"user_id": user, "text": "I work at Acme."}))
            except ResponseError:
                return False
            return abs(entry_time(entry) - datetime.now(UTC)) < timedelta(hours=1)

        eventually(dated)
    stack.wait()
    answer = stack.recall(user, "Where do I live?")
    [card] = [card for card in answer["cards"] if card["value"] == "Oslo"]
    assert abs(datetime.fromisoformat(card["effective_at"]) - datetime.now(UTC)) < timedelta(hours=1)
