"""Five modes with three models in one memory of a whole Cardlog: turns find their mode, questions their cards."""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from cardlog_client import AsyncClient, Client, RefusedError
from events.platform.database import connect
from events.platform.settings import variable_of
from tests.support.ingest.messages_api import MessagesApi, Request, Trouble, calls
from tests.support.stack import Running, start, stop
from tests.support.waiting import eventually
from tests.support.web import WEB

MODES = {
    "code": ("hash-768", "programming, servers and deployments"),
    "research": ("hash-768", "studies, papers and statistics"),
    "journal": ("hash-1024", "feelings, moods, reflections"),
    "family": ("", "relatives and what is done with them"),
}
SERVER = "The deploy target of the staging service is the cluster in Frankfurt."
MOOD = "Tonight my deploy target is the sofa, I feel empty and slow."
ERRAND = "Please pick up coffee beans on the way home."
REPLY = "Yes, do that with the second one."
SAID = (
    (SERVER, "code"),
    (ERRAND, "general"),
    ("I wrote two rollback scripts for the staging service, one for each region.", "code"),
    (REPLY, "code"),
    (MOOD, "journal"),
    ("My sister Mia turns thirty in June.", "family"),
    ("The paper on sleep used a sample of forty adults.", "research"),
)
WORKED = "The build step number {} of the staging service writes its log to the disk."
STEPS = 300


def model(request: Request) -> Trouble:
    """Reads modes as the prompt asks: a reply has the mode of the turn before it, which stands in the prompt."""
    meant = dict(SAID)
    recent = re.search("<recent_modes>(.*?)</recent_modes>", request.question)
    thread = recent[1].rpartition(", ")[2] if recent else None
    read = []
    for number, text in enumerate(request.turns, 1):
        thread = thread if text == REPLY else meant.get(text)
        read.append({"turn": number, "mode": thread})
    return calls({"states": [], "events": [], "knowledge": [], "modes": read})


@dataclass
class Memory:
    """Ada's memory in a whole Cardlog."""

    running: Running

    def send(self, method: str, path: str, **body: Any) -> Any:
        answer = WEB.request(
            method, f"{self.running.write_url}{path}", json={"user_id": "ada", **body}, headers=self.running.headers
        )  # fmt: skip
        assert answer.status_code in (200, 202), answer.text
        return answer.json()

    def say(self, text: str, **more: str) -> None:
        self.send("POST", "/v1/turns", text=text, session_id="work", **more)

    def ask(self, query: str, **more: Any) -> dict[str, Any]:
        return self.running.recall("ada", query, **more)

    def found(self, query: str, **more: Any) -> list[tuple[str, str]]:
        return [(card["content"], card["mode"]) for card in self.ask(query, **more)["cards"]]

    def progress(self, name: str) -> dict[str, Any]:
        answer = WEB.get(
            f"{self.running.read_url}/v1/modes/{name}/reembed",
            params={"user_id": "ada"},
            headers=self.running.headers,
        )
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def models(self) -> dict[str, int]:
        parts = " UNION ALL ".join(f"SELECT model FROM vectors.card_vectors_{n}" for n in (384, 768, 1024))
        query = f"SELECT split_part(model, '@', 1), count(*) FROM ({parts}) v GROUP BY 1"
        with connect(self.running.admin_database_url, application="test") as connection:
            return dict(connection.execute(query.encode()).fetchall())


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    with MessagesApi() as api:
        api.trouble = model
        running = start(
            tmp_path_factory.mktemp("modes") / "data",
            ANTHROPIC_BASE_URL=api.url,
            ANTHROPIC_API_KEY="key-of-the-test",
            **{
                variable_of("embed_model"): "hash",
                # A busy machine misses no deadline.
                variable_of("semantic_deadline_ms"): "10000",
                variable_of("quarantine_over_ms"): "60000",
            },
        )
        memory = Memory(running)
        for name, (embedder, description) in MODES.items():
            memory.send("PUT", f"/v1/modes/{name}", embedder=embedder, description=description)
        for text, _ in SAID:
            memory.say(text)
            running.wait()
        yield memory
        assert stop(running) == 0


def test_five_modes_have_three_models(memory: Memory) -> None:
    assert memory.models() == {"hash": 2, "hash-768": 4, "hash-1024": 1}


def test_each_turn_has_the_mode_that_its_words_belong_to(memory: Memory) -> None:
    for text, mode in SAID:
        assert (text, mode) in memory.found(text, mode=mode), mode


def test_the_deploy_target_is_a_server_in_code_and_a_mood_in_the_journal(memory: Memory) -> None:
    question = "what is the deploy target?"
    code, journal = memory.ask(question, mode="code"), memory.ask(question, mode="journal")
    assert code["cards"][0]["content"] == SERVER
    assert {card["mode"] for card in code["cards"]} == {"code"}
    assert [card["content"] for card in journal["cards"]] == [MOOD]
    assert code["warnings"] == journal["warnings"] == []


def test_an_errand_in_the_middle_of_a_code_session_is_no_code(memory: Memory) -> None:
    assert ERRAND in dict(memory.found("pick up coffee", mode="general"))
    assert ERRAND not in dict(memory.found("pick up coffee", mode="code"))


def test_a_reply_keeps_the_mode_of_its_thread(memory: Memory) -> None:
    assert (REPLY, "code") in memory.found("do that with the second one", mode="code")


