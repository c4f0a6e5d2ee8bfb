"""Measures what the proxy adds to the first byte of a stream beyond the recall.

The model and the memory are loopback servers that answer at once, the memory with a context of 8 KiB. One client asks
in turn: the model, the memory, and the model by the proxy, which asks both. All of them are in this process.
"""

import time

import httpx2

from tests.bench.assistants.hook_speed import told
from tests.support.proxy.proxying import CHAT, Model, golden, modelling, proxied

ROUNDS = 300
HISTORY = [{"role": role, "content": "words " * 200} for role in ("user", "assistant") * 20]


def prompt() -> dict[str, object]:
    """The answer of the memory, as far as the proxy reads it."""
    blocks = [{"name": "core"}, {"name": "memory"}]
    return {"text": "<memory>" + "x" * 8192 + "</memory>", "blocks": blocks, "cards": []}


def first_byte(http: httpx2.Client, url: str) -> float:
    """Returns the milliseconds to the first byte of a stream about a conversation of 48 KiB."""
    body = {"messages": [*HISTORY, {"role": "user", "content": "Where do I live?"}], "stream": True}
    began = time.perf_counter()
    with http.stream("POST", f"{url}{CHAT}", json=body, headers={"x-cardlog-user": "ada"}) as answer:
        chunks = answer.iter_raw()
        next(chunks)
        took = (time.perf_counter() - began) * 1000
        for _ in chunks:
            pass
    return took


def asked(http: httpx2.Client, memory: Model) -> float:
    """Returns the milliseconds of the answer of the memory."""
    began = time.perf_counter()
    http.post(
        f"{memory.url}/v1/context", json={"user_id": "ada", "query": "Where do I live?"}
    ).raise_for_status()
    return (time.perf_counter() - began) * 1000


def main() -> None:
    with (
        modelling() as model,
        modelling() as memory,
        proxied(model, write_url=memory.url, read_url=memory.url, key="", proxy_deadline_ms=30_000) as proxy,
        httpx2.Client(timeout=60) as http,
    ):
        model.streams(golden(CHAT))
        memory.answers(prompt())
        direct, recall, proxies = [], [], []
        for _ in range(ROUNDS):
            direct.append(first_byte(http, model.url))
            recall.append(asked(http, memory))
            proxies.append(first_byte(http, proxy))
        told("model", direct)
        told("memory", recall)
        told("model by the proxy", proxies)
        told("proxy alone", [p - c - d for p, c, d in zip(proxies, recall, direct, strict=True)])


if __name__ == "__main__":
    main()
