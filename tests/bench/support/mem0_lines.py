"""Answers JSON lines with mem0: the environment that runs this file holds mem0, and nothing of Cardlog.

    python mem0_lines.py <PostgreSQL> <embedding server> <model> <dimension>

A line with ``text`` adds a memory as it is, without a language model. A line with ``query`` gets the turn ids of the
memories found, the best first. mem0 prints notices, so the answers have a stream of their own.
"""

import json
import os
import sys


def main() -> None:
    from mem0 import Memory  # type: ignore[import-not-found]

    database, embedding, model, dimension = sys.argv[1:]
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    store = {"connection_string": database, "embedding_model_dims": int(dimension)}
    server = {"openai_base_url": embedding, "model": model, "api_key": "none"}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "pgvector", "config": store},
            "embedder": {"provider": "openai", "config": server | {"embedding_dims": int(dimension)}},
            "llm": {"provider": "openai", "config": {"api_key": "none"}},
        }
    )
    for line in sys.stdin:
        asked, found = json.loads(line), []
        if "text" in asked:
            memory.add(
                asked["text"],
                user_id=asked["user_id"],
                metadata={"turn_id": asked["turn_id"]},
                infer=False,
            )
        else:
            results = memory.search(asked["query"], filters={"user_id": asked["user_id"]}, top_k=asked["k"])
            found = [each["metadata"]["turn_id"] for each in results["results"]]
        answers.write(json.dumps(found) + "\n")


if __name__ == "__main__":
    main()
