"""Prints turns a second with vectors, beside the limit that the same run computes.

    CARDLOG_EVAL_DATA=<folder> python tests/bench/projectors/embedding_speed.py [--model NAME] [--seconds N]

Each round measures the embedder alone, all of Cardlog without a model (`hash`) and all of Cardlog with the model, on
the same turns, one after the other, with all cores. The limit is one turn after another through both:
1 / (1 / rest + lines / embedding), where `lines` are the texts to embed for a turn. The floor is one text a call, as
mem0 and Hindsight embed: the same graph, and all cores inside each call. A second floor is the graph of full precision.

Another job on the cores slows a round down and hardly changes its ratios, so the last column is the ratio of each
round, and the best number of all rounds is printed for the rest. Rounds begin until N seconds are over (150).
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psycopg

from events.platform.settings import variable_of
from events.types.cards import Utterance
from projectors.embedding.embedder import (
    DEFAULT_MODEL,
    HASH_MODEL,
    FastEmbedder,
    model_folders,
    open_embedder,
    usable_cores,
)
from projectors.embedding.passages import line_of
from tests.bench.support.locomo import push
from tests.bench.support.recall_data import locomo
from tests.bench.support.stack import eval_data
from tests.support.stack import Running, start, stop

Turns = Sequence[dict[str, str]]
_WARM = 20  # turns and texts before the first round, for models, statements and connections


@dataclass(frozen=True)
class Round:
    """Texts or turns a second of one round. ``lines`` are the texts that Cardlog embedded for each turn."""

    embedding: float
    one_by_one: float
    full_precision: float | None
    rest: float
    found: float
    lines: float

    @property
    def limit(self) -> float:
        return self.with_rest(self.embedding)

    def with_rest(self, texts_per_s: float) -> float:
        """Returns the turns a second of the rest and of an embedder, one after the other."""
        return 1 / (1 / self.rest + self.lines / texts_per_s)


def rate(count: int, work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return count / (time.perf_counter() - begun)


def one_text_a_call(folder: Path, model: str, file: str) -> Callable[[Sequence[str]], None]:
    """Returns an embedder as other memories use one: one text a call, and all cores inside the call."""
    from fastembed import TextEmbedding

    FastEmbedder(folder, model=model, file=file).embed(["registered"])
    embedder = TextEmbedding(
        f"{model}#{file}",
        cache_dir=str(folder),
        threads=usable_cores(),
        local_files_only=True,
        specific_model_path=str(folder),
    )

    def embed(texts: Sequence[str]) -> None:
        for text in texts:
            next(iter(embedder.embed([text], batch_size=1)))

    return embed


def embedded(running: Running) -> int:
    """Returns the number of texts that this Cardlog embedded so far."""
    with psycopg.connect(running.admin_database_url) as connection:
        [count] = connection.execute("SELECT count(*) FROM vector_cache.vectors").fetchone() or (0,)
        return int(count)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default=DEFAULT_MODEL)
    parser.add_argument("--turns", type=int, default=600, help="turns of a round")
    parser.add_argument("--seconds", type=float, default=150.0, help="no round begins after this time")
    options = parser.parse_args()
    path = eval_data("locomo", "locomo_dev.json")
    if path is None:
        return 0
    asked = locomo(path)
    embedder = open_embedder(options.model)
    folder = next(each for each in model_folders(options.model) if (each / "tokenizer.json").is_file())
    graph = "model_int8.onnx" if (folder / "model_int8.onnx").is_file() else "model.onnx"
    floor = one_text_a_call(folder, options.model, graph)
    full = (
        one_text_a_call(folder, options.model, "model.onnx")
        if graph != "model.onnx" and (folder / "model.onnx").is_file()
        else None
    )
    begun = time.monotonic()
    rounds: list[Round] = []
    questions: list[float] = []
    with tempfile.TemporaryDirectory(prefix="cardlog-embedding-") as place:
        stacks = [
            start(Path(place) / name, **{variable_of("embed_model"): model})
            for name, model in (("rest", HASH_MODEL), ("vectors", options.model))
        ]
        rest, vectors = stacks
        try:
            warm, left = asked.turns[:_WARM], asked.turns[_WARM:]
            texts = [line_of(Utterance(turn["text"], turn.get("speaker"))) for turn in warm]
            embedder.embed(texts)
            floor(texts[:3])
            if full is not None:
                full(texts[:3])
            for each in stacks:
                push(each, warm)
            while len(left) >= options.turns and (not rounds or time.monotonic() - begun < options.seconds):
                turns, left = left[: options.turns], left[options.turns :]
                rounds.append(measured(turns, embedder.embed, floor, full, rest, vectors))
                for question in asked.questions[len(questions) :][:100]:
                    asking = time.perf_counter()
                    embedder.embed_question(question.text)
                    questions.append((time.perf_counter() - asking) * 1000)
        finally:
            for each in stacks:
                stop(each)
    show(embedder.fingerprint, options.turns, rounds, questions, time.monotonic() - begun)
    return 0


def measured(
    turns: Turns,
    embed: Callable[[Sequence[str]], object],
    floor: Callable[[Sequence[str]], object],
    full: Callable[[Sequence[str]], object] | None,
    rest: Running,
    vectors: Running,
) -> Round:
    texts = [line_of(Utterance(turn["text"], turn.get("speaker"))) for turn in turns]
    few = texts[: max(1, len(texts) // 6)]
    before = embedded(vectors)
    return Round(
        embedding=rate(len(texts), lambda: embed(texts)),
        one_by_one=rate(len(few), lambda: floor(few)),
        full_precision=None if full is None else rate(len(few), lambda: full(few)),
        rest=len(turns) / push(rest, list(turns)),
        found=len(turns) / push(vectors, list(turns)),
        lines=(embedded(vectors) - before) / len(turns),
    )


def show(fingerprint: str, turns: int, rounds: Sequence[Round], questions: list[float], spent: float) -> None:
    def best(name: str, value: Callable[[Round], float], note: str = "") -> None:
        print(f"{name:<44}{max(map(value, rounds)):8.0f}{note}")

    print(
        f"{fingerprint}, {len(rounds)} rounds of {turns} turns in {spent:.0f} s, {usable_cores()} cores, load "
        f"{os.getloadavg()[0]:.1f}"
    )
    best("embedding alone, texts/s", lambda each: each.embedding)
    best("floor: one text a call, texts/s", lambda each: each.one_by_one)
    best("floor: with the rest, turns/s", lambda each: each.with_rest(each.one_by_one))
    if all(each.full_precision for each in rounds):
        best(
            "floor: full precision, with the rest, turns/s",
            lambda each: each.with_rest(each.full_precision or 1),
        )
    best("the rest alone, turns/s", lambda each: each.rest)
    best("the limit, turns/s", lambda each: each.limit)
    best("turns/s with vectors", lambda each: each.found)
    shares = [each.found / each.limit for each in rounds]
    print(
        f"of the limit, by round (goal .9){'':<12}{np.median(shares):8.2f}   "
        + " ".join(f"{share:.2f}" for share in shares)
    )
    p50, p95 = np.percentile(questions, 50), np.percentile(questions, 95)
    print(f"a question, ms p50 / p95 (goal 6){'':<11}{p50:8.1f} / {p95:.1f}")


if __name__ == "__main__":
    sys.exit(main())
