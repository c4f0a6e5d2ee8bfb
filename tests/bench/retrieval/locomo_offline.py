"""Measures the worth of each retrieval idea in memory: no database, no server, minutes instead of hours.

    CARDLOG_EVAL_DATA=<folder> python tests/bench/retrieval/locomo_offline.py [--chinese-only|--english-only]
    [--held-out]

English: `locomo/locomo_dev.json`, a user a conversation, a card a turn; evidence recall@5/@10/@20 over the
questions of every category, and recall@10 by category. The constants were chosen on the first two
conversations; `--held-out` reports the others alone. Chinese: `memdaily_zh` (all people of a file as one
user, recall@5/@10) and `lifebench_zh` (every record a card, recall@5/@10/@20).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from events.language.ngrams import grams, question_grams, similarity
from events.language.terms import question_terms
from events.types.cards import Utterance
from projectors.embedding.embedder import Embedder, EmbedderUnavailableError, Vectors, open_embedder
from projectors.embedding.passages import (
    CONTEXT_WEIGHTS,
    Passage,
    embed_passages,
    line_of,
)
from retrieval.query.question_forms import parse_question
from tests.bench.support.scoring import (
    Bm25,
    Channel,
    Scores,
    by_score,
    counts,
    passage_terms,
    ranks,
    reciprocal,
)

_EVIDENCE = re.compile(r"D:?(\d+):(\d+)")


@dataclass(frozen=True)
class Question:
    text: str
    evidence: frozenset[int]
    category: str


@dataclass(frozen=True)
class Corpus:
    """One user's cards and the questions about them."""

    passages: list[Passage]
    questions: list[Question]


# --- channels --------------------------------------------------------------------------------------------


def by_terms(documents: Sequence[dict[str, float]], weights: Callable[[str], dict[str, float]]) -> Channel:
    index = Bm25(documents)
    return lambda question: index.score(weights(question))


def plain_weights(question: str) -> dict[str, float]:
    return dict.fromkeys(question_terms(question), 1.0)


def asked_channel(documents: Sequence[dict[str, float]]) -> Channel:
    """Searches each part of the question by itself. A card gets its best rank of any part."""
    index = Bm25(documents)

    def channel(question: str) -> Scores:
        scores = [index.score(part.terms) for part in parse_question(question)]
        if len(scores) == 1:
            return scores[0]
        votes = [np.where(score > 0, 1 / ranks(score) + 1e-6 * score, 0.0) for score in scores]
        best: Scores = np.max(votes, axis=0)
        return best

    return channel


def by_vectors(vectors: Vectors, questions: dict[str, Vectors]) -> Channel:
    def channel(question: str) -> Scores:
        scores: Scores = (vectors @ questions[question]).astype(np.float64)
        return scores

    return channel


def by_grams(texts: Sequence[str]) -> Channel:
    cut = [grams(text) for text in texts]

    def channel(question: str) -> Scores:
        wanted = question_grams(question)
        return np.array([similarity(wanted, text) for text in cut])

    return channel


def joined(passage: Passage) -> str:
    """The alternative to adding vectors up: one long text, the card's own words first."""
    return " ".join(map(line_of, (passage.said, *passage.before[: len(CONTEXT_WEIGHTS)])))


# --- data ------------------------------------------------------------------------------------------------


def conversations(folder: Path) -> list[Corpus]:
    found = []
    for conversation in json.loads((folder / "locomo" / "locomo_dev.json").read_text("utf-8")):
        said: list[tuple[int, Utterance]] = []
        places: dict[str, int] = {}
        passages: list[Passage] = []
        for turn in conversation["turns"]:
            caption = f" [{turn['caption']}]" if turn.get("caption") else ""
            before = [utterance for session, utterance in said[-2:][::-1] if session == turn["session"]]
            utterance = Utterance(turn["text"] + caption, turn["speaker"])
            places[turn["dia_id"]] = len(passages)
            passages.append(Passage(utterance, tuple(before)))
            said.append((turn["session"], utterance))
        questions = []
        for question in conversation["qa"]:
            names = {f"D{a}:{b}" for text in question["evidence"] for a, b in _EVIDENCE.findall(str(text))}
            if evidence := frozenset(places[name] for name in names if name in places):
                questions.append(Question(question["question"], evidence, str(question["category"])))
        found.append(Corpus(passages, questions))
    return found