def test_a_question_in_all_modes_is_warned_about_its_ranks(memory: Memory) -> None:
    answer = memory.ask("what is the deploy target?", modes="all")
    assert {SERVER, MOOD} <= {card["content"] for card in answer["cards"]}
    [warning] = answer["warnings"]
    assert "joined by rank" in warning


def test_no_recall_fails_while_a_mode_is_embedded_again(memory: Memory) -> None:
    key = {"Authorization": memory.running.headers["Authorization"]}
    for begin in range(0, STEPS, 100):
        turns = [
            {"user_id": "ada", "session_id": f"b{number}", "mode": "code", "text": WORKED.format(number)}
            for number in range(begin, begin + 100)
        ]
        assert WEB.post(f"{memory.running.write_url}/v1/turns", json=turns, headers=key).status_code == 202
    memory.running.wait()
    before = memory.models()
    assert before["hash-768"] == STEPS + 4
    memory.send("PUT", "/v1/modes/code", embedder="hash-1024")
    plan = memory.send("POST", "/v1/modes/code/reembed", dry_run=True)
    assert (plan["state"], plan["other"], plan["model_calls"]) == ("planned", STEPS + 3, 0)
    assert plan["seconds"] is not None
    assert memory.models() == before
    answers: list[tuple[int, str, int]] = []
    over = threading.Event()

    def recall(more: dict[str, Any]) -> None:
        while not over.is_set():
            body = {"user_id": "ada", "query": "which build step writes its log?", "k": 20, **more}
            answer = WEB.post(f"{memory.running.read_url}/v1/recall", json=body, headers=key)
            told: dict[str, Any] = (
                answer.json() if answer.status_code == 200 else {"channels": {"semantic": {"status": ""}}}
            )
            by_meaning = sum("semantic" in card["channels"] for card in told.get("cards", []))
            answers.append((answer.status_code, told["channels"]["semantic"]["status"], by_meaning))

    kinds: list[dict[str, Any]] = [{"mode": "code"}, {"modes": "all"}, {}]
    threads = [threading.Thread(target=recall, args=(more,), daemon=True) for more in kinds]
    for thread in threads:
        thread.start()
    try:
        eventually(lambda: len(answers) >= 6)
        asked = memory.send("POST", "/v1/modes/code/reembed")
        assert asked["state"] == "accepted"
        seen = {frozenset(memory.models().items())}

        def done() -> bool:
            seen.add(frozenset(memory.models().items()))
            return bool(memory.progress("code")["state"] == "done")

        eventually(done, within=90)
        so_far = len(answers)
        eventually(lambda: len(answers) >= so_far + 6)
    finally:
        over.set()
        for thread in threads:
            thread.join(30)
    assert {status for status, _, _ in answers} == {200}
    assert {told for _, told, _ in answers} == {"ok"}
    assert all(by_meaning for _, _, by_meaning in answers)
    after = {"hash": 2, "hash-768": 1, "hash-1024": STEPS + 4}
    assert seen <= {frozenset(before.items()), frozenset(after.items())}, "one transaction swaps all vectors"
    assert memory.models() == after
    assert memory.found("what is the deploy target?", mode="code")[0] == (SERVER, "code")


def test_both_clients_embed_modes_again(memory: Memory) -> None:
    running = memory.running
    urls, key = (running.write_url, running.read_url), running.administrator["Authorization"].split()[-1]
    with Client(*urls, api_key=running.key) as client:
        client.declare_mode("bo", "code", embedder="hash-768", description="programming")
        pushed = client.push(
            [{"user_id": "bo", "text": "The build is green.", "mode": "code", "turn_id": "1"}]
        )
        assert pushed["turn_ids"] == ["1"]
        running.wait()
        assert client.reembed_mode("bo", "code")["state"] == "unneeded"
        client.declare_mode("bo", "code", embedder="hash-1024")
        plan = client.reembed_mode("bo", "code", dry_run=True)
        assert (plan["state"], plan["other"], plan["embedder"]) == ("planned", 1, "hash-1024")
        asked = client.reembed_mode("bo", "code")
        assert asked["state"] == "accepted"
        eventually(lambda: client.reembedding_progress("bo", "code")["state"] == "done")
        assert client.reembedding_progress("bo", "code")["reembedding_id"] == asked["reembedding_id"]
        with pytest.raises(RefusedError, match="scope admin") as refused:
            client.reembed_mode(None, "general", dry_run=True)
        assert refused.value.status == 403
        with pytest.raises(RefusedError) as missing:
            client.reembed_mode("bo", "kode")
        assert (missing.value.status, missing.value.field) == (404, "name")
    with Client(*urls, api_key=key) as administrator:
        assert administrator.reembed_mode(None, "general", dry_run=True)["state"] == "planned"
        assert administrator.reembed_mode(None, "general")["state"] == "unneeded"
        assert administrator.reembedding_progress(None, "general")["state"] == "none"

    async def beside() -> None:
        async with AsyncClient(*urls, api_key=running.key) as client:
            await client.declare_mode("bo", "code", embedder="hash-768")
            plan = await client.reembed_mode("bo", "code", dry_run=True)
            assert (plan["state"], plan["other"], plan["embedder"]) == ("planned", 1, "hash-768")
            assert (await client.reembedding_progress("bo", "code"))["state"] == "done"
        async with AsyncClient(*urls, api_key=key) as administrator:
            assert (await administrator.reembed_mode(None, "general"))["state"] == "unneeded"
            assert (await administrator.reembedding_progress(None, "general"))["state"] == "none"

    asyncio.run(beside())
