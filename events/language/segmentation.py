"""Segments Chinese into words by the most probable path through a large dictionary, the same way in either script.

``rjieba`` (jieba in Rust) segments, without its hidden Markov model. The words and frequencies come from the large
model in the package ``jieba3``, which has traditional and simplified forms. This module does not import the code of
``jieba3``, which spends 2.8 s and 370 MB on models that Cardlog does not use. The module folds both forms into one. A
card in one script and a question in the other are thus segmented at the same places.
"""

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

_FORMAT = "words 4"
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
"""Entries of the list that are two words each. After 叫 mostly a name follows, as in 我的狗叫豆豆."""
_CITIES = {"台中": 500, "新北": 500}
"""Cities of millions with a frequency that holds their characters together. The list has them as rare words."""


class Dictionary:
    """Folded words with their frequencies. Segments text into these words."""

    def __init__(self, frequencies: Iterable[tuple[str, int]]) -> None:
        # The import of rjieba loads its own dictionary, so it happens only when there is Chinese text.
        import rjieba  # noqa: PLC0415

        rjieba.clear()  # type: ignore[no-untyped-call] # its own dictionary takes 16 MB, and Cardlog does not use it
        self._words: rjieba.Jieba = rjieba.Jieba.empty()  # type: ignore[no-untyped-call]
        self._size = 0
        for word, frequency in frequencies:
            self._words.add_word(word, frequency, None)
            self._size += 1
        self.parts = lru_cache(maxsize=8192)(self._parts)

    def cut(self, run: str) -> list[str]:
        """Returns the words of a run of folded Han characters. The joined words are the run.

        The words are the most probable sequence. A character outside all words counts as a word of frequency 1. The
        time is linear in the length of the run, because no word is longer than 16 characters.
        """
        return self._words.cut(run, hmm=False)

    def _parts(self, word: str) -> tuple[str, ...]:
        """Returns the shorter words inside ``word``, of at least two characters. A word of two characters has none."""
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
    """Returns folded words with their frequencies. A word in both scripts gets the greater of its frequencies.

    A place name also becomes a word without its suffix (高雄 from 高雄市), because the raw list often lacks that word.
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
    """Returns the words as text: one line for each frequency, with its words."""
    lines: dict[int, list[str]] = {}
    for word, frequency in words.items():
        lines.setdefault(frequency, []).append(word)
    return "\n".join(f"{frequency} {' '.join(members)}" for frequency, members in lines.items())


def _decode(text: str) -> Iterator[tuple[str, int]]:
    """Yields the words of an encoded text with their frequencies. Raises ``ValueError`` for malformed text."""
    for line in text.split("\n"):
        number, *members = line.split(" ")
        frequency = int(number)
        for word in members:
            yield word, frequency


def source() -> Path:
    """Returns the file of the raw dictionary. Raises ``FileNotFoundError`` without the package ``jieba3``."""
    spec = find_spec("jieba3")
    if spec is None or not spec.submodule_search_locations:
        raise FileNotFoundError("the package jieba3 with the Chinese dictionary is missing: install it")
    return Path(next(iter(spec.submodule_search_locations))) / "model.large.json"


def _identity(source: Path) -> str:
    """Returns a name that changes with the dictionary, with the folding table and with the file format."""
    stat = source.stat()
    every_ideograph = "".join(map(chr, range(0x3400, 0xA000)))
    seed = f"{_FORMAT}|{stat.st_size}|{stat.st_mtime_ns}|{to_simplified(every_ideograph)}"
    return blake2b(seed.encode(), digest_size=8).hexdigest()


def load(folders: Sequence[Path]) -> Dictionary:
    """Returns the large dictionary from its compact form in the first folder that has it.

    Otherwise the function builds the dictionary and writes the compact form to the first writable folder. Without a
    writable folder every process spends a second, and for a moment 260 MB, on the build. Raises ``FileNotFoundError``
    without the package ``jieba3``.
    """
    model = source()
    name = f"{_identity(model)}.words"
    for folder in folders:
        with suppress(OSError, ValueError):
            return Dictionary(_decode((folder / name).read_text("utf-8")))
    words = build(orjson.loads(model.read_bytes())["freq"].items()) | _CITIES
    for folder in folders:
        with suppress(OSError):
            _write(folder / name, _encode(words))
            break
    return Dictionary(words.items())


def _write(path: Path, text: str) -> None:
    """Writes the file atomically. Other processes may read or write the same file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", encoding="utf-8", dir=path.parent, delete=False) as file:
        written = Path(file.name)
        file.write(text)
    written.chmod(0o644)
    written.replace(path)


def cache_folders() -> list[Path]:
    """Returns the folders of the compact dictionary: the user's cache folder, then the project's."""
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    project = Path(__file__).resolve().parents[2]
    return [Path(home) / "cardlog" / "segmentation", project / ".cache" / "segmentation"]


_loading = threading.Lock()
_loaded: list[Dictionary] = []


def dictionary() -> Dictionary:
    """Returns the dictionary of this process. The first call loads it, so a process with only English never does."""
    if not _loaded:
        with _loading:
            if not _loaded:
                _loaded.append(load(cache_folders()))
    return _loaded[0]


if __name__ == "__main__":
    # An image or a setup step writes the compact form before the first worker starts.
    sys.stdout.write(f"{len(dictionary())} words\n")
