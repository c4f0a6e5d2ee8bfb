"""Measures how fast texts become terms, n-grams and vectors, and the cost of the Chinese dictionary.

    python tests/bench/events/text_speed.py

The texts are made here, of everyday words, so the numbers are comparable anywhere.
"""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from importlib.util import find_spec
from pathlib import Path

import orjson

from events.language.ngrams import gram_keys, grams
from events.language.segmentation import build, dictionary, source
from events.language.terms import RUNS, analyse, fold, term_keys
from events.types.cards import Utterance
from ingest.extraction.extractor_port import SessionBatch
from ingest.extraction.rules import RulesExtractor
from projectors.embedding.embedder import EmbedderUnavailableError, HashEmbedder, open_embedder
from projectors.embedding.passages import Passage, embed_passages
from retrieval.query.question import understand
from retrieval.query.question_forms import parse_question
from tests.bench.ingest.rules_speed import recorded

ENGLISH = """
yesterday we moved the project meeting with our new designer from Lisbon to Thursday because her flight was late
and nobody had finished the database migration or tested the kittens website my sister adopted two cats named Mochi
"""
CHINESE = [
    "我下個月要從台北搬到高雄",
    "在聯發科找到軟體工程師的工作",
    "會議決定改用資料庫管理系統",
    "養了一隻貓叫麻糬",
    "週末和家人去爬山",
]
_MEMORY = """
import time
def resident():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmRSS")) / 1024
from events.language.segmentation import dictionary
before, began = resident(), time.perf_counter()
words = len(dictionary())
print(f"{time.perf_counter() - began:.2f} s, {resident() - before:.0f} MB, {words} words")
"""


def microseconds(work: Callable[[], object], times: int) -> float:
    work()
    began = time.perf_counter()
    for _ in range(times):
        work()
    return (time.perf_counter() - began) / times * 1e6


def main() -> int:
    choice = random.Random(7)
    english = [" ".join(choice.choices(ENGLISH.split(), k=18)) for _ in range(500)]
    chinese = ["，".join(choice.sample(CHINESE, k=2)) for _ in range(500)]
    dictionary()
    loaded = subprocess.run([sys.executable, "-c", _MEMORY], capture_output=True, text=True, check=True)
    print(f"dictionary, from its compact form: {loaded.stdout.strip()}")
    for name, texts in (("English", english), ("Chinese", chinese)):
        characters = sum(map(len, texts)) / len(texts)
        print(f"{name}, texts of {characters:.0f} characters, microseconds each:")
        terms = [analyse(text) for text in texts]
        steps: list[tuple[str, Callable[[], object]]] = [
            ("analyse", lambda texts=texts: [analyse(text) for text in texts]),  # type: ignore[misc]
            ("term_keys", lambda terms=terms: [term_keys("ann", each) for each in terms]),  # type: ignore[misc]
            ("grams", lambda texts=texts: [grams(text) for text in texts]),  # type: ignore[misc]
            ("gram_keys", lambda texts=texts: [gram_keys("ann", text) for text in texts]),  # type: ignore[misc]
            ("asked", lambda texts=texts: [parse_question(text) for text in texts]),  # type: ignore[misc]
        ]
        for step, work in steps:
            print(f"  {step:10s} {microseconds(work, 3) / len(texts):7.1f}")
    segmentation(chinese)
    hashed = HashEmbedder()
    print(
        f"hash embedder: {1e6 / (microseconds(lambda: hashed.embed(english), 1) / len(english)):.0f} texts/s"
    )
    return vectors(english)


def segmentation(turns: list[str]) -> None:
    """Measures the share of Chinese segmentation in a turn and in a question: with rjieba, and with jieba if installed.

    A turn is read by the rules and becomes terms and grams; a question is understood. Neither counts the
    servers nor the model, so the shares are upper bounds.
    """
    extractor, said_at = RulesExtractor(), datetime(2026, 1, 1, tzinfo=UTC)
    bursts = [
        SessionBatch(
            tuple(
                recorded(
                    [
                        {
                            "user_id": "ann",
                            "turn_id": "t",
                            "text": turn,
                            "said_at": said_at.isoformat(),
                            "session_id": "s",
                        }
                    ]
                )
            )
        )
        for turn in turns
    ]
    questions = [f"{text[:12]}什麼時候？" for text in turns]
    wholes: list[tuple[str, list[str], Callable[[], object]]] = [
        (
            "turn",
            turns,
            lambda: [
                (extractor.extract(burst), analyse(turn), gram_keys("ann", turn))
                for burst, turn in zip(bursts, turns, strict=True)
            ],
        ),
        ("question", questions, lambda: [understand(text, said_at) for text in questions]),
    ]
    cutters: list[tuple[str, Callable[[str], object]]] = [("rjieba", dictionary().cut)]
    if find_spec("jieba") is not None:
        cutters.append(("jieba", _jieba()))
    for what, texts, work in wholes:
        whole = microseconds(work, 3) / len(texts)
        runs = [[run for run, _, _ in RUNS.findall(fold(text)) if run] for text in texts]
        for name, cut in cutters:
            spent = microseconds(partial(_cut_all, cut, runs), 20) / len(texts)
            print(f"{what}, {whole:.0f} us: cut by {name} in {spent:.1f} us, {spent / whole:.1%}")


def _cut_all(cut: Callable[[str], object], texts: list[list[str]]) -> None:
    for runs in texts:
        for run in runs:
            cut(run)


def _jieba() -> Callable[[str], object]:
    """``jieba`` itself on the same dictionary, with a cache of its own."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its patterns have escapes that Python no longer likes
        import jieba  # type: ignore[import-not-found]
    folder = Path(tempfile.mkdtemp())
    words = folder / "words.txt"
    folded = build(orjson.loads(source().read_bytes())["freq"].items())
    words.write_text("\n".join(f"{word} {frequency}" for word, frequency in folded.items()), "utf-8")
    for _ in range(2):  # the second start reads the cache that the first one wrote
        jieba.setLogLevel("WARNING")
        tokenizer = jieba.Tokenizer(str(words))
        tokenizer.tmp_dir = str(folder)
        began = time.perf_counter()
        tokenizer.initialize()
        print(f"jieba, dictionary loaded: {time.perf_counter() - began:.2f} s")
    return lambda run: tokenizer.lcut(run, HMM=False)


def vectors(texts: list[str]) -> int:
    """Texts a second by threads and length; passages, which embed each of their lines once; one question."""
    for threads in (1, 2):
        try:
            embedder = open_embedder(threads=threads)
        except EmbedderUnavailableError as error:
            print(f"skipped: {error}")
            return 0
        for batch in ([text[:40] for text in texts], texts, _long(texts)):
            speed = len(batch) * 1e6 / microseconds(partial(embedder.embed, batch), 1)
            print(f"model, {threads} threads, {len(batch[0])} characters: {speed:.0f} texts/s")
        lines = [Utterance(text) for text in texts]
        passages = [Passage(line, tuple(lines[max(0, i - 2) : i][::-1])) for i, line in enumerate(lines)]
        speed = len(passages) * 1e6 / microseconds(partial(embed_passages, embedder.embed, passages), 1)
        print(f"model, {threads} threads, passages: {speed:.0f} texts/s")
        question = microseconds(partial(embedder.embed_question, texts[0]), 50) / 1000
        print(f"model, {threads} threads, a question: {question:.1f} ms")
    return 0


def _long(texts: list[str]) -> list[str]:
    return [" ".join(texts[i : i + 4]) for i in range(0, len(texts), 4)]


if __name__ == "__main__":
    sys.exit(main())
