"""Measures what the proxy adds to the first byte of a stream, beside the same recall and the same model.

A loopback model answers at once. One client asks in turn: the model, /v1/context, and the model by the proxy. The
memory has 200 cards of one user.
"""

from __future__ import annotations

import time

import httpx2

from tests.bench.assistants.hook_speed import CITIES, ROUNDS, USER, filled, told
from tests.bench.support.stack import measured_stack
from tests.support.proxy.proxying import CHAT, golden, modelling, proxied

DEADLINE_MS = 30_000  # a late context would be no wait


def first_byte(http: httpx2.Client, url: str, words: str) -> float:
    """Returns the milliseconds to the first byte of a stream."""
    body = {"messages": [{"role": "user", "content": words}], "stream": True}
    began = time.perf_counter()
    with http.stream("POST", f"{url}{CHAT}", json=body, headers={"x-cardlog-user": USER}) as answer:
        chunks = answer.iter_raw()
        next(chunks)
        took = (time.perf_counter() - began) * 1000
        for _ in chunks:
            pass
    return took


def main() -> None:
    with (
        measured_stack() as running,
        modelling() as model,
        proxied(
            model,
            write_url=running.write_url,
            read_url=running.read_url,
            key=running.key,
            proxy_deadline_ms=DEADLINE_MS,
        ) as proxy,
        httpx2.Client(timeout=60) as http,
        httpx2.Client(timeout=60, headers=running.headers) as memory,
    ):
        filled(running, memory)
        model.streams(golden(CHAT))
        direct, context, proxies = [], [], []
        for number in range(ROUNDS):
            question = f"who was with me in {CITIES[number % 8]}, number {number}?"
            direct.append(first_byte(http, model.url, question))
            began = time.perf_counter()
            asked = {"user_id": USER, "query": question, "token_budget": 2000}
            memory.post(f"{running.read_url}/v1/context", json=asked).raise_for_status()
            context.append((time.perf_counter() - began) * 1000)
            proxies.append(first_byte(http, proxy, question))
        told("model", direct)
        told("context", context)
        told("model by the proxy", proxies)
        rest = [p - c - d for p, c, d in zip(proxies, context, direct, strict=True)]
        told("proxy over context and model", rest)


if __name__ == "__main__":
    main()
