"""A plan never shrinks when the load grows, adds up, and names the option it cannot plan with."""

import json
import re
import shlex
from dataclasses import asdict, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deploy.command import main
from deploy.commands.capacity.measures import BYTES, COSTS, MODEL, PARTITIONS
from deploy.commands.capacity.plan import BUSY, DAY_S, Demand, plan, scaling_steps
from tests.support.deployed import ROOT
from tests.support.tables import examples

demands = st.builds(
    Demand,
    users=st.integers(1, 10**9),
    turns_per_day=st.floats(0.01, 1000),
    peak_factor=st.floats(1, 50),
    text_bytes=st.floats(1, 20_000),
    cards_per_turn=st.floats(0, 10),
    recalls_per_turn=st.floats(0, 10),
    calls_per_turn=st.floats(0, 1),
    seconds_per_call=st.floats(0, 60),
    vectors=st.booleans(),
    model=st.booleans(),
    days=st.integers(1, 3650),
    outage_s=st.integers(0, DAY_S),
)
MORE = [
    "users",
    "turns_per_day",
    "peak_factor",
    "text_bytes",
    "cards_per_turn",
    "recalls_per_turn",
    "days",
    "outage_s",
]
LESS_WITH_MORE = {"busy", "one_does"}
"""One more whole process makes every process less busy. Longer texts take longer each."""


def needs(found: Any, where: str = "") -> dict[str, float]:
    """Returns every number of a plan that is an amount needed, by its path. Numbers of the load are left out."""
    if isinstance(found, dict):
        pairs = [(key, value) for key, value in found.items() if key not in {"demand", *LESS_WITH_MORE}]
    elif isinstance(found, list | tuple):
        pairs = [(item.get("name", number), item) for number, item in enumerate(found)]
    elif isinstance(found, int | float) and not isinstance(found, bool):
        return {where: found}
    else:
        return {}
    return {path: value for key, each in pairs for path, value in needs(each, f"{where}/{key}").items()}


@given(demands, st.sampled_from(MORE), st.floats(1, 100))
def test_more_to_do_never_needs_less(demand: Demand, what: str, times: float) -> None:
    value = getattr(demand, what)
    change: dict[str, Any] = {what: int(value * times) if isinstance(value, int) else value * times}
    more = replace(demand, **change)
    one, other = plan(demand), plan(more)
    before, after = needs(asdict(one)), needs(asdict(other))
    assert before
    for path, need in before.items():
        assert after[path] >= need * (1 - 1e-9), path
    assert other.cores >= one.cores * (1 - 1e-9)
    assert other.memory_gib >= one.memory_gib * (1 - 1e-9)
    assert other.postgres_servers >= one.postgres_servers


@given(demands)
def test_no_process_is_busier_than_planned_unless_there_is_no_use_for_more(demand: Demand) -> None:
    for stage in plan(demand).stages:
        assert stage.busy <= BUSY * (1 + 1e-9) or stage.processes == stage.most == PARTITIONS
        assert stage.processes >= 1
        # The work done equals the load, computed from the work of one process.
        assert stage.cores * stage.one_does * BUSY == pytest.approx(stage.per_second)


@given(demands)
def test_twice_the_users_store_and_ask_twice_as_much(demand: Demand) -> None:
    one, other = plan(demand), plan(replace(demand, users=demand.users * 2))
    for part in ("disk", "model"):
        for name, amount in asdict(getattr(one, part)).items():
            assert asdict(getattr(other, part))[name] == pytest.approx(2 * amount), name
    assert other.redis_bytes == pytest.approx(2 * one.redis_bytes)


def test_a_turn_a_second_by_hand() -> None:
    found = plan(
        Demand(
            users=8640,
            turns_per_day=10,
            peak_factor=1,
            text_bytes=100,
            recalls_per_turn=0.25,
            days=10,
            outage_s=60,
        )
    )
    stages = {stage.name: stage for stage in found.stages}
    assert {name: stage.per_second for name, stage in stages.items()} == {
        "write": 1, "recorder": 1, "extractor": 1, "cards": 1, "vectors": 1, "read": 0.25,
    }  # fmt: skip
    assert stages["vectors"].cores == pytest.approx(COSTS["vectors"].ours_per_byte * 100 / 1e6 / 0.6)
    a_turn = BYTES["log_fixed"].value + 100 * BYTES["log_per_text_byte"].value
    assert found.disk.log_per_day == pytest.approx(86_400 * a_turn)
    assert found.disk.log == pytest.approx(864_000 * a_turn)
    assert found.redis_bytes == pytest.approx(60 * (BYTES["waiting_fixed"].value + 100))
    assert found.model.calls_per_day == 0
    read = plan(replace(found.demand, model=True, calls_per_turn=0.5, seconds_per_call=3)).model
    assert (read.calls_per_day, read.calls_per_second, read.at_once) == pytest.approx((43_200, 0.5, 1.5))
    assert read.input_tokens_per_day == pytest.approx(86_400 * MODEL["input"].value)


