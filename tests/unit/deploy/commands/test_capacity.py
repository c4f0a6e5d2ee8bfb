"""A plan never shrinks when the load grows, adds up, and says what moves the first limit."""

import json
import re
import shlex
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.command import main
from deploy.commands.capacity import measures
from deploy.commands.capacity.measures import COSTS
from deploy.commands.capacity.plan import BUSY, Demand, most_users, plan
from tests.support.deployed import ROOT
from tests.support.tables import examples

demands = st.builds(
    Demand,
    users=st.integers(1, 10**9),
    turns_per_day=st.floats(0.01, 1000),
    text_bytes=st.floats(1, 20_000),
    vectors=st.booleans(),
    days=st.integers(1, 3650),
)


def needs(found: Any, where: str = "") -> dict[str, float]:
    """Returns every number of a plan that is an amount needed, by its path. Longer texts take longer each."""
    if isinstance(found, dict):
        pairs = [(key, value) for key, value in found.items() if key != "one_does"]
    elif isinstance(found, list | tuple):
        pairs = [(item["name"], item) for item in found]
    else:
        return {where: found} if isinstance(found, int | float) else {}
    return {path: value for key, each in pairs for path, value in needs(each, f"{where}/{key}").items()}


@given(demands, st.sampled_from(["users", "turns_per_day", "text_bytes", "days"]), st.floats(1, 100))
def test_more_to_do_never_needs_less(demand: Demand, what: str, times: float) -> None:
    value = getattr(demand, what)
    change: dict[str, Any] = {what: int(value * times) if isinstance(value, int) else value * times}
    before, after = needs(asdict(plan(demand))), needs(asdict(plan(replace(demand, **change))))
    assert before
    for path, need in before.items():
        assert after[path] >= need * (1 - 1e-9), path


@given(demands)
def test_the_processes_do_the_work_and_are_no_busier_than_planned(demand: Demand) -> None:
    for stage in plan(demand).stages:
        assert 1 <= stage.processes < stage.cores + 1
        assert stage.processes >= stage.cores
        assert stage.cores * stage.one_does * BUSY == pytest.approx(stage.per_second)


@given(demands)
def test_one_user_more_than_the_most_is_above_the_first_limit(demand: Demand) -> None:
    most = most_users(demand)
    assert most == 0 or plan(replace(demand, users=most)).limits[0].share <= 1
    assert plan(replace(demand, users=most + 1)).limits[0].share > 1


def test_a_turn_a_second_by_hand() -> None:
    found = plan(Demand(users=2160, turns_per_day=10, text_bytes=100, days=10))
    stages = {stage.name: stage for stage in found.stages}
    assert {name: stage.per_second for name, stage in stages.items()} == {
        "write": 1, "recorder": 1, "extractor": 1, "cards": 1, "vectors": 1, "read": 0.5,
    }  # fmt: skip
    assert stages["vectors"].cores == pytest.approx(COSTS["vectors"].ours_per_byte * 100 / 1e6 / 0.6)
    assert found.log_disk == pytest.approx(216_000 * (measures.LOG_BYTES + 100 * measures.LOG_PER_TEXT_BYTE))
    assert found.redis_bytes == pytest.approx(3600 * (measures.WAITING_BYTES + 100))
    assert found.cards == pytest.approx(216_000 * measures.CARDS_PER_TURN)


def test_vectors_are_left_out_of_a_plan_without_them() -> None:
    found = plan(Demand(users=10_000, turns_per_day=20, vectors=False))
    assert "vectors" not in {stage.name for stage in found.stages} | {limit.name for limit in found.limits}
    assert found.vectors_disk == 0


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    assert main(["capacity", *arguments]) == 0
    return capsys.readouterr().out


def test_the_plan_names_every_stage_and_what_moves_the_first_limit(
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = run(capsys, "--users", "1000000", "--turns-per-day", "20")
    for name in ("write", "recorder", "extractor", "cards", "vectors", "read", "Postgres", "Redis"):
        assert re.search(rf"^  {name} ", out, re.MULTILINE), name
    assert "20 million turns a day: 231 a second, and 926 at the peak" in out
    first = out.split("the first to run out first\n")[1].splitlines()[0]
    assert re.fullmatch(r"  memory +[\d,]+ of 64 GiB +\d+%  .*CARDLOG_DATABASE_URL; --no-vectors", first)


def test_the_plan_for_machines_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    document = json.loads(run(capsys, "--users", "5000", "--turns-per-day", "12.5", "--json"))
    demand = Demand(users=5000, turns_per_day=12.5)
    assert document.pop("demand") == asdict(demand)
    assert document.pop("most_users") == most_users(demand)
    assert document == json.loads(json.dumps(asdict(plan(demand))))


@examples
def test_an_impossible_plan_names_the_option(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["capacity", *arguments])
    said = capsys.readouterr()
    assert (ended.value.code, said.out) == (2, "")
    assert named in said.err
    assert len(said.err.splitlines()) == 1


def test_the_page_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/operating/scaling.md").read_text("utf-8")
    shown = re.findall(r"^\$ cardlog (capacity .*)\n((?:.*\n)*?)```", page, re.MULTILINE)
    assert shown, "the page shows a run of the command"
    for command, printed in shown:
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr().out.rstrip() == printed.rstrip(), command
