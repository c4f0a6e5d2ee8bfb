"""Chinese words: the most probable path through a large dictionary, the same in either script.

The words and frequencies are those of the large model in the ``jieba3`` package, which carries
traditional and simplified forms. The package itself is not imported: it spends 2.8 s and 370 MB
on models this project does not use. Both forms are folded into one here, because a card may be
written in one script and asked for in the other, and must be cut at the same places.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from math import log
from pathlib import Path

import orjson

from events.script import fold_script

_FORMAT = "words 2"
_PLACE_SUFFIXES = frozenset("市县区镇乡省")
_TWO_WORDS = {f"{animal}叫" for animal in "狗猫猪鸡鸟鸭蛙"} | {
    "我会",
    "你会",
    "你是",
    "你有",
    "你在",
    "你爱",
    "他用",
}
"""Two words the list has as one: what follows 叫 is mostly a name, as in 我的狗叫豆豆."""
_PREFIX = 0.0
"""The value of a string that only begins words; real words have a negative log probability."""


class Dictionary:
    """Folded words with the logarithm of their probability.

    ``words`` also holds every beginning of a word, so that a search from left to right can stop
    at the first string which is no key; such beginnings have the value 0.
    """

    def __init__(self, words: dict[str, float], total: int) -> None:
        self.words = words
        self.unknown = -log(total)
        """What a character of no word costs: as much as a word seen once."""
        self.parts = lru_cache(maxsize=8192)(self._parts)

    def cut(self, run: str) -> list[str]:
        """The words of a run of folded Han characters; joined, they are the run again.

        Linear in the run: no word is longer than 16 characters.
        """
        probability_of = self.words.get
        unknown = self.unknown
        length = len(run)
        score = [0.0] * (length + 1)
        end = [0] * length
        for start in range(length - 1, -1, -1):
            best = (probability_of(run[start]) or unknown) + score[start + 1]
            best_stop = start + 1
            for stop in range(start + 2, length + 1):
                probability = probability_of(run[start:stop])
                if probability is None:
                    break
                if probability:
                    probability += score[stop]
                    if probability >= best:
                        best = probability
                        best_stop = stop
            score[start] = best
            end[start] = best_stop
        found = []
        start = 0
        while start < length:
            stop = end[start]
            found.append(run[start:stop])
            start = stop
        return found

    def _parts(self, word: str) -> tuple[str, ...]:
        """The shorter words, of two characters or more, inside a word; none for a word of two."""
        length = len(word)
        return tuple(
            part
            for size in range(2, length)
            for start in range(length - size + 1)
            if self.words.get(part := word[start : start + size])
        )

    def __contains__(self, word: str) -> bool:
        return bool(self.words.get(word))


def build(frequencies: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Fold raw words and frequencies; a word of both scripts gets the greater of its two frequencies.

    A place name is also a word without its rank (高雄 beside 高雄市), which the raw list often lacks.
    """
    raw = [(word, frequency) for word, frequency in frequencies if frequency > 0]
    folded = fold_script("\n".join(word for word, _ in raw)).split("\n")
    words: dict[str, int] = {}
    for word, (_, frequency) in zip(folded, raw, strict=True):
        if frequency > words.get(word, 0) and word not in _TWO_WORDS:
            words[word] = frequency
    for word, frequency in list(words.items()):
        if len(word) > 2 and word[-1] in _PLACE_SUFFIXES:
            words.setdefault(word[:-1], frequency)
    return words


def _encode(words: dict[str, int]) -> str:
    """One line a frequency, the words behind it; the beginnings of words last, with frequency 0."""
    lines: dict[int, list[str]] = {}
    for word, frequency in words.items():
        lines.setdefault(frequency, []).append(word)
    beginnings = {word[:size] for word in words for size in range(1, len(word))}
    lines[0] = sorted(beginnings - words.keys())
    return "\n".join(f"{frequency} {' '.join(members)}" for frequency, members in lines.items())


def _decode(text: str) -> Dictionary:
    """The dictionary of an encoded text; ValueError when it is not one.

    A frequency's words share one float, and ``dict.fromkeys`` fills at C speed: 0.2 s and 84 MB
    for half a million keys.
    """
    total = 0
    lines = []
    for line in text.split("\n"):
        number, *members = line.split(" ")
        frequency = int(number)
        lines.append((frequency, members))
        total += frequency * len(members)
    words: dict[str, float] = {}
    while lines:
        frequency, members = lines.pop()
        words.update(dict.fromkeys(members, log(frequency / total) if frequency else _PREFIX))
    return Dictionary(words, total)


def _source() -> Path:
    spec = find_spec("jieba3")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package jieba3, which carries the Chinese dictionary, is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "model.large.json"


def _identity(source: Path) -> str:
    """A name for exactly this dictionary folded by exactly this table."""
    stat = source.stat()
    every_ideograph = "".join(map(chr, range(0x3400, 0xA000)))
    seed = f"{_FORMAT}|{stat.st_size}|{stat.st_mtime_ns}|{fold_script(every_ideograph)}"
    return blake2b(seed.encode(), digest_size=8).hexdigest()


def load(folders: Sequence[Path]) -> Dictionary:
    """The large dictionary, from its compact form in the first folder that has it, else written to the first
    that takes it.

    Where none does, every process spends a second and 260 MB, for a moment, on building it again.
    Raises FileNotFoundError when the package ``jieba3`` is not installed.
    """
    source = _source()
    name = f"{_identity(source)}.words"
    for folder in folders:
        with suppress(OSError, ValueError):
            return _decode((folder / name).read_text("utf-8"))
    text = _encode(build(orjson.loads(source.read_bytes())["freq"].items()))
    for folder in folders:
        with suppress(OSError):
            _write(folder / name, text)
            break
    return _decode(text)


def _write(path: Path, text: str) -> None:
    """Write whole or not at all: other processes may be reading, or writing the same."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        written = Path(file.name)
        file.write(text)
    written.chmod(0o644)
    written.replace(path)


def cache_folders() -> list[Path]:
    """Where the compact dictionary is kept: the user's cache folder, else the project's."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    project = Path(__file__).resolve().parents[2]
    return [Path(home) / "cardlog" / "segmentation", project / ".cache" / "segmentation"]


_loading = threading.Lock()
_loaded: list[Dictionary] = []


def dictionary() -> Dictionary:
    """The process's dictionary, loaded when it is first wanted: English alone never pays for it."""
    if not _loaded:
        with _loading:
            if not _loaded:
                _loaded.append(load(cache_folders()))
    return _loaded[0]


if __name__ == "__main__":
    # An image or a setup step can write the compact form ahead of the first worker.
    sys.stdout.write(f"{len(dictionary().words)} words and beginnings of words\n")
