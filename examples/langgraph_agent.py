"""A graph of LangGraph whose nodes share the items of one user: one node notes, the other one looks them up.

Run it beside `cardlog up --data data`, with the packages of `pip install 'cardlog[langgraph]' langgraph`:

    python examples/langgraph_agent.py data/ready.json
"""

import json
import sys
from typing import TypedDict

from langgraph.graph import END, START, StateGraph
from langgraph.store.base import BaseStore

from cardlog_client import Client
from cardlog_client.langgraph_store import CardlogStore


class Talk(TypedDict):
    """The state of the graph."""

    message: str
    answer: str


def note(talk: Talk, *, store: BaseStore) -> dict:
    """Keeps the message. A real agent would let its model decide what to keep."""
    store.put(("lee", "notes"), str(abs(hash(talk["message"]))), {"text": talk["message"]})
    return {}


def answer(talk: Talk, *, store: BaseStore) -> dict:
    """Answers with the best note for the message."""
    [best, *_] = store.search(("lee",), query=talk["message"], limit=1)
    return {"answer": best.value["text"]}


def main(ready_file: str) -> None:
    with open(ready_file, encoding="utf-8") as file:
        addresses = json.load(file)
    with open(addresses["key_file"], encoding="utf-8") as file:
        key = file.read().split()[-1]
    graph = StateGraph(Talk)
    graph.add_node("note", note)
    graph.add_node("answer", answer)
    graph.add_conditional_edges(START, lambda talk: "answer" if talk["message"].endswith("?") else "note")
    graph.add_edge("note", END)
    graph.add_edge("answer", END)
    with Client(addresses["write_url"], addresses["read_url"], api_key=key) as memory:
        # Each first label of a namespace is a user of Cardlog, with a history and an erasure of one's own.
        store = CardlogStore(memory, lambda namespace: f"example-{namespace[0]}")
        agent = graph.compile(store=store)
        for message in (
            "The ferry to Bergen leaves at seven.",
            "My sister plays chess.",
            "When does the ferry leave?",
        ):
            talk = agent.invoke({"message": message, "answer": ""})
        print(talk["answer"])


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "data/ready.json")
