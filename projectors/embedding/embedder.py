"""Embedders: one protocol, an embedder that runs a model, and a deterministic embedder for tests.

An embedder never uses the network, because Cardlog must start and stop the same with and without a connection.
A model that is not on this machine is an error, and the error says how to get the model.
"""

from __future__ import annotations

import os
import re
import threading
from collections import Counter
from collections.abc import Sequence
from math import log1p
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from events.language.ngrams import grams
from events.language.terms import GRAMS, TERMS, analyse

if TYPE_CHECKING:
    from fastembed import TextEmbedding

Vectors = NDArray[np.float32]

DEFAULT_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
HASH_MODEL = "hash"
_HASH = re.compile(rf"{HASH_MODEL}(?:-(384|768|1024))?")

# onnxruntime sends telemetry unless this variable is set before the first import. Cardlog sends nothing to anybody.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


class EmbedderUnavailableError(RuntimeError):
    """The embedder is not available. The message names the missing part and the remedy."""


class Embedder(Protocol):
    """Turns texts into unit vectors of ``dimension`` numbers.

    The same text gives the same vector up to float rounding (1e-6). The other texts of the call do not matter.
    Any text is accepted, also the empty text.
    Raises :class:`EmbedderUnavailableError` when the model cannot be loaded.
    """

    @property
    def name(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns one row for each text, in the order of the texts: shape ``(len(texts), dimension)``, float32."""
        ...

    def embed_question(self, text: str) -> Vectors:
        """Returns the vector of a question: shape ``(dimension,)``, float32."""
        ...


class FastEmbedder:
    """Runs a sentence transformer with fastembed, from the files in ``folder``.

    The model is loaded at the first text, which takes about one second. Threads may share it.
    ``threads`` 0 means half the cores. The threads of the model spin while they wait: on two cores that have other
    work, two threads are three times slower than one.
    Raises :class:`EmbedderUnavailableError` at once when the folder does not hold a model.
    """

    longest = 256
    """The number of tokens at which a text is cut, as in the model's training. The rest of the text is ignored."""

    _longest_text = 8192
    _batch_size = 16
    """A batch of 16 texts, sorted by length, uses both cores. 256 texts are half as fast, because of padding, and
    take 16 times the memory."""

    def __init__(self, folder: Path, *, model: str = DEFAULT_MODEL, threads: int = 0) -> None:
        _check(folder, model)
        self.name = model
        self.dimension = _dimension(folder)
        self._folder = folder
        self._threads = threads or max(1, (os.cpu_count() or 1) // 2)
        self._model: TextEmbedding | None = None
        self._loading = threading.Lock()

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        model = self._loaded()
        # Texts of similar length share a batch, because a batch is padded to its longest text.
        order = sorted(range(len(texts)), key=lambda index: len(texts[index]))
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            cut = [_encodable(texts[index][: self._longest_text]) for index in batch]
            vectors[batch] = np.asarray(list(model.embed(cut, batch_size=self._batch_size)))
        return vectors

    def embed_question(self, text: str) -> Vectors:
        cut = _encodable(text[: self._longest_text])
        vector: Vectors = np.asarray(next(iter(self._loaded().query_embed([cut]))), dtype=np.float32)
        return vector

    def _loaded(self) -> TextEmbedding:
        with self._loading:
            if self._model is None:
                self._model = self._load()
        return self._model

    def _load(self) -> TextEmbedding:
        from fastembed import TextEmbedding  # noqa: PLC0415 - the import takes a second, many processes never embed

        try:
            model = TextEmbedding(
                self.name,
                cache_dir=str(self._folder),
                threads=self._threads,
                local_files_only=True,
                specific_model_path=str(self._folder),
            )
        except Exception as error:
            raise EmbedderUnavailableError(
                f"the embedding model in {self._folder} cannot be loaded ({error}); rebuild it with: make model"
            ) from error
        tokenizer = getattr(model.model, "tokenizer", None)
        if tokenizer is not None:
            tokenizer.enable_truncation(max_length=self.longest)
        return model


class HashEmbedder:
    """Makes vectors from hashed terms and n-grams, without a model. Texts with the same words are near each other.

    It serves tests, and every place where the semantic channel must run without a model. The vectors are the same
    on every machine.
    """

    _gram_weight = 0.25

    def __init__(self, dimension: int = 384) -> None:
        self.name = HASH_MODEL if dimension == 384 else f"{HASH_MODEL}-{dimension}"
        self.dimension = dimension

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), self.dimension), dtype=np.float32)
        for index, text in enumerate(texts):
            row = vectors[index]
            for term, count in Counter(analyse(text)).items():
                self._add(row, TERMS[term], 1.0 + log1p(count - 1))
            for gram in sorted(grams(text)):
                self._add(row, GRAMS[gram], self._gram_weight)
            norm = float(np.linalg.norm(row))
            vectors[index] = row / norm if norm else np.eye(1, self.dimension)[0]
        return vectors

    def embed_question(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        return vector

    def _add(self, row: Vectors, key: int, weight: float) -> None:
        row[(key >> 1) % self.dimension] += weight if key & 1 else -weight


def open_embedder(model: str = DEFAULT_MODEL, path: str | Path = "", *, threads: int = 0) -> Embedder:
    """Returns the embedder called ``model``, from the folder ``path`` or from the folder of ``make model``.

    ``"hash"``, ``"hash-384"``, ``"hash-768"`` and ``"hash-1024"`` need no files; the number is the dimension.
    Raises :class:`EmbedderUnavailableError` when no folder holds the files of the model.
    """
    if hashed := _HASH.fullmatch(model):
        return HashEmbedder(int(hashed[1] or 384))
    folders = [Path(path)] if path else model_folders(model)
    folder = next((folder for folder in folders if _is_model(folder)), folders[0])
    return FastEmbedder(folder, model=model, threads=threads)


def reads_chinese(model: str) -> bool:
    """True when the model probably reads Chinese. Only its name decides; known English-only families are excluded."""
    name = model.casefold()
    if any(mark in name for mark in ("multilingual", "-zh", "m3", "-m-", HASH_MODEL)):
        return True
    return not any(mark in name for mark in ("minilm", "-en", "base-code", "mpnet", "nomic"))


def model_folders(model: str = DEFAULT_MODEL) -> list[Path]:
    """Returns the folders that may hold a model, best first: the project's cache folder, then the user's."""
    name = model.rpartition("/")[2]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    project = Path(__file__).resolve().parents[2]
    return [project / ".cache" / "model" / name, Path(home) / "cardlog" / "model" / name]


def _is_model(folder: Path) -> bool:
    return (folder / "tokenizer.json").is_file() and any(folder.rglob("*.onnx"))


def _check(folder: Path, model: str) -> None:
    if not _is_model(folder):
        remedy = (
            "build it with: make model (or name its folder in CARDLOG_EMBED_MODEL_PATH)"
            if model == DEFAULT_MODEL
            else "put its tokenizer.json, config.json and .onnx file there"
        )
        raise EmbedderUnavailableError(f"no embedding model {model} in {folder}; {remedy}")


def _dimension(folder: Path) -> int:
    try:
        return int(orjson.loads((folder / "config.json").read_bytes())["hidden_size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderUnavailableError(
            f"{folder / 'config.json'} has no readable hidden_size; rebuild the model with: make model"
        ) from error


def _encodable(text: str) -> str:
    """Returns the text with lone surrogates replaced, because the tokenizer refuses them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")
