"""Chinese words: the most probable path through a large dictionary, the same in either script.

``rjieba`` (jieba in Rust) cuts; its hidden Markov model is off. The words and frequencies are those of the large
model in the package ``jieba3``, which carries traditional and simplified forms. The code of ``jieba3`` is not
imported: it spends 2.8 s and 370 MB on models that this project does not use. Both forms are folded into one
here, because a card may be written in one script and asked for in the other, and must be cut at the same places.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path

import orjson

from events.language.chinese_script import to_simplified

_FORMAT = "words 3"
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


class Dictionary:
    """Folded words with their frequency, and the cutting of text into them."""

    def __init__(self, frequencies: Iterable[tuple[str, int]]) -> None:
        # Importing rjieba reads a dictionary of its own, so the import waits until Chinese is seen.
        import rjieba  # noqa: PLC0415

        rjieba.clear()  # type: ignore[no-untyped-call] # that dictionary takes 16 MB, and nothing here uses it
        self._words: rjieba.Jieba = rjieba.Jieba.empty()  # type: ignore[no-untyped-call]
        self._size = 0
        for word, frequency in frequencies:
            self._words.add_word(word, frequency, None)
            self._size += 1
        self.parts = lru_cache(maxsize=8192)(self._parts)

    def cut(self, run: str) -> list[str]:
        """The words of a run of folded Han characters; joined, they are the run again.

        The words are those of the greatest probability together; a character of no word costs as much as a word
        seen once. The time is linear in the run: no word is longer than 16 characters.
        """
        return self._words.cut(run, hmm=False)

    def _parts(self, word: str) -> tuple[str, ...]:
        """The shorter words, of two characters or more, inside a word; none for a word of two."""
        length = len(word)
        return tuple(
            part
            for size in range(2, length)
            for start in range(length - size + 1)
            if (part := word[start : start + size]) in self
        )

    def __contains__(self, word: str) -> bool:
        return self._words.has_word(word)

    def __len__(self) -> int:
        return self._size


def build(frequencies: Iterable[tuple[str, int]]) -> dict[str, int]:
    """Fold raw words and frequencies; a word of both scripts gets the greater of its two frequencies.

    A place name is also a word without its rank (高雄 beside 高雄市), which the raw list often lacks.
    """
    raw = [(word, frequency) for word, frequency in frequencies if frequency > 0]
    folded = to_simplified("\n".join(word for word, _ in raw)).split("\n")
    words: dict[str, int] = {}
    for word, (_, frequency) in zip(folded, raw, strict=True):
        if frequency > words.get(word, 0) and word not in _TWO_WORDS:
            words[word] = frequency
    for word, frequency in list(words.items()):
        if len(word) > 2 and word[-1] in _PLACE_SUFFIXES:
            words.setdefault(word[:-1], frequency)
    return words


def _encode(words: Mapping[str, int]) -> str:
    """One line a frequency, the words behind it."""
    lines: dict[int, list[str]] = {}
    for word, frequency in words.items():
        lines.setdefault(frequency, []).append(word)
    return "\n".join(f"{frequency} {' '.join(members)}" for frequency, members in lines.items())


def _decode(text: str) -> Iterator[tuple[str, int]]:
    """The words of an encoded text; ValueError when the text is not one."""
    for line in text.split("\n"):
        number, *members = line.split(" ")
        frequency = int(number)
        for word in members:
            yield word, frequency


def source() -> Path:
    spec = find_spec("jieba3")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package jieba3, which carries the Chinese dictionary, is not installed")
    return Path(next(iter(spec.submodule_search_locations))) / "model.large.json"


def _identity(source: Path) -> str:
    """A name for exactly this dictionary folded by exactly this table."""
    stat = source.stat()
    every_ideograph = "".join(map(chr, range(0x3400, 0xA000)))
    seed = f"{_FORMAT}|{stat.st_size}|{stat.st_mtime_ns}|{to_simplified(every_ideograph)}"
    return blake2b(seed.encode(), digest_size=8).hexdigest()


def load(folders: Sequence[Path]) -> Dictionary:
    """The large dictionary, from its compact form in the first folder that has it, else written to the first
    that takes it.

    Where no folder takes it, every process spends a second and 260 MB, for a moment, on building it again.
    Raises FileNotFoundError when the package ``jieba3`` is not installed.
    """
    model = source()
    name = f"{_identity(model)}.words"
    for folder in folders:
        with suppress(OSError, ValueError):
            return Dictionary(_decode((folder / name).read_text("utf-8")))
    words = build(orjson.loads(model.read_bytes())["freq"].items())
    for folder in folders:
        with suppress(OSError):
            _write(folder / name, _encode(words))
            break
    return Dictionary(words.items())


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
    sys.stdout.write(f"{len(dictionary())} words\n")
