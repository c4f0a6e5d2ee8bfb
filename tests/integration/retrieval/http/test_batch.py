"""Several questions get their answers in order. One that fails has its problem in its place."""

import asyncio
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import httpx2
from fastapi import FastAPI
from starlette.testclient import TestClient

from events.access.principal import Principal
from events.http.answering import add_routes
from events.http.service import install
from events.platform.settings import Settings
from events.resources.recall import Answer
from retrieval.http.questions import AT_ONCE, MOST_QUESTIONS, batch_router
from retrieval.http.read_api import create_app
from tests.support.conversing import Memory, day
from tests.support.waiting import PATIENT


def test_each_question_has_its_answer_or_its_problem(database: str, memory: Memory) -> None:
    memory.state("residence", "Rome", day(0))
    memory.of("eve").state("residence", "Bari", day(0))
    memory.fold()
    home: dict[str, Any] = {"user_id": "alex", "query": "where do I live?"}
    questions = [
        home,
        home | {"k": 0},
        home | {"colour": "red"},
        home | {"user_id": "eve"},
        {"query": "who?"},
    ]
    with TestClient(create_app(replace(Settings(), database_url=database, **PATIENT))) as client:

        def ask(questions: list[Any], status: int = 200) -> Any:
            answer = client.post("/v1/recall/batch", json={"questions": questions})
            assert answer.status_code == status, answer.text
            return answer.json()

        rome, short, colour, bari, nobody = ask(questions)["answers"]
        alone = client.post("/v1/recall", json=home).json()
        for wrong, field in ((short, "k"), (colour, "colour"), (nobody, "user_id")):
            assert (wrong["problem"]["status"], wrong["problem"]["field"]) == (422, field)
            assert "answer" not in wrong
        refused = client.post("/v1/recall", json=home | {"k": 0}).json()
        assert short["problem"] == refused
        assert ask([home] * MOST_QUESTIONS)["answers"][-1]["answer"]["cards"] == alone["cards"]
        assert ask([home] * (MOST_QUESTIONS + 1), 422)["field"] == "questions"
        assert ask([], 422)["field"] == "questions"
    assert [card["value"] for card in rome["answer"]["cards"]] == ["Rome"]
    assert [card["value"] for card in bari["answer"]["cards"]] == ["Bari"]


def test_some_questions_of_a_batch_are_answered_at_the_same_time_and_no_more() -> None:
    running = most = 0

    async def post() -> httpx2.Response:
        together = asyncio.Barrier(AT_ONCE)

        async def ask(_: Principal, question: dict[str, object]) -> Answer:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await together.wait()
            running -= 1
            return Answer(
                current_time=datetime.now(UTC),
                cards=[],
                contradictions=[],
                channels={},
                explain=None,
                warnings=[f"{question['n']}"],
            )

        app = FastAPI()
        install(app)
        add_routes(app, batch_router(ask))
        async with httpx2.AsyncClient(
            transport=httpx2.ASGITransport(app), base_url="http://localhost"
        ) as client:
            return await client.post(
                "/v1/recall/batch", json={"questions": [{"n": n} for n in range(AT_ONCE * 3)]}
            )

    answer = asyncio.run(post())
    assert answer.status_code == 200, answer.text
    assert [each["answer"]["warnings"] for each in answer.json()["answers"]] == [
        [str(n)] for n in range(AT_ONCE * 3)
    ]
    assert most == AT_ONCE
