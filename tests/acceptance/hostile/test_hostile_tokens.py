"""A wait for a token covers every table that answers. An invented token is refused, and many waits harm nobody."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from typing import Any

import httpx2
import psycopg
import pytest

from events.http.tokens import Sealer
from tests.acceptance.conftest import LONG
from tests.support.connections import serving
from tests.support.stack import Running
from tests.support.tables import examples_and
from tests.support.waiting import eventually
from tests.support.web import WEB


@pytest.fixture
def sealer(stack: Running) -> Sealer:
    """Makes genuine tokens for turns that never come."""
    with psycopg.connect(stack.admin_database_url) as connection:
        row = connection.execute("SELECT key FROM log.token_key").fetchone()
    assert row is not None
    return Sealer(row[0])


def push(stack: Running, user: str, text: str) -> str:
    return str(stack.push({"user_id": user, "text": text})["token"])


def ask(
    stack: Running, user: str, token: str, query: str = "What do you know about me?", url: str = ""
) -> httpx2.Response:
    body = {"user_id": user, "query": query, "wait_for": token}
    return WEB.post(f"{url or stack.read_url}/v1/recall", headers=stack.headers, json=body)


def test_what_was_just_pushed_is_found_by_its_meaning(stack: Running) -> None:
    # Another test may have stopped Redis a moment ago.
    eventually(lambda: not ask(stack, "warm", push(stack, "warm", "I like tea.")).json()["warnings"])
    users = count()

    def found() -> bool:
        user = f"alex {next(users)}"
        answer = ask(stack, user, push(stack, user, "Hi, I'm Alex. I love basketball and gaming."))
        if (
            answer.status_code == 503 or answer.json()["warnings"]
        ):  # a busy machine may be late, and reports it
            return False
        document = answer.json()
        assert {"Likes basketball", "Likes gaming"} <= {
            each["content"] for card in document["cards"] for each in (card, *card["beside"])
        }
        return bool(document["channels"]["semantic"]["hits"] >= 2)

    eventually(found)


def invented(genuine: str) -> list[str]:
    unsigned = base64.urlsafe_b64encode(json.dumps({"mallory": "no such turn"}).encode()).decode()
    data = bytearray(base64.urlsafe_b64decode(genuine + "=" * (-len(genuine) % 4)))
    changed = []
    for place in (0, 15, 16, len(data) - 2):
        other = bytearray(data)
        other[place] ^= 1
        changed.append(base64.urlsafe_b64encode(other).decode().rstrip("="))
    foreign = Sealer(b"another key").seal({"mallory": "no such turn"})
    return ["", "x", "=", "====", "é", "\u0000", "a" * 10_000, unsigned, foreign, *changed, genuine + "AAAA"]


def test_an_invented_token_is_refused_everywhere(stack: Running) -> None:
    genuine = push(stack, "mallory", "I live in Porto.")
    for token in invented(genuine):
        refused = ask(stack, "mallory", token)
        assert (refused.status_code, refused.json()["field"]) == (422, "wait_for"), token
        for path in ("cards", "arbitrations", "cards/aggregate"):
            asked = {
                "user_id": "mallory",
                "wait_for": token,
                **({"group_by": "kind"} if "agg" in path else {}),
            }
            refused = WEB.get(f"{stack.read_url}/v1/{path}", headers=stack.headers, params=asked)
            assert (refused.status_code, refused.json()["field"]) == (422, "wait_for"), token
    assert ask(stack, "mallory", genuine).status_code == 200


@examples_and(
    f"SELECT log.key_of_tokens('/tokens {'0' * 64}')",
)
def test_only_a_holder_of_the_log_key_reads_the_key_of_tokens_and_nobody_changes_it(
    stack: Running, statement: str
) -> None:
    token = push(stack, "key", "I live in Porto.")
    with (
        psycopg.connect(stack.database_url) as connection,
        pytest.raises(psycopg.errors.InsufficientPrivilege),
    ):
        connection.execute(statement.encode())
    assert ask(stack, "key", token).status_code == 200


def test_a_token_names_nobody_and_is_valid_only_for_its_user(stack: Running) -> None:
    token = push(stack, "a very private name", "I live in Porto.")
    assert b"private" not in base64.urlsafe_b64decode(token + "=" * (-len(token) % 4))
    # The recall waits for nothing and reveals nothing.
    assert ask(stack, "somebody else", token).status_code == 200


def test_turns_never_recorded_are_waited_for_and_too_many_waits_are_refused(
    stack: Running, sealer: Sealer
) -> None:
    push(stack, "honest", "My dog is called Rex.")
    push(stack, "mallory", "I live in Porto.")
    stack.wait()  # the extractor has a checkpoint in the partition of mallory, and the turn has no position

    def warnings(answer: httpx2.Response) -> list[str]:
        assert answer.status_code in (200, 503), answer.text  # 503: more recalls than there is room for
        found: dict[str, Any] = answer.json()
        return [text for text in found.get("warnings", []) if text.startswith("wait_for")]

    never = sealer.seal({"mallory": "no such turn"})
    hasty = LONG | {"CARDLOG_WAIT_FOR_MS": "10000"}
    with (
        serving("read", stack.redis_url, **stack.servers, **hasty) as url,
        ThreadPoolExecutor(41) as pool,
    ):
        crowd = [pool.submit(ask, stack, "mallory", never, url=url) for _ in range(40)]
        honest = pool.submit(ask, stack, "honest", push(stack, "honest", "I like tea."), url=url)
        told = [text for each in crowd for text in warnings(each.result())]
    waited = [text for text in told if "not yet projected" in text]
    refused = [text for text in told if "not waited for" in text]
    assert waited, told
    assert refused, told
    assert len(waited) <= 40 - len(refused)
    # One user does not take the places of other users.
    assert not [text for text in warnings(honest.result()) if "not waited for" in text]
