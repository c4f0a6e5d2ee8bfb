"""Asks Cardlog, mem0 and Hindsight the same questions about the same conversations, without a language model.

    CARDLOG_EVAL_DATA=<folder> python tests/bench/retrieval/peers.py [--peers build/peers] [--corrections FOLDER]

``tests/bench/peers.md`` says how the peers are installed, and what each of them is asked. One system runs at a time,
on a PostgreSQL of its own, and all embed with one server of one thread. The first size is one user for each
conversation of LoCoMo; the second is one user who said everything of LoCoMo, LifeBench and StateBench. A row is left
out with a reason when its system or data are missing.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from pathlib import Path
from statistics import fmean, median, quantiles

import httpx2
import psutil

from deploy.embedded.postgres import EmbeddedPostgres
from deploy.embedded.server import LOOPBACK, free_port
from events.platform.settings import variable_of
from events.types.cards import Utterance
from projectors.embedding.remote_embedder import RemoteEmbedder
from projectors.vectors.words import line_of
from tests.bench.retrieval.quality import CUTS, Answer, Place, floors, of_users, scores
from tests.bench.support.locomo import push
from tests.bench.support.recall_data import Asked, EvalSet, lifebench, locomo
from tests.bench.support.revision_data import statebench
from tests.bench.support.stack import eval_data, measured_stack
from tests.support.connections import serving
from tests.support.waiting import eventually

MODEL = "sentence-transformers/all-MiniLM-L6-v2"
"""Of the two models that `cardlog model fetch` builds, the one that wants no words before a text."""
CONVERSATIONS = ("26", "30", "41", "42", "43", "44", "47", "48", "49", "50")
"""The conversations of LoCoMo in the order in which the corrections number them."""
Turns = Sequence[Mapping[str, str]]
Corrections = Mapping[tuple[str, str], frozenset[str]]
_MOST = max(CUTS)
PATIENT = {"quarantine_over_ms": "100000"} | {
    f"{name}_deadline_ms": "20000" for name in ("semantic", "tags", "fuzzy", "time", "graph", "overlay")
}
"""Settings of a Cardlog that waits for every channel, as the peers do."""
HEADER = (
    "| system | R@5 R@10 R@20 | corrected | turns/s | CPU ms a turn | p50 ms | p95 ms | CPU ms | "
    "service, PostgreSQL, embedder |"
)
FLOORS = ("BM25", "dense", "RRF")
_WARM, _REST_S = 20, 40.0  # PostgreSQL makes the statistics of new tables meanwhile
_BATCH = 50


@dataclass
class System:
    """A memory: ``add`` returns when the turns can be found, and ``ask`` gives the turns behind each place."""

    add: Callable[[Turns], object]
    ask: Callable[[Asked], list[tuple[str, ...]]]
    inside: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    """milliseconds of its own parts, by their names"""


@contextmanager
def cardlog(embedding: str, _peers: Path) -> Iterator[System]:
    given = {"embed_url": embedding, "embed_model": MODEL} | PATIENT
    settings = {variable_of(name): value for name, value in given.items()}
    with measured_stack(**settings) as running, httpx2.Client(headers=running.headers) as client:

        def ask(question: Asked) -> list[tuple[str, ...]]:
            at = question.at.isoformat()
            body = {"user_id": question.user_id, "query": question.text, "k": _MOST, "as_of": at}
            answer = client.post(f"{running.read_url}/v1/recall", json=body).raise_for_status().json()
            for name, report in answer["channels"].items():
                part = name if report["status"] == "ok" else f"{name} {report['status']}"
                system.inside[part].append(report["ms"])
            return [tuple(card["turn_ids"]) for card in answer["cards"]]

        system = System(lambda turns: push(running, [dict(turn) for turn in turns]), ask)
        yield system


@contextmanager
def mem0(embedding: str, peers: Path) -> Iterator[System]:
    python, program = (
        _installed(peers / "mem0/bin/python"),
        Path(__file__).parents[1] / "support/mem0_lines.py",
    )
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedPostgres(Path(folder) / "postgres") as server,
        subprocess.Popen(
            [python, program, server.url, embedding, MODEL, "384"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env={"PATH": os.defpath, "HOME": folder, "MEM0_DIR": folder, "MEM0_TELEMETRY": "False"},
        ) as child,
    ):

        def exchange(line: Mapping[str, object]) -> list[str]:
            assert child.stdin is not None
            assert child.stdout is not None
            child.stdin.write(json.dumps(line) + "\n")
            child.stdin.flush()
            found: list[str] = json.loads(child.stdout.readline())
            return found

        def ask(question: Asked) -> list[tuple[str, ...]]:
            asked = {"user_id": question.user_id, "query": question.text, "k": _MOST}
            return [(turn,) for turn in exchange(asked)]

        yield System(lambda turns: [exchange({**turn, "text": _line(turn)}) for turn in turns], ask)


@contextmanager
def hindsight(embedding: str, peers: Path) -> Iterator[System]:
    program = _installed(peers / "hindsight/bin/hindsight-api")
    with (
        tempfile.TemporaryDirectory() as folder,
        EmbeddedPostgres(Path(folder) / "postgres") as server,
    ):
        port = free_port()
        settings = {
            "DATABASE_URL": server.url,
            "LLM_PROVIDER": "none",
            "RERANKER_PROVIDER": "rrf",
            "EMBEDDINGS_PROVIDER": "openai",
            "EMBEDDINGS_OPENAI_BASE_URL": embedding,
            "EMBEDDINGS_OPENAI_MODEL": MODEL,
            "EMBEDDINGS_OPENAI_API_KEY": "none",
        }
        with (
            Path(folder, "log").open("w") as log,
            subprocess.Popen(
                [program, "--host", LOOPBACK, "--port", str(port)],
                stdout=log,
                stderr=log,
                env={"PATH": os.defpath, "HOME": folder}
                | {f"HINDSIGHT_API_{name}": value for name, value in settings.items()},
            ) as process,
            httpx2.Client(base_url=f"http://{LOOPBACK}:{port}/v1/default/banks", timeout=600) as client,
        ):

            def add(turns: Turns) -> None:
                for start in range(0, len(turns), _BATCH):
                    some = turns[start : start + _BATCH]
                    items = [
                        {"content": _line(turn), "timestamp": turn["said_at"], "document_id": turn["turn_id"]}
                        for turn in some
                    ]
                    body = {"items": items, "async": False}
                    client.post(f"{some[0]['user_id']}/memories", json=body).raise_for_status()

            def ask(question: Asked) -> list[tuple[str, ...]]:
                body = {
                    "query": question.text,
                    "query_timestamp": question.at.isoformat(),
                    "max_tokens": 8192,
                }
                answer = client.post(f"{question.user_id}/memories/recall", json=body).raise_for_status()
                return [(each["document_id"],) for each in answer.json()["results"][:_MOST]]

            def started() -> bool:
                with suppress(httpx2.TransportError):
                    return client.get(f"http://{LOOPBACK}:{port}/health").is_success
                return False

            try:
                eventually(started, within=600)
                yield System(add, ask)
            finally:
                process.terminate()


SYSTEMS = {"Cardlog": cardlog, "mem0": mem0, "Hindsight": hindsight}


def _installed(program: Path) -> Path:
    if not program.exists():
        raise FileNotFoundError(f"no {program}; tests/bench/peers.md says how to install it")
    return program.absolute()


def _line(turn: Mapping[str, str]) -> str:
    return line_of(Utterance(turn["text"], turn.get("speaker")))


def spent(embedder: int) -> dict[str, float]:
    """Milliseconds of processor time of all processes that this one started, and of their ended children."""
    found: dict[str, float] = defaultdict(float)
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            name = process.name()
            part = "PostgreSQL" if name.startswith("postgres") else "service"
            found["embedder" if process.pid == embedder else part] += 1000 * sum(process.cpu_times()[:4])
    return found


def measure(name: str, system: System, asked: EvalSet, embedder: int) -> tuple[str, list[Answer]]:
    """Adds the turns and asks the questions. Returns the columns of speed, and the answers.

    The processor time of a recall is without what the system takes in the same time while nobody asks.
    """
    began, loaded = time.monotonic(), os.getloadavg()[0]
    by_user: dict[str, list[dict[str, str]]] = defaultdict(list)
    for turn in asked.turns:
        by_user[turn["user_id"]].append(turn)
    empty = sum(spent(embedder).values())
    for turns in by_user.values():
        system.add(turns)
    rate, adding = len(asked.turns) / (time.monotonic() - began), sum(spent(embedder).values()) - empty
    for question in asked.questions[:_WARM]:
        system.ask(replace(question, text=f"Please tell me: {question.text}"))  # no vector is made in advance
    system.inside.clear()
    resting = spent(embedder)
    time.sleep(_REST_S)
    before, times, answers = spent(embedder), [], []
    for question in asked.questions:
        began = time.perf_counter()
        found = system.ask(question)
        times.append((time.perf_counter() - began) * 1000)
        answers.append([Place(turns, "") for turns in found])
    after, share = spent(embedder), sum(times) / 1000 / _REST_S
    each = [
        (after[part] - before[part] - share * (before[part] - resting[part])) / len(answers)
        for part in ("service", "PostgreSQL", "embedder")
    ]
    cuts = quantiles(times, n=100, method="inclusive")
    if system.inside:
        parts = ", ".join(f"{part} {median(ms):.1f}" for part, ms in system.inside.items())
        print(f"{name}, ms of its channels at p50: {parts}; load {loaded:.1f} to {os.getloadavg()[0]:.1f}")
    columns = (
        f"{rate:.0f} | {adding / len(asked.turns):.1f} | {cuts[49]:.1f} | {cuts[94]:.1f} | {sum(each):.1f} | "
    )
    columns += " ".join(f"{ms:.1f}" for ms in each)
    return columns, answers


def show(name: str, asked: EvalSet, answers: Sequence[Answer], right: Corrections, columns: str) -> None:
    """Prints the row of a system."""
    cells = []
    for evidence in ({}, right) if right else ({},):
        rows = [
            scores(replace(question, evidence=evidence.get(_key(question), question.evidence)), answer)
            for question, answer in zip(asked.questions, answers, strict=True)
        ]
        cells.append(" ".join(f"{fmean(row[f'R@{cut}'] for row in rows):.3f}" for cut in CUTS))
    print(f"| {name} | {' | '.join(cells if right else [*cells, ''])} | {columns} |", flush=True)


def _key(question: Asked) -> tuple[str, str]:
    """The conversation and the text of a question of LoCoMo."""
    return next(iter(question.evidence)).partition("/")[0], question.text


def corrections(folder: Path) -> Corrections:
    """Returns the evidence of the questions whose citation the audit of LoCoMo changes; empty without its files."""
    found = {}
    for number, conversation in enumerate(CONVERSATIONS):
        path = folder / f"errors_conv_{number}.json"
        for row in json.loads(path.read_text("utf-8")) if path.exists() else ():
            user = f"conv-{conversation}"
            turns = frozenset(f"{user}/{turn}" for turn in row["correct_evidence"])
            found[user, row["question"]] = turns
    return found


def named(asked: EvalSet, user: str | None) -> EvalSet:
    """The set with turn and session ids that no two users share, all of one user if that one is named."""

    def turn_of(turn: dict[str, str]) -> dict[str, str]:
        own = turn["user_id"]
        ids = {name: f"{own}/{turn[name]}" for name in ("turn_id", "session_id") if name in turn}
        return turn | ids | {"user_id": user or own}

    return EvalSet(
        asked.name,
        [turn_of(turn) for turn in asked.turns],
        [
            replace(
                each,
                user_id=user or each.user_id,
                evidence=frozenset(f"{each.user_id}/{turn}" for turn in each.evidence),
            )
            for each in asked.questions
        ],
    )


def sizes(users: int | None, most_turns: int) -> Iterator[tuple[str, EvalSet]]:
    """One user for each conversation of LoCoMo, and one user who said all of it and then what other sets tell."""
    if not (path := eval_data("locomo", "locomo_dev.json")):
        return
    talks = of_users(locomo(path), users)
    people = {turn["user_id"] for turn in talks.turns}
    yield f"{len(talks.turns) / len(people):,.0f} turns of each of {len(people)} users", named(talks, None)
    others = [(lifebench, eval_data("lifebench_zh")), (statebench, eval_data("statebench"))]
    if most_turns and all(folder for _, folder in others):
        whole = named(talks, "all")
        more = [turn for load, folder in others if folder for turn in named(load(folder), "all").turns]
        turns = [*whole.turns, *more][:most_turns]
        last = max(datetime.fromisoformat(turn["said_at"]) for turn in turns)
        asked = [replace(question, at=last) for question in whole.questions]
        yield f"{len(turns):,} turns of one user", EvalSet("locomo", turns, asked)


def _some(asked: EvalSet, questions: int) -> EvalSet:
    """The set with about so many of its questions, evenly spread; 0: all."""
    step = max(1, len(asked.questions) // questions) if questions else 1
    return replace(asked, questions=asked.questions[::step])


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    audit = Path(os.environ.get("CARDLOG_EVAL_DATA", ""), "locomo")
    parser.add_argument("--peers", type=Path, default=Path("build/peers"))
    parser.add_argument("--systems", nargs="+", choices=SYSTEMS, default=list(SYSTEMS))
    parser.add_argument("--corrections", type=Path, default=audit, help="a folder with errors_conv_0.json …")
    parser.add_argument("--questions", type=int, default=0, help="about so many, evenly spread; 0: all")
    parser.add_argument("--users", type=int, help="only so many conversations")
    parser.add_argument("--turns", type=int, default=10_000, help="turns of the second size; 0: left out")
    options = parser.parse_args()
    right = corrections(options.corrections)
    if not right:
        print("corrected evidence: left out, because --corrections names no folder with the audit of LoCoMo")
    for title, given in sizes(options.users, options.turns):
        asked = _some(given, options.questions)
        changed = sum(_key(question) in right for question in asked.questions)
        print(f"\n{title}, {len(asked.questions)} questions, {changed} with corrected evidence\n")
        print(HEADER + "\n" + "|---" * HEADER.count(" | ") + "|---|")
        one_thread = {"CARDLOG_EMBED_MODEL": MODEL, "CARDLOG_EMBED_THREADS": "1", "CARDLOG_AUDIT": "off"}
        with serving("embed", "", **one_thread) as url:
            [embedder] = (child.pid for child in psutil.Process().children())
            for name in options.systems:
                try:
                    with SYSTEMS[name](f"{url}/v1", options.peers) as system:
                        columns, answers = measure(name, system, asked, embedder)
                except (FileNotFoundError, AssertionError, httpx2.HTTPError) as error:
                    print(f"{name}: left out: {error!r}", flush=True)
                    continue
                show(name, asked, answers, right, columns)
            model = RemoteEmbedder(f"{url}/v1", MODEL)
            alone = []
            for question in asked.questions[:100]:
                began = time.perf_counter()
                model.embed_question(question.text)
                alone.append((time.perf_counter() - began) * 1000)
            found = floors(asked, model.embed, model.embed_question)
            for name in FLOORS:
                show(name, asked, [each[name] for each in found], right, " | | | | |")
            print(f"embedding of a question alone: {median(alone):.1f} ms at p50")
    return 0


if __name__ == "__main__":
    sys.exit(main())
