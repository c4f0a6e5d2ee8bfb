"""``cardlog arbitrations`` shows an operator the conflicts and records the verdict."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID, uuid4

import pytest

from deploy.command import main
from events.platform.database import Connection
from events.platform.settings import variable_of
from tests.support.conversing import Memory, day, remembering


@pytest.fixture
def memory(database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    monkeypatch.setenv(variable_of("database_url"), database)
    with remembering(database, connection) as opened:
        yield opened


@pytest.fixture
def conflict(memory: Memory) -> UUID:
    memory.state("residence", "Rome", day(0))
    milan = memory.state("residence", "Milan", day(90))
    memory.fold()
    return milan


def command(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str]:
    status = main(["arbitrations", *arguments, "--user", "alex"])
    captured = capsys.readouterr()
    return status, captured.out + captured.err


def told(capsys: pytest.CaptureFixture[str], *arguments: str) -> Any:
    status, text = command(capsys, *arguments, "--json")
    assert status == 0, text
    return json.loads(text)


def test_a_conflict_is_listed_shown_and_ruled(
    memory: Memory, conflict: UUID, capsys: pytest.CaptureFixture[str]
) -> None:
    [listed] = told(capsys, "list")
    assert (listed["arbitration_id"], listed["status"]) == (str(conflict), "open")
    status, text = command(capsys, "show", str(conflict))
    assert status == 0
    assert "residence: Rome or Milan?" in text
    assert "old: Rome, said 2026-01-05" in text
    assert "new: Milan, said 2026-04-05" in text
    status, text = command(capsys, "rule", str(conflict), "accept_new", "--reason", "asked her")
    assert (status, "ruled accept_new" in text) == (0, True)
    assert told(capsys, "rule", str(conflict), "accept_new")["duplicate"] is True
    memory.fold()
    assert told(capsys, "list") == []
    assert command(capsys, "list") == (0, "no conflict waits for a verdict\n")
    assert [one["status"] for one in told(capsys, "list", "--status", "all")] == ["accept_new"]
    assert memory.contents() == ["residence is Milan"]


def test_an_impossible_verdict_is_refused_in_one_line(
    memory: Memory, conflict: UUID, capsys: pytest.CaptureFixture[str]
) -> None:
    for verb in (("show",), ("rule", "keep_old")):
        status, text = command(capsys, verb[0], str(uuid4()), *verb[1:])
        assert (status, len(text.splitlines())) == (1, 1)
        assert "no" in text
    assert command(capsys, "rule", str(conflict), "keep_old")[0] == 0
    status, text = command(capsys, "rule", str(conflict), "coexist")
    assert (status, text.strip()) == (1, "cardlog arbitrations: the arbitration is settled: keep_old")
    with pytest.raises(SystemExit):
        command(capsys, "rule", str(conflict), "toss")
