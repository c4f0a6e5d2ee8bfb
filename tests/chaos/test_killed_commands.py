"""References and documents while processes are killed: all or nothing, and each op once."""

import itertools
import json
import os
from collections import Counter
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import httpx2
import pytest

from cardlog_client import Client
from events.platform.database import connect
from tests.support.stack import Running, start, stop
from tests.support.waiting import eventually

CLIENTS = 50
ADDITIONS = int(os.environ.get("CARDLOG_TEST_ADDITIONS", "10"))
LISTS = max(10, ADDITIONS // 5)
"""Each client adds items to one of the lists, and marks each of its items done."""
OPS = 2 * CLIENTS * ADDITIONS


@pytest.mark.timeout(280 + 40 * ADDITIONS)
def test_every_op_of_fifty_clients_counts_once_although_processes_are_killed(tmp_path: Path) -> None:
    running = start(tmp_path / "data")
    done = itertools.count(1)
    progress = [0]

    def work(number: int) -> None:
        key = f"list {number % LISTS}"
        with Client(
            running.write_url, running.read_url, timeout=20, retries=15, api_key=running.key
        ) as client:
            for step in range(ADDITIONS):
                text = f"{number}/{step}"
                added = client.change_reference("ada", "todo_list", key, "add", text=text)
                [item] = [each["id"] for each in added["data"]["items"] if each["text"] == text]
                progress[0] = next(done)
                client.change_reference("ada", "todo_list", key, "mark_done", item_id=item)
                progress[0] = next(done)

    def reached(ops: int) -> bool:
        return progress[0] >= ops or _ended(working)

    try:
        with Client(running.write_url, running.read_url, api_key=running.key) as client:
            for number in range(LISTS):
                client.create_reference("ada", "todo_list", f"list {number}")
        with ThreadPoolExecutor(CLIENTS) as many:
            working = [many.submit(work, number) for number in range(CLIENTS)]
            for victim, after in (("write", OPS // 8), ("projector", OPS // 4), ("write", OPS // 2)):
                until = partial(reached, after)
                eventually(until, within=200 + 10 * ADDITIONS)
                running.kill(victim)
            for each in working:
                each.result()
        running.wait()
        _check(running)
    finally:
        assert stop(running) == 0


def _ended(working: list[Future[None]]) -> bool:
    return all(each.done() for each in working)


def _check(running: Running) -> None:
    expected = Counter(f"{number}/{step}" for number in range(CLIENTS) for step in range(ADDITIONS))
    with Client(running.write_url, running.read_url, api_key=running.key) as client:
        values = [client.reference("ada", "todo_list", f"list {number}") for number in range(LISTS)]
    assert Counter(item["text"] for value in values for item in value["data"]["items"]) == expected
    assert all(item["done"] for value in values for item in value["data"]["items"])
    assert [value["version"] for value in values] == [1 + OPS // LISTS] * LISTS
    with connect(running.admin_database_url, application="test") as connection:
        folded = connection.execute(
            'SELECT rendering, version FROM "references".objects ORDER BY key'
        ).fetchall()
        [cards] = connection.execute("SELECT count(*) FROM cards.cards WHERE kind = 'reference'").fetchall()
    assert folded == [(value["rendering"], value["version"]) for value in values]
    assert cards == (LISTS,)
    rebuilt = running.command("rebuild", "references", "--verify", "--json")
    assert rebuilt.returncode == 0, rebuilt.stderr
    assert json.loads(rebuilt.stdout.splitlines()[-1])


NOTES = 60


@pytest.mark.timeout(280)
def test_a_killed_command_changes_the_document_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    running = start(tmp_path / "data")
    try:
        with httpx2.Client(headers=running.headers, timeout=30) as client:
            _check_commands(running, client)
        assert running.command("rebuild", "core", "--verify").returncode == 0
        assert running.command("log", "verify").returncode == 0
    finally:
        assert stop(running) == 0


def _check_commands(running: Running, client: httpx2.Client) -> None:
    url = f"{running.write_url}/v1/memory/ada"

    def send(what: str, **body: Any) -> dict[str, Any]:
        answer = client.post(f"{url}/{what}", json=body)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def document() -> dict[str, Any]:
        found: dict[str, Any] = client.get(f"{running.read_url}/v1/memory/ada").json()["document"]
        return {name: found.get(name) for name in ("uncategorized", "sleep")}

    notes = [
        {"op": "add", "path": f"/uncategorized/sleep_note_{n}", "value": f"note {n}"} for n in range(NOTES)
    ]
    noted = send("events", patch=notes, actor="user")["event_id"]
    commands = (
        ("schema/promote", {"candidate": "sleep"}),
        ("schema/revert", {"category": "sleep"}),
        ("rollback", {"event_ids": [noted]}),
        ("cherry-pick", {"event_ids": [noted]}),
    )
    for what, body in commands:
        before = document()
        with ThreadPoolExecutor(1) as beside:
            killed = beside.submit(client.post, f"{url}/{what}", json=body)
            running.kill("write")
            killed.exception()
        eventually(lambda: client.get(f"{running.write_url}/readyz").status_code == 200)
        found = document()
        if found == before:
            send(what, **body)
            assert document() != before
        kept = {**(document()["uncategorized"] or {}), **(document()["sleep"] or {})}
        assert len(kept) == (0 if what == "rollback" else NOTES)
        # Nothing is in both places.
        assert not (document()["uncategorized"] and document()["sleep"])