def messages(folder: Path) -> list[Corpus]:
    found = []
    for path in sorted((folder / "memdaily_zh").glob("*.json")):
        passages: list[Passage] = []
        questions = []
        for person in json.loads(path.read_text("utf-8")):
            places = {message["mid"]: len(passages) + i for i, message in enumerate(person["message_list"])}
            passages += [Passage(Utterance(message["message"])) for message in person["message_list"]]
            for question in person["question_list"]:
                evidence = frozenset(places[step] for step in question["target_step_id"] if step in places)
                if evidence and question["question"] != "[ERRORQ]" and question["answer"] != "[ERRORA]":
                    questions.append(Question(question["question"], evidence, path.stem))
        found.append(Corpus(passages, questions))
    return found


def records(folder: Path) -> Corpus:
    passages: list[Passage] = []
    places: dict[tuple[str, str], int] = {}
    for kind in ("agent_chat", "sms", "note", "calendar"):
        for record in json.loads((folder / "lifebench_zh" / f"{kind}.json").read_text("utf-8")):
            places[kind, str(record["phone_id"])] = len(passages)
            passages.append(Passage(Utterance(_words(record))))
    questions = []
    for question in json.loads((folder / "lifebench_zh" / "QA_clean.json").read_text("utf-8")):
        named = [(item["type"], str(item["id"])) for item in question.get("evidence", [])]
        if evidence := frozenset(places[name] for name in named if name in places):
            questions.append(Question(question["question"], evidence, question["question_type"]))
    return Corpus(passages, questions)


def _words(record: dict[str, Any]) -> str:
    if "conversation" in record:
        turns = record["conversation"].values()
        return " ".join(
            turn[who]["content"] for turn in turns for who in ("user", "assistant") if who in turn
        )
    fields = ("title", "content", "description", "message_content")
    return " ".join(record[field] for field in fields if field in record)


# --- report ----------------------------------------------------------------------------------------------


def report(name: str, corpora: Sequence[Corpus], channels: Sequence[Channel], cuts: Sequence[int]) -> None:
    rows: dict[str, list[list[float]]] = defaultdict(list)
    for corpus, channel in zip(corpora, channels, strict=True):
        for question in corpus.questions:
            order = np.argsort(-channel(question.text), kind="stable")[: max(cuts)].tolist()
            found = [len(question.evidence & set(order[:cut])) / len(question.evidence) for cut in cuts]
            rows["all"].append(found)
            rows[question.category].append(found)
    means = {category: np.mean(found, axis=0) for category, found in rows.items()}
    overall = " ".join(f"{value:.3f}" for value in means.pop("all"))
    each = " ".join(f"{key}:{value[1]:.2f}" for key, value in sorted(means.items())) if len(means) < 6 else ""
    print(f"{name:52s} {overall}  {each}", flush=True)


