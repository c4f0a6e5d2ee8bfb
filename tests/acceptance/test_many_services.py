"""Two processes of each service run at the same time and give the same answers."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import httpx2
import pytest

from tests.acceptance.conftest import LONG
from tests.support.connections import serving
from tests.support.stack import Running
from tests.support.waiting import eventually
from tests.support.web import WEB


@pytest.fixture(scope="module")
def services(stack: Running) -> Iterator[dict[str, list[str]]]:
    """The stack's own services, and a second of each kind beside them."""
    with (
        serving("write", stack.redis_url, **stack.servers) as write,
        serving("read", stack.redis_url, **stack.servers, **LONG) as read,
    ):
        yield {"write": [stack.write_url, write], "read": [stack.read_url, read]}


USER = "of two services"
SAID = ["I live in Porto.", "I work at Acme.", "I have a dog named Rex.", "I am allergic to peanuts."]


def accepted(url: str, turn: dict[str, str]) -> httpx2.Response | None:
    """Returns the answer to a push, or None while the service reports overload. The turn id makes a repeat harmless."""
    answer = WEB.post(f"{url}/v1/turns", json=turn)
    assert answer.status_code in (202, 503), answer.text
    return answer if answer.status_code == 202 else None


@pytest.fixture(scope="module")
def tokens(stack: Running, services: dict[str, list[str]]) -> list[str]:
    """Returns the turns, pushed through the two write services alternately and projected."""
    found = []
    for number, text in enumerate(SAID):
        turn = {
            "user_id": USER, "text": text, "turn_id": f"t{number}", "said_at": f"2026-01-0{number + 1}T10:00:00Z",
        }  # fmt: skip
        answer = eventually(partial(accepted, services["write"][number % 2], turn))
        found.append(answer.json()["token"])
    stack.wait()
    return found


def test_turns_pushed_through_either_are_answered_by_both(
    services: dict[str, list[str]], tokens: list[str]
) -> None:
    for token in tokens:
        for url in services["read"]:
            asked = {"user_id": USER, "query": "dog", "wait_for": token}
            answer = WEB.post(f"{url}/v1/recall", json=asked).json()
            assert not [text for text in answer["warnings"] if "wait_for" in text]
    for url in services["write"]:
        # Both services know the turn, whichever took it, and it counts once.
        turn = {"user_id": USER, "text": SAID[0], "turn_id": "t0"}
        assert WEB.post(f"{url}/v1/turns", json=turn).json()["duplicates"] == ["t0"]
    for query in ("where do I live?", "where do I work?", "what is my dog called?", "what am I allergic to?"):
        first, second = (_cards(url, query) for url in services["read"])
        assert first
        assert first == second
    one, other = (_page(url, limit=100) for url in services["read"])
    assert len(one["cards"]) > len(SAID)
    assert one == other


def test_a_page_begun_with_one_service_continues_with_the_other(
    services: dict[str, list[str]], tokens: list[str]
) -> None:
    whole = _page(services["read"][0], limit=100, wait_for=tokens[-1])["cards"]
    found: list[str] = []
    query: dict[str, Any] = {"limit": 1}
    while True:
        page = _page(services["read"][len(found) % 2], **query)
        found += [card["card_id"] for card in page["cards"]]
        if page["next_cursor"] is None:
            break
        query["cursor"] = page["next_cursor"]
    assert len(found) > len(SAID)
    assert found == [card["card_id"] for card in whole]


def _page(url: str, **query: Any) -> dict[str, Any]:
    answer = WEB.get(f"{url}/v1/cards", params={"user_id": USER} | query)
    assert answer.status_code == 200, answer.text
    page: dict[str, Any] = answer.json()
    return page


def _cards(url: str, query: str) -> list[dict[str, Any]]:
    """Returns the answer as of one instant, so that no card ages. Asks again when a channel was late."""
    asked = {"user_id": USER, "query": query, "as_of": "2026-02-01T00:00:00Z"}

    def look() -> dict[str, Any] | None:
        answer = WEB.post(f"{url}/v1/recall", json=asked)
        assert answer.status_code == 200, answer.text
        document: dict[str, Any] = answer.json()
        in_time = all(channel["status"] in ("ok", "down") for channel in document["channels"].values())
        return document if in_time else None

    found: list[dict[str, Any]] = eventually(look)["cards"]
    return found
