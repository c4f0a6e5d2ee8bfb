"""``cardlog problems`` from the command line to the prompt: opened, tried, found by a question, closed."""

from collections.abc import Iterator
from uuid import uuid4

import pytest
from starlette.testclient import TestClient

from events.platform.settings import variable_of
from projectors.cards.projector import CardsProjector
from projectors.problems import ProblemsProjector
from retrieval.http.read_api import create_app
from tests.support.projectors.folding import fold_live, settings_of
from tests.support.verbs import Verb
from tests.support.waiting import PATIENT


@pytest.fixture
def read(database: str, redis_url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.setenv(variable_of("database_url"), database)
    settings = settings_of(database, redis_url=redis_url, **PATIENT)
    with TestClient(create_app(settings), base_url="http://localhost") as client:
        yield client


@pytest.fixture
def problems(capsys: pytest.CaptureFixture[str]) -> Verb:
    return Verb(capsys, "problems", "--user", "ada")


def test_what_helped_is_found_and_the_prompt_tells_what_is_open(
    read: TestClient, database: str, problems: Verb
) -> None:
    fold_live(database, CardsProjector())
    sugars = problems.told("open", "high morning sugars", "--priority", "8")["problem_id"]
    blood = problems.told("open", "早上的血糖太高")["problem_id"]
    knee = problems.told("open", "a sore knee <b>")["problem_id"]
    walk = ("walking after dinner", "--outcome", "20 points lower", "--worked")
    problems.told("attempt", sugars, *walk, "--date", "2026-05-01T19:00:00Z")
    problems.told("attempt", sugars, "skipping breakfast", "--failed")
    problems.told("attempt", blood, "飯後散步", "--worked")
    problems.told("attempt", knee, "a cold pack", "--worked")
    for folded in (False, True):
        if folded:
            fold_live(database, CardsProjector())
            fold_live(database, ProblemsProjector())
        for question, words in (
            ("What helped my morning sugars?", "walking after dinner"),
            ("什麼對我早上的血糖有幫助？", "飯後散步"),
        ):
            cards = read.post("/v1/recall", json={"user_id": "ada", "query": question}).json()["cards"]
            assert words in cards[0]["content"], (folded, [each["content"] for each in cards])
        asked = {"user_id": "ada", "query": "what should I have for dinner?"}
        prompt = read.post("/v1/context", json=asked).json()
        [block] = [each for each in prompt["blocks"] if each["name"] == "problems"]
        first, *others = block["text"].splitlines()[1:-1]
        assert "<worked>walking after dinner: 20 points lower (2026-05-01)</worked>" in first
        assert "<failed>skipping breakfast" in first
        assert any("a sore knee &lt;b&gt;" in each for each in others)
        shown = set()
        for budget in (400, 600, 800, 1000, 1600):
            tight = read.post("/v1/context", json=asked | {"token_budget": budget}).json()
            assert tight["tokens"] <= budget
            shown.add(tight["text"].count("<problem "))
            left = 3 - tight["text"].count("<problem ")
            notice = f"{left} open problems have no room in the token budget"
            assert (notice in tight["warnings"]) == (left > 0)
        assert {0, 3} < shown
    past = asked | {"as_of": "2026-05-01T00:00:00Z"}
    assert "<problems>" not in read.post("/v1/context", json=past).json()["text"]


def test_problems_are_listed_closed_and_reopened(read: TestClient, problems: Verb) -> None:
    assert problems("list") == (0, "ada has no active problems\n")
    problem = problems.told("open", "bad sleep")["problem_id"]
    status, text = problems("attempt", problem, "an eye mask", "--worked")
    assert (status, "worked  an eye mask" in text) == (0, True)
    assert problems.told("close", problem, "--resolution", "sleeps well")["status"] == "closed"
    assert problems.told("list") == []
    assert [each["resolution"] for each in problems.told("list", "--status", "all")] == ["sleeps well"]
    assert problems.told("reopen", problem)["status"] == "active"
    status, text = problems("close", str(uuid4()))
    assert (status, text) == (1, "cardlog problems: this user has no such problem\n")
    assert problems("open", "bad sleep")[0] == 1
    assert problems("attempt", problem, "tea", "--date", "soon")[0] == 2