def english(corpora: list[Corpus], embedder: Embedder | None) -> None:
    cuts = (5, 10, 20)

    def show(name: str, make: Callable[[Corpus], Channel]) -> None:
        report(name, corpora, [make(corpus) for corpus in corpora], cuts)

    own = {id(c): by_terms([counts(p.said.text) for p in c.passages], plain_weights) for c in corpora}
    terms = {id(c): asked_channel([passage_terms(p) for p in c.passages]) for c in corpora}
    spoken = {id(c): asked_channel([passage_terms(Passage(p.said)) for p in c.passages]) for c in corpora}
    fuzzy = {id(c): by_grams([p.said.text for p in c.passages]) for c in corpora}
    show("terms: own words", lambda c: own[id(c)])
    show("terms: own words and speaker", lambda c: spoken[id(c)])
    show("terms: passages", lambda c: terms[id(c)])
    show("grams", lambda c: fuzzy[id(c)])
    if embedder is None:
        return
    dense: dict[str, dict[int, Channel]] = defaultdict(dict)
    for corpus in corpora:
        wanted = {question.text: embedder.embed_question(question.text) for question in corpus.questions}
        variants = {
            "own words": embedder.embed([p.said.text for p in corpus.passages]),
            "own line": embedder.embed([line_of(p.said) for p in corpus.passages]),
            "one long text": embedder.embed([joined(p) for p in corpus.passages]),
            "passages": embed_passages(embedder.embed, corpus.passages),
        }
        for name, vectors in variants.items():
            dense[name][id(corpus)] = by_vectors(vectors, wanted)
    for name, channels in dense.items():
        show(f"vectors: {name}", lambda c, channels=channels: channels[id(c)])  # type: ignore[misc]
    plain, added = dense["own words"], dense["passages"]
    show("reciprocal ranks: own words, both", lambda c: reciprocal([(own[id(c)], 1), (plain[id(c)], 1)]))
    show("reciprocal ranks: passages, both", lambda c: reciprocal([(terms[id(c)], 1), (added[id(c)], 1)]))
    show(
        "reciprocal ranks: passages, vectors half",
        lambda c: reciprocal([(terms[id(c)], 1), (added[id(c)], 0.5)]),
    )
    for weight in (0.2, 0.4, 0.6):
        show(
            f"scores: passages, vectors {weight}",
            lambda c, weight=weight: by_score([(terms[id(c)], 1, False), (added[id(c)], weight, True)]),  # type: ignore[misc]
        )
    show(
        "scores: passages, vectors 0.4, grams 0.1",
        lambda c: by_score([(terms[id(c)], 1, False), (added[id(c)], 0.4, True), (fuzzy[id(c)], 0.1, True)]),
    )
    long = dense["one long text"]
    show(
        "scores: passages, vectors of one long text 0.4",
        lambda c: by_score([(terms[id(c)], 1, False), (long[id(c)], 0.4, True)]),
    )


def chinese(folder: Path, embedder: Embedder | None) -> None:
    for name, corpora, cuts in (
        ("memdaily", messages(folder), (5, 10)),
        ("lifebench", [records(folder)], (5, 10, 20)),
    ):
        documents = [[passage_terms(p) for p in c.passages] for c in corpora]
        terms = [asked_channel(each) for each in documents]
        fuzzy = [by_grams([p.said.text for p in c.passages]) for c in corpora]
        characters = [
            by_terms(
                [_characters(p.said.text) for p in c.passages],
                lambda text: dict.fromkeys(_characters(text), 1.0),
            )
            for c in corpora
        ]
        report(f"{name}: characters", corpora, characters, cuts)
        report(
            f"{name}: terms, every word alike",
            corpora,
            [by_terms(each, plain_weights) for each in documents],
            cuts,
        )
        report(f"{name}: terms, as asked", corpora, terms, cuts)
        report(f"{name}: grams", corpora, fuzzy, cuts)
        report(
            f"{name}: scores, terms and grams 0.1",
            corpora,
            [by_score([(a, 1, False), (b, 0.1, True)]) for a, b in zip(terms, fuzzy, strict=True)],
            cuts,
        )
        if embedder is None or name != "lifebench":
            continue
        wanted = {q.text: embedder.embed_question(q.text) for q in corpora[0].questions}
        vectors = by_vectors(embedder.embed([p.said.text[:600] for p in corpora[0].passages]), wanted)
        report(f"{name}: vectors", corpora, [vectors], cuts)
        report(f"{name}: reciprocal ranks, both", corpora, [reciprocal([(terms[0], 1), (vectors, 1)])], cuts)
        report(
            f"{name}: scores, vectors 0.4",
            corpora,
            [by_score([(terms[0], 1, False), (vectors, 0.4, True)])],
            cuts,
        )


def _characters(text: str) -> dict[str, float]:
    found: dict[str, float] = defaultdict(float)
    for character in text:
        if character.isalnum():
            found[character] += 1.0
    return found


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument(
        "--held-out", action="store_true", help="only the conversations nothing was tuned on"
    )
    options.add_argument("--english-only", action="store_true")
    options.add_argument("--chinese-only", action="store_true")
    chosen = options.parse_args()
    folder = os.environ.get("CARDLOG_EVAL_DATA")
    if not folder:
        print("skipped: CARDLOG_EVAL_DATA is not set")
        return 0
    embedder: Embedder | None = None
    try:
        embedder = open_embedder()
    except EmbedderUnavailableError as error:
        print(f"without vectors: {error}")
    if not chosen.chinese_only:
        english(conversations(Path(folder))[2 if chosen.held_out else 0 :], embedder)
    if not chosen.english_only:
        chinese(Path(folder), embedder)
    return 0


if __name__ == "__main__":
    sys.exit(main())
