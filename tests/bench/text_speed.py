"""How fast texts become terms, grams and vectors, and what the Chinese dictionary costs a process.

    python tests/bench/text_speed.py

The texts are made here, of everyday words, so the numbers are comparable anywhere.
"""

from __future__ import annotations

import random
import subprocess
import sys
import time
from collections.abc import Callable
from functools import partial

from events.types.cards import Utterance
from projectors.text.embedding import EmbedderUnavailableError, HashEmbedder, open_embedder
from projectors.text.grams import gram_keys, grams
from projectors.text.passages import Passage, embed_passages
from projectors.text.questions import asked
from projectors.text.segmentation import dictionary
from projectors.text.terms import analyse, term_keys

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
from projectors.text.segmentation import dictionary
before, began = resident(), time.perf_counter()
words = dictionary().words
print(f"{time.perf_counter() - began:.2f} s, {resident() - before:.0f} MB, {len(words)} words and beginnings")
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
            ("asked", lambda texts=texts: [asked(text) for text in texts]),  # type: ignore[misc]
        ]
        for step, work in steps:
            print(f"  {step:10s} {microseconds(work, 3) / len(texts):7.1f}")
    hashed = HashEmbedder()
    print(
        f"hash embedder: {1e6 / (microseconds(lambda: hashed.embed(english), 1) / len(english)):.0f} texts/s"
    )
    return vectors(english)


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
