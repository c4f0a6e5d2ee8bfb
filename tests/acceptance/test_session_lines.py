"""Lists in the saved states of sessions come back exactly, also when several writers meet."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from uuid import uuid4

import pytest

from cardlog_client import Client
from cardlog_client.session_lines import SessionLines, texts_of
from tests.support.stack import Running

AWKWARD: list[Any] = [
    {"text": "日記 🌧"}, "\0 nul",
    "\ud800 alone", '"\\u0000"', "\x01", None, [], "\r\n\u2028", 'q"' * 9000, "long" * 30_000, 7,
]  # fmt: skip


@pytest.fixture(scope="module")
def client(stack: Running) -> Iterator[Client]:
    with Client(stack.write_url, stack.read_url, api_key=stack.key) as opened:
        yield opened


@pytest.fixture
def lines(client: Client) -> SessionLines:
    return SessionLines(client, f"lines-{uuid4().hex}")


def test_items_come_back_in_their_order_from_many_pages_and_the_last_ones_alone(lines: SessionLines) -> None:
    for start in range(0, len(AWKWARD), 2):
        lines.append("a/b", AWKWARD[start : start + 2])
    lines.append("a", ["another list"])
    assert lines.items("a/b") == AWKWARD
    assert [lines.items("a/b", last) for last in (0, 1, 3, 99)] == [[], AWKWARD[-1:], AWKWARD[-3:], AWKWARD]
    assert lines.items("a") == ["another list"]


def test_items_are_popped_from_the_end_until_there_is_none(lines: SessionLines) -> None:
    lines.append("s", AWKWARD)
    assert [lines.pop("s") for _ in AWKWARD] == AWKWARD[::-1]
    assert (lines.pop("s"), lines.items("s"), lines.changed("s")) == (None, [], None)
    lines.append("s", ["again"])
    lines.clear("s")
    lines.append("s", ["and again"])
    assert lines.items("s") == ["and again"]


def test_writers_that_meet_lose_nothing(client: Client) -> None:
    user = f"lines-{uuid4().hex}"
    writers = [SessionLines(client, user) for _ in range(4)]

    def write(at: int) -> None:
        for step in (0, 1):
            writers[at].append("s", [[at, step]])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    items: list[Any] = writers[0].items("s")
    assert sorted(items) == [[at, step] for at in range(4) for step in (0, 1)]
    assert all(items.index([at, 0]) < items.index([at, 1]) for at in range(4))


def test_the_erasure_of_a_turn_takes_the_lists_of_its_session_and_a_new_list_can_begin(
    stack: Running, client: Client
) -> None:
    user = f"lines-{uuid4().hex}"
    lines = SessionLines(client, user)
    [turn] = client.push({"user_id": user, "session_id": "s", "text": "I adopted a dog."})["turn_ids"]
    stack.wait()
    for name in ("s", "s~sub", "other"):
        lines.append(name, ["a dog" * 5000])
    key = stack.administrator["Authorization"].removeprefix("Bearer ")
    with Client(stack.write_url, stack.read_url, api_key=key, timeout=60) as administrator:
        administrator.erase_turn(user, turn)
    assert [len(lines.items(name)) for name in ("s", "s~sub", "other")] == [0, 0, 1]
    lines.append("s", ["new"])
    assert lines.items("s") == ["new"]


def test_texts_are_those_of_the_parts_of_a_message() -> None:
    parts = [
        {"type": "output_text", "text": "one"},
        {"type": "image", "url": "x"},
        {"type": "text", "text": "two"},
    ]
    assert [texts_of(each) for each in ("plain", parts, None)] == ["plain", "one\ntwo", ""]
