"""Measures the tool ``recall`` of MCP beside /v1/recall with the same question, on a stack of ``cardlog up``.

Both are asked in turn by one client over 200 cards of one user. The size of a result is printed beside its time.
"""

import httpx2

from retrieval.context.token_estimate import count_tokens
from tests.bench.assistants.hook_speed import CITIES, ROUNDS, USER, filled, measured, told
from tests.bench.support.stack import measured_stack


def main() -> None:
    accept = {"accept": "application/json"}
    with measured_stack() as running, httpx2.Client(timeout=60, headers=running.headers | accept) as http:
        filled(running, http)
        recall, tool = [], []
        text = ""
        for number in range(ROUNDS):
            question = f"who was with me in {CITIES[number % 8]}, number {number}?"
            asked = {"user_id": USER, "query": question, "k": 10}
            recall.append(measured(http, f"{running.read_url}/v1/recall", asked))
            params = {"name": "recall", "arguments": {"query": question}}
            call = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            tool.append(measured(http, f"{running.read_url}/mcp/", call, user_id=USER))
            if not number:
                text = http.post(f"{running.read_url}/mcp/", json=call, params={"user_id": USER}).text
        told("recall", recall)
        told("tool", tool)
        told("tool over recall", [t - r for t, r in zip(tool, recall, strict=True)])
        print(f"a result of ten cards: {count_tokens(text)} tokens")


if __name__ == "__main__":
    main()