def test_more_answers_at_once_want_more_processes_and_a_higher_setting_fewer() -> None:
    slow = Demand(users=1_000_000, turns_per_day=50, model=True, seconds_per_call=20)
    few = next(stage for stage in plan(replace(slow, concurrency=512)).stages if stage.name == "extractor")
    many = next(stage for stage in plan(slow).stages if stage.name == "extractor")
    assert many.processes > few.processes


@given(demands)
def test_a_scaling_step_carries_a_limited_number_of_users(demand: Demand) -> None:
    for way in scaling_steps(demand)[
        1:2
    ]:  # several processes on one machine: the limits are those of the machine

        def full(users: int) -> float:
            return max(limit.share for limit in plan(replace(demand, users=users)).machine())

        assert way.carries_users == 0 or full(way.carries_users) <= 1
        assert full(way.carries_users + 1) > 1


@given(demands)
def test_what_is_allowed_more_carries_no_fewer(demand: Demand) -> None:
    simple, several, servers, replicas, spread = (way.carries_users for way in scaling_steps(demand))
    assert simple <= several
    assert servers <= replicas <= spread


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, str, str]:
    status = main(["capacity", *arguments])
    said = capsys.readouterr()
    return status, said.out, said.err


def test_the_plan_names_every_stage_and_one_scaling_step(capsys: pytest.CaptureFixture[str]) -> None:
    status, out, _ = run(capsys, "--users", "1000000", "--turns-per-day", "20")
    assert status == 0
    for name in ("write", "recorder", "extractor", "cards", "vectors", "read", "Postgres", "Redis", "Kafka"):
        assert re.search(rf"^  {name} ", out, re.MULTILINE), name
    assert "20,000,000 turns a day" in out
    assert "231 turns/s, 926 at the peak" in out
    assert len(re.findall(r"^→ \d\. ", out, re.MULTILINE)) == 1
    status, out, _ = run(capsys, "--users", "1000000", "--turns-per-day", "20", "--no-vectors", "--llm")
    assert status == 0
    assert "CARDLOG_EXTRACT_CONCURRENCY" in out
    assert re.search(r"^  calls +2\.2 million a day", out, re.MULTILINE)


def test_the_plan_for_machines_is_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    _, out, _ = run(capsys, "--users", "5000", "--turns-per-day", "12.5", "--json")
    document = json.loads(out)
    found = plan(Demand(users=5000, turns_per_day=12.5))
    assert document["disk"] == asdict(found.disk)
    assert [stage["processes"] for stage in document["stages"]] == [stage.processes for stage in found.stages]
    assert document["step"] == "one of each, on one machine"
    assert document["machine"][0]["share"] == max(limit.share for limit in found.machine())


@examples
def test_an_impossible_plan_names_the_option(
    arguments: list[str], named: str, capsys: pytest.CaptureFixture[str]
) -> None:
    status, out, error = run(capsys, *arguments)
    assert status == 2
    assert named in error
    assert out == ""
    assert len(error.splitlines()) == 1


@pytest.mark.parametrize(
    "arguments", [["--users", "many"], ["--users", "5", "--turns-per-day", "1", "--llm", "--rules"]]
)
def test_what_is_no_number_or_contradicts_itself_is_usage(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["capacity", *arguments])
    assert ended.value.code == 2
    assert arguments[0 if len(arguments) == 2 else -1] in capsys.readouterr().err


def test_the_page_shows_what_the_command_prints(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs/operating/scaling.md").read_text("utf-8")
    shown = re.findall(r"^\$ cardlog (capacity .*)\n((?:.*\n)*?)```", page, re.MULTILINE)
    assert shown, "the page shows a run of the command"
    for command, printed in shown:
        assert main(shlex.split(command)) == 0
        assert capsys.readouterr().out.rstrip() == printed.rstrip(), command
