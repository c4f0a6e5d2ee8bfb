"""The longitudinal suite: its chains keep their guarantees, and its scoring separates right from wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from itertools import pairwise
from typing import Any

import pytest

from events.language.chinese_script import to_simplified
from tests.aging.chains import DEPTHS, MECHANISMS, Chain, Probe, chains
from tests.aging.scoring import Scores, holds, right

TOLD = chains(4, seed=11)


def card(content: str, **more: Any) -> dict[str, Any]:
    return {"kind": "state", "content": content, "value": None, "superseded_at": None} | more


def test_the_same_seed_gives_the_same_chains_and_another_seed_others() -> None:
    assert chains(2, seed=3) == chains(2, seed=3)
    assert chains(2, seed=3) != chains(2, seed=4)


def test_the_same_seed_gives_the_same_chains_in_another_process() -> None:
    told = "import zlib; from tests.aging.chains import chains; print(zlib.crc32(repr(chains(2, seed=3)).encode()))"
    digests = {
        subprocess.run(
            [sys.executable, "-c", told],
            capture_output=True, text=True, check=True, env=os.environ | {"PYTHONHASHSEED": seed},
        ).stdout
        for seed in ("1", "2")
    }  # fmt: skip
    assert len(digests) == 1


def test_every_mechanism_speaks_both_languages_and_both_scripts() -> None:
    for mechanism in MECHANISMS:
        spoken = [(chain.language, chain.zone) for chain in TOLD if chain.mechanism == mechanism]
        assert spoken == [
            ("english", "Europe/Amsterdam"),
            ("chinese", "Asia/Taipei"),
            ("english", "Europe/Amsterdam"),
            ("chinese", "Asia/Shanghai"),
        ]


@pytest.mark.parametrize("chain", TOLD, ids=lambda chain: chain.user_id)
def test_as_many_turns_and_days_lie_between_as_the_depth_says(chain: Chain) -> None:
    told = chain.parts[0][-1].said_at
    for depth, promised in enumerate(DEPTHS):
        unrelated = sum(len(part) for part in chain.parts[1 : depth + 1])
        assert unrelated == promised.turns
        assert (chain.ends[depth] - told).days >= promised.days
    assert DEPTHS[-1].turns >= 400
    assert DEPTHS[-1].days >= 180


@pytest.mark.parametrize("chain", TOLD, ids=lambda chain: chain.user_id)
def test_time_runs_forward_and_questions_come_after_everything_said(chain: Chain) -> None:
    said = [one.said_at for part in chain.parts for one in part]
    assert all(earlier <= later for earlier, later in pairwise(said))
    for part, end in zip(chain.parts, chain.ends, strict=True):
        assert all(one.said_at < end for one in part)


@pytest.mark.parametrize("chain", TOLD, ids=lambda chain: chain.user_id)
def test_idle_talk_never_names_an_answer(chain: Chain) -> None:
    values = [value for probe in chain.probes for value in (probe.current, *probe.stale)]
    for part in chain.parts[1:]:
        for said in part:
            assert not [value for value in values if holds(card(said.text), value)], said.text


@pytest.mark.parametrize("chain", TOLD, ids=lambda chain: chain.user_id)
def test_every_answer_was_stated_and_every_old_one_before_it(chain: Chain) -> None:
    told = [said.text for said in chain.parts[0]]
    for probe in chain.probes:
        last = [
            max(at for at, text in enumerate(told) if holds(card(text), value) and "{" not in text)
            for value in (*probe.stale, probe.current)
        ]
        assert last[-1] == max(last)
    assert not any(re.search(r"\{\w+\}", said.text) for part in chain.parts for said in part)


def test_facts_change_months_apart() -> None:
    for chain in TOLD:
        if chain.mechanism != "revision":
            continue
        assert {len(probe.stale) for probe in chain.probes} == {1, 2}
        for probe in chain.probes:
            first = [
                min(said.said_at for said in chain.parts[0] if holds(card(said.text), value))
                for value in (*probe.stale, probe.current)
            ]
            assert all((later - earlier).days >= 55 for earlier, later in pairwise(first))


PROBE = Probe("Where do I live?", "Porto", stale=("Ghent",))


@pytest.mark.parametrize(
    ("cards", "expected"),
    [
        (["Lives in Porto"], True),
        (["Likes tea", "Lives in Porto"], True),
        (["I left Ghent and moved to Porto"], True),
        (["Lives in Porto", "Lives in Ghent"], True),
        (["Lives in Ghent", "Lives in Porto"], False),
        (["Likes tea"], False),
        ([], False),
        (["1", "2", "3", "4", "5", "Lives in Porto"], False),
        (["Lives in Portobello"], False),
    ],
)
def test_right_is_the_current_value_in_the_first_five_with_no_old_one_above(
    cards: list[str], expected: bool
) -> None:
    assert right([card(text) for text in cards], PROBE) is expected


def test_a_value_is_found_in_either_script() -> None:
    assert holds(card("住在蘇州"), to_simplified("蘇州"))
    assert holds(card("", value="苏州"), "蘇州")


def test_scores_name_the_goals_that_were_missed() -> None:
    scores = Scores(2)
    revision = next(chain for chain in TOLD if chain.mechanism == "revision")
    scores.add(revision, 0, PROBE, [card("Lives in Porto")])
    scores.add(revision, 1, PROBE, [card("Lives in Ghent")])
    assert scores.recall("revision", 0) == 1
    assert scores.loss("revision") == 1
    assert scores.recall("interference", 0) is None
    assert len(scores.missed_goals()) == 1
    assert "revision" in scores.missed_goals()[0]
    assert "wants Porto, not Ghent" in scores.misses[0]
