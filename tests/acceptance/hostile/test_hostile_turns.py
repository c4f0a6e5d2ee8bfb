"""Hostile turns against a running Cardlog harm only their sender."""

from typing import Any

import httpx2
import pytest

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


@pytest.mark.parametrize("offset", ["+14:01", "-16:00"])
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
