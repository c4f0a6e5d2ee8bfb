"""Rollbacks, cherry-picks and promotions of a document while the write service is killed: all or nothing."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.support.stack import Running, start, stop
from tests.support.waiting import eventually

NOTES = 60


@pytest.mark.timeout(280)
def test_a_killed_command_changes_the_document_as_a_whole_or_not_at_all(tmp_path: Path) -> None:
    running = start(tmp_path / "data")
    try:
        with httpx2.Client(headers=running.headers, timeout=30) as client:
            _check(running, client)
        assert running.command("rebuild", "core", "--verify").returncode == 0
        assert running.command("log", "verify").returncode == 0
    finally:
        assert stop(running) == 0


def _check(running: Running, client: httpx2.Client) -> None:
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
