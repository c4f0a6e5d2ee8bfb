"""``cardlog arbitrations`` shows an operator the conflicts and records the verdict."""

from uuid import UUID, uuid4

import pytest

from events.platform.settings import variable_of
from tests.support.conversing import Memory, day
from tests.support.verbs import Verb


@pytest.fixture
def conflict(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> UUID:
    monkeypatch.setenv(variable_of("database_url"), memory.database)
    memory.state("residence", "Rome", day(0))
    milan = memory.state("residence", "Milan", day(90))
    memory.fold()
    return milan


@pytest.fixture
def arbitrations(capsys: pytest.CaptureFixture[str]) -> Verb:
    return Verb(capsys, "arbitrations", "--user", "alex")


def test_a_conflict_is_listed_shown_and_ruled(memory: Memory, conflict: UUID, arbitrations: Verb) -> None:
    [listed] = arbitrations.told("list")
    assert (listed["arbitration_id"], listed["status"]) == (str(conflict), "open")
    status, text = arbitrations("show", str(conflict))
    assert status == 0
    assert "residence: Rome or Milan?" in text
    assert "old: Rome, said 2026-01-05" in text
    assert "new: Milan, said 2026-04-05" in text
    status, text = arbitrations("rule", str(conflict), "accept_new", "--reason", "asked her")
    assert (status, "ruled accept_new" in text) == (0, True)
    assert arbitrations.told("rule", str(conflict), "accept_new")["duplicate"] is True
    memory.fold()
    assert arbitrations.told("list") == []
    assert arbitrations("list") == (0, "alex has no open conflicts\n")
    assert [one["status"] for one in arbitrations.told("list", "--status", "all")] == ["accept_new"]
    assert memory.contents() == ["residence is Milan"]


def test_an_impossible_verdict_is_refused_in_one_line(
    memory: Memory, conflict: UUID, arbitrations: Verb
) -> None:
    for verb in (("show",), ("rule", "keep_old")):
        status, text = arbitrations(verb[0], str(uuid4()), *verb[1:])
        assert (status, len(text.splitlines())) == (1, 1)
        assert "no" in text
    assert arbitrations("rule", str(conflict), "keep_old")[0] == 0
    status, text = arbitrations("rule", str(conflict), "coexist")
    assert (status, text.strip()) == (1, "cardlog arbitrations: the arbitration is settled: keep_old")
    assert arbitrations("rule", str(conflict), "toss")[0] == 2
