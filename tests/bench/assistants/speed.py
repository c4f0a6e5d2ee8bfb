"""Measures what the ways of an assistant to the memory cost beyond the memory's own answer.

    PYTHONPATH=. python tests/bench/assistants/speed.py [hook] [mcp] [proxy]

``hook``: the hook of a prompt, which also pushes it, beside /v1/context. ``mcp``: the tool ``recall`` beside
/v1/recall. Both are asked in turn by one client over 200 cards of one user, on a stack that ``cardlog up`` starts.
``proxy``: the first byte of a stream beyond the model and the memory, which are loopback servers that answer at once,
the memory with a context of 8 KiB. All of them are in this process.
"""

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx2

from retrieval.context.token_estimate import count_tokens
from tests.bench.support.stack import measured_stack
from tests.bench.support.timing import timed, told
from tests.support.proxy.proxying import CHAT, golden, modelling, proxied
from tests.support.stack import Running

USER, ROUNDS = "ada", 300
CITIES = ("Lisbon", "Oslo", "Bern", "Rome", "Riga", "Turin", "Ghent", "Porto")
HISTORY = [{"role": role, "content": "words " * 200} for role in ("user", "assistant") * 20]
Ask = Callable[[str, dict[str, Any]], float]
"""Posts a body to a path, and returns the milliseconds."""


def compared(name: str, floors: Mapping[str, Callable[[int], float]], work: Callable[[int], float]) -> None:
    """Measures the floors and the work in turn, and prints what the work adds to the floors, round by round."""
    rounds = [[*(each(number) for each in floors.values()), work(number)] for number in range(ROUNDS)]
    for title, times in zip((*floors, name), zip(*rounds, strict=True), strict=True):
        told(title, times)
    told(f"{name} over {' and '.join(floors)}", [last - sum(before) for *before, last in rounds])


def question(number: int) -> str:
    return f"who was with me in {CITIES[number % 8]}, number {number}?"


def hook(post: Ask) -> None:
    asked = {"user_id": USER, "token_budget": 2000, "session_id": "bench"}
    event = {"hook_event_name": "UserPromptSubmit", "session_id": "bench"}
    url = f"/v1/hooks/claude-code?user_id={USER}"
    compared(
        "hook",
        {"context": lambda number: post("/v1/context", asked | {"query": question(number)})},
        lambda number: post(url, event | {"prompt": question(number)}),
    )


def mcp(post: Ask) -> None:
    def call(number: int) -> float:
        params = {"name": "recall", "arguments": {"query": question(number)}}
        body = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
        return post(f"/mcp/?user_id={USER}", body)

    asked = {"user_id": USER, "k": 10}
    floor = {"recall": lambda number: post("/v1/recall", asked | {"query": question(number)})}
    compared("tool", floor, call)


def over_a_stack(running: Running, chosen: list[str]) -> None:
    headers = running.headers | {"accept": "application/json"}
    with httpx2.Client(timeout=60, headers=headers, base_url=running.read_url) as http:
        turns = [
            {"user_id": USER, "text": f"I visited {CITIES[n % 8]} with colleague number {n}.", "turn_id": f"t{n}"}
            for n in range(100)
        ]  # fmt: skip
        http.post(f"{running.write_url}/v1/turns", json=turns).raise_for_status()
        running.wait(within_s=300)
        last = [""]

        def post(path: str, body: dict[str, Any]) -> float:
            began = time.perf_counter()
            last[0] = http.post(path, json=body).raise_for_status().text
            return (time.perf_counter() - began) * 1000

        if "hook" in chosen:
            hook(post)
        if "mcp" in chosen:
            mcp(post)
            print(f"a result of ten cards: {count_tokens(last[0])} tokens")


def proxy() -> None:
    conversation = [*HISTORY, {"role": "user", "content": "Where do I live?"}]
    with (
        modelling() as model,
        modelling() as memory,
        proxied(model, write_url=memory.url, read_url=memory.url, key="", proxy_deadline_ms=30_000) as url,
        httpx2.Client(timeout=60, headers={"x-cardlog-user": USER}) as http,
    ):
        model.streams(golden(CHAT))
        blocks = [{"name": "core"}, {"name": "memory"}]
        memory.answers({"text": f"<memory>{'x' * 8192}</memory>", "blocks": blocks, "cards": []})

        def first_byte(place: str) -> float:
            began = time.perf_counter()
            with http.stream("POST", f"{place}{CHAT}", json=body) as answer:
                chunks = answer.iter_raw()
                next(chunks)
                took = (time.perf_counter() - began) * 1000
                for _ in chunks:
                    pass
            return took

        def remembered(_: int) -> float:
            return timed(lambda: http.post(f"{memory.url}/v1/context", json=asked).raise_for_status())

        body = {"messages": conversation, "stream": True}
        asked = {"user_id": USER, "query": "Where do I live?"}
        floors = {"model": lambda _: first_byte(model.url), "memory": remembered}
        compared("model by the proxy", floors, lambda _: first_byte(url))


def main() -> None:
    chosen = sys.argv[1:] or ["hook", "mcp", "proxy"]
    if {"hook", "mcp"} & {*chosen}:
        with measured_stack() as running:
            over_a_stack(running, chosen)
    if "proxy" in chosen:
        proxy()


if __name__ == "__main__":
    main()
