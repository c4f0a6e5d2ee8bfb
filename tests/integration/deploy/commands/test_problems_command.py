"""The verbs for conflicts, modes, people and problems."""

import json
from collections.abc import Iterator
from uuid import UUID, uuid4

import pytest
from starlette.testclient import TestClient

from deploy.command import main
from events.platform.database import Connection
from events.platform.settings import variable_of
from events.store import log
from events.types.cards import StateAsserted
from projectors.cards.projector import CardsProjector
from projectors.people import PeopleProjector
from projectors.problems import ProblemsProjector
from retrieval.http.read_api import create_app
from tests.support.conversing import Memory, day
from tests.support.projectors.folding import NOW, ORIGIN, event, fold_live, settings_of
from tests.support.retrieval.channels import noted
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


def test_modes_are_declared_listed_renamed_and_deleted(
    database: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)

    def run(*words: str) -> tuple[int, str, str]:
        status = main(["modes", *words, "--user", "ada"])
        told = capsys.readouterr()
        return status, told.out.strip(), told.err

    declared = run(
        "declare", "code", "--embedder", "hash-768", "--decay", "slow", "--hint", "units=keep signatures"
    )
    assert declared[:2] == (0, "code is declared")
    assert run("default", "shop", "code")[1] == "the default mode of shop is code"
    assert run("rename", "code", "programming")[1] == "code is called programming now"
    assert run("list")[1].splitlines() == [
        "programming: hash-768, slow decay",
        "project shop: default mode programming",
    ]
    [mode] = json.loads(run("list", "--json")[1])
    assert mode["prompt_overrides"] == {"units": "keep signatures"}
    status, _, err = run("declare", "diary", "--embedder", "nobody/has-this")
    assert (status, "nobody/has-this is not on the server" in err) == (2, True)
    for words in ((), ("--dry-run",)):
        assert (
            run("reembed", "code", *words)[1] == "nothing to do: all 0 vectors of programming are of hash-768"
        )
    assert json.loads(run("reembed", "general", "--json")[1])["state"] == "unneeded"
    assert run("reembed", "kode")[0] == 1
    assert run("delete", "programming")[1] == "programming is deleted; its cards belong to the general mode"
    assert run("list")[1] == "ada has no modes; everything is general"


@pytest.fixture
def people(capsys: pytest.CaptureFixture[str]) -> Verb:
    return Verb(capsys, "people", "--user", "ada")


def test_people_are_noted_merged_split_and_told_apart(
    database: str, monkeypatch: pytest.MonkeyPatch, people: Verb
) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)
    fold_live(database, CardsProjector())
    noor = people.told("note", "Noor", "--kinship", "colleague")["person_id"]
    whole = people.told("note", "Noora Haddad")["person_id"]
    people.told("alias", noor, "noor@example.org", "--kind", "handle")
    assert people.told("merge", noor, whole, "--reason", "she said so")["merged"]
    _, shown = people("list")
    assert "Noora Haddad, Noor, noor@example.org (colleague)" in shown
    people.told("split", noor, whole)
    people.told("distinct", noor, whole)
    status, refused = people("merge", noor, whole)
    assert status != 0
    assert "two people" in refused
    assert "Noora" in people("show", whole)[1]
    assert people("timeline", whole)[0] == 0


def test_a_timeline_tells_the_same_words_once(
    database: str, connection: Connection, monkeypatch: pytest.MonkeyPatch, people: Verb
) -> None:
    monkeypatch.setenv(variable_of("database_url"), database)
    words = "My sister Noor works at Acme."
    job = StateAsserted(
        content=words, entity="Noor", concept_key="employer", value="Acme", cardinality="single_value", tags=(),
        origin=ORIGIN, effective_at=NOW,
    )  # fmt: skip
    log.append(connection, [event(each, user="ada") for each in (noted(words), job)])
    fold_live(database)
    fold_live(database, PeopleProjector())
    [noor] = people.told("list")["people"]
    assert "2 mentions" in people("list")[1]
    assert len(people.told("timeline", noor["person_id"])["entries"]) == 2
    assert people("timeline", noor["person_id"])[1].count(words) == 1
