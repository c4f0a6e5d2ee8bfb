"""Measures the hook of a prompt beside /v1/context with the same question, on a stack that ``cardlog up`` starts.

Both are asked in turn by one client over 200 cards of one user. The hook also pushes the prompt as a turn.
"""

import statistics
import time
from typing import Any

import httpx2

from tests.bench.support.stack import measured_stack
from tests.support.stack import Running

USER, ROUNDS = "ada", 300
CITIES = ("Lisbon", "Oslo", "Bern", "Rome", "Riga", "Turin", "Ghent", "Porto")


def filled(running: Running, http: httpx2.Client) -> None:
    """Pushes turns that become about 200 cards."""
    turns = [
        {"user_id": USER, "text": f"I visited {CITIES[n % 8]} with colleague number {n}.", "turn_id": f"t{n}"}
        for n in range(100)
    ]
    http.post(f"{running.write_url}/v1/turns", json=turns).raise_for_status()
    running.wait(within_s=300)


def measured(http: httpx2.Client, url: str, body: dict[str, Any], **params: str) -> float:
    began = time.perf_counter()
    http.post(url, json=body, params=params).raise_for_status()
    return (time.perf_counter() - began) * 1000


def told(name: str, times: list[float]) -> None:
    print(
        f"{name}: p50 {statistics.median(times):.1f} ms, p95 {sorted(times)[int(len(times) * 0.95)]:.1f} ms"
    )


def main() -> None:
    with measured_stack() as running, httpx2.Client(timeout=60, headers=running.headers) as http:
        filled(running, http)
        context, hook = [], []
        for number in range(ROUNDS):
            question = f"who was with me in {CITIES[number % 8]}, number {number}?"
            asked = {"user_id": USER, "query": question, "token_budget": 2000, "session_id": "bench"}
            context.append(measured(http, f"{running.read_url}/v1/context", asked))
            event = {"hook_event_name": "UserPromptSubmit", "session_id": "bench", "prompt": question}
            hook.append(measured(http, f"{running.read_url}/v1/hooks/claude-code", event, user_id=USER))
        told("context", context)
        told("hook", hook)
        told("hook over context", [h - c for h, c in zip(hook, context, strict=True)])


if __name__ == "__main__":
    main()
