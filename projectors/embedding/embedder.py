"""Embedders: one protocol, an embedder that runs a model, and a deterministic embedder for tests.

An embedder never uses the network, because Cardlog must start and stop the same with and without a connection.
A model that is not on this machine is an error, and the error says how to get the model.
"""

from __future__ import annotations

import hashlib
import os
import re
import threading
from collections import Counter
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from math import log1p
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import orjson
from numpy.typing import NDArray

from events.language.ngrams import grams
from events.language.terms import GRAMS, TERMS, analyse
from projectors.embedding.graph import Graph, open_graph

if TYPE_CHECKING:
    from fastembed import TextEmbedding

Vectors = NDArray[np.float32]

SMALL_MODEL = "sentence-transformers/all-MiniLM-L6-v2"
MULTILINGUAL_MODEL = "intfloat/multilingual-e5-small"
DEFAULT_MODEL = MULTILINGUAL_MODEL
BUILT_MODELS = (MULTILINGUAL_MODEL, SMALL_MODEL)
"""The models that `cardlog model fetch` builds from Python packages."""

_VOCABULARIES = {MULTILINGUAL_MODEL: range(250_000, 250_100), SMALL_MODEL: range(30_522, 30_523)}
"""The sizes of their vocabularies. Some files of multilingual-e5-small leave rows without a token out."""

_KNOWN_GOOD = "ready готово 準備好了 준비 พร้อม 🐶"
"""A text that each model embeds. Its tokens are spread over a vocabulary, so a smaller one of another model shows."""

HASH_MODEL = "hash"
_HASH = re.compile(rf"{HASH_MODEL}(?:-(384|768|1024))?")

# onnxruntime sends telemetry unless this variable is set before the first import. Cardlog sends nothing to anybody.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")


class EmbedderUnavailableError(RuntimeError):
    """The embedder is not available. The message names the missing part and the remedy."""


class _Run(Protocol):
    """Returns the vector of one text."""

    def __call__(self, text: str, *, question: bool) -> Vectors: ...


class Embedder(Protocol):
    """Turns texts into unit vectors of ``dimension`` numbers.

    The same text gives the same vector up to float rounding (1e-6). The other texts of the call do not matter.
    Any text is accepted, also the empty text.
    ``fingerprint`` names the vector space: the model, the revision of its files, its quantisation and its pooling.
    Two embedders with the same fingerprint give the same vectors. Vectors of two fingerprints are never compared.
    Raises :class:`EmbedderUnavailableError` when the model cannot be loaded.
    """

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str: ...

    @property
    def dimension(self) -> int: ...

    def embed(self, texts: Sequence[str]) -> Vectors:
        """Returns one row for each text, in the order of the texts: shape ``(len(texts), dimension)``, float32."""
        ...

    def embed_question(self, text: str) -> Vectors:
        """Returns the vector of a question: shape ``(dimension,)``, float32."""
        ...


class FastEmbedder:
    """Runs a sentence transformer from the files in ``folder``.

    fastembed runs the models that it knows, with their own pooling. The other models are pooled by the mean. The model
    is loaded at the first call, which takes about one second, and tried with a known text. Threads may share it.
    ``threads`` 0 means one for each core that the process may use. ``file`` is the graph in the folder; None means
    ``model_int8.onnx`` if the folder has it, else its other graph.
    Each text is one run of the graph, and ``threads`` runs go on at the same time. An int8 graph scales its numbers by
    the whole batch, so in a batch the vector of a text would depend on the other texts. One run a text is as fast as
    batches on two cores, and no core waits (docs/benchmarks.md).
    Raises :class:`EmbedderUnavailableError` at once when the folder does not hold a model, and at the first call when
    its files do not fit each other.
    """

    longest = 256
    """The number of tokens at which a text is cut, as in MiniLM's training. The rest of the text is ignored."""

    pooling = "mean"
    _longest_text = 8192

    def __init__(
        self, folder: Path, *, model: str = DEFAULT_MODEL, threads: int = 0, file: str | None = None
    ) -> None:
        _check(folder, model)
        self.name = model
        self.dimension = _dimension(folder)
        self._folder = folder
        self._file = file or graph_of(folder)
        self.quantisation = "int8" if "int8" in self._file or "quantized" in self._file else "fp32"
        self._threads = threads or usable_cores()
        self._question_prefix, self._text_prefix = prefixes_of(model)
        self._model: _Run | None = None
        self._runs: ThreadPoolExecutor | None = None
        self._loading = threading.Lock()

    @cached_property
    def revision(self) -> str:
        """The first 12 hexadecimal digits of the SHA-256 of the graph and the tokenizer."""
        digest = hashlib.sha256()
        for name in (self._file, "tokenizer.json"):
            with (self._folder / name).open("rb") as file:
                digest.update(hashlib.file_digest(file, "sha256").digest())
        return digest.hexdigest()[:12]

    @cached_property
    def fingerprint(self) -> str:
        return f"{self.name}@{self.revision} {self.quantisation} {self.pooling} {self.dimension}"

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = np.empty((len(texts), self.dimension), dtype=np.float32)
        model = self._loaded()

        def run(index: int) -> None:
            vectors[index] = model(self._text_prefix + self._cut(texts[index]), question=False)

        if len(texts) < 2 or self._runs is None:
            for index in range(len(texts)):
                run(index)
        else:
            # The longest texts come first, so that all threads end at the same time.
            order = sorted(range(len(texts)), key=lambda index: -len(texts[index]))
            list(self._runs.map(run, order))
        return vectors

    def embed_question(self, text: str) -> Vectors:
        return self._loaded()(self._question_prefix + self._cut(text), question=True)

    def preload(self) -> None:
        """Loads a built model for this process and its forks. It stays until they end."""
        if self.name in BUILT_MODELS:
            self._graph(keep=True)

    def _graph(self, *, keep: bool) -> Graph:
        return open_graph(self._folder, self._file, self.revision, longest=self.longest, keep=keep)

    def _cut(self, text: str) -> str:
        return encodable(text[: self._longest_text])

    def _loaded(self) -> _Run:
        with self._loading:
            if self._model is None:
                try:
                    model = self._load()
                    tried = model(self._text_prefix + _KNOWN_GOOD, question=False)
                    checked([tried], 1, self.dimension, self.name)
                    self._model = model
                except Exception as error:
                    raise EmbedderUnavailableError(
                        f"the embedding model in {self._folder} cannot be loaded ({error}); "
                        "build it again with: cardlog model fetch --force"
                    ) from error
                if self._threads > 1:
                    self._runs = ThreadPoolExecutor(self._threads, "embedder")
        return self._model

    def _load(self) -> _Run:
        if self.name in BUILT_MODELS or not (model := _of_fastembed(self.name, self._folder, self.longest)):
            return self._graph(keep=False).vector

        def run(text: str, *, question: bool) -> Vectors:
            found = model.query_embed([text]) if question else model.embed([text], batch_size=1)
            return np.asarray(next(iter(found)), dtype=np.float32)

        return run


def _of_fastembed(model: str, folder: Path, longest: int) -> TextEmbedding | None:
    """Returns the model as fastembed runs it from ``folder``, or None when fastembed does not know the model."""
    from fastembed import TextEmbedding  # noqa: PLC0415 - the import takes a second, many processes never embed

    if model.casefold() not in {each["model"].casefold() for each in TextEmbedding.list_supported_models()}:
        return None
    found = TextEmbedding(
        model, cache_dir=str(folder), threads=1, local_files_only=True, specific_model_path=str(folder)
    )
    tokenizer = getattr(found.model, "tokenizer", None)
    if tokenizer is not None:
        tokenizer.enable_truncation(max_length=longest)
    return found


def prefixes_of(model: str) -> tuple[str, str]:
    """Returns the words that the model wants before a question and before a text. Most models want none."""
    if re.search(r"(^|/|-)e5-", model.casefold()):
        return "query: ", "passage: "
    return "", ""


def usable_cores() -> int:
    """Returns the number of cores that this process may use."""
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        return os.cpu_count() or 1


class HashEmbedder:
    """Makes vectors from hashed terms and n-grams, without a model. Texts with the same words are near each other.

    It serves tests, and every place where the semantic channel must run without a model. The vectors are the same
    on every machine.
    """

    _gram_weight = 0.25

    def __init__(self, dimension: int = 384) -> None:
        self.name = HASH_MODEL if dimension == 384 else f"{HASH_MODEL}-{dimension}"
        self.fingerprint = self.name
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
    """Returns the embedder called ``model``, from the folder ``path`` or from the folder of ``cardlog model fetch``.

    ``"hash"``, ``"hash-384"``, ``"hash-768"`` and ``"hash-1024"`` need no files; the number is the dimension.
    Raises :class:`EmbedderUnavailableError` when no folder holds the files of the model.
    """
    if hashed := _HASH.fullmatch(model):
        return HashEmbedder(int(hashed[1] or 384))
    folders = [Path(path)] if path else model_folders(model)
    folder = next((folder for folder in folders if _is_model(folder)), folders[0])
    return FastEmbedder(folder, model=model, threads=threads)


def embedder_of_fingerprint(
    model: str, fingerprint: str, path: str | Path = "", *, threads: int = 0
) -> Embedder:
    """Returns the embedder called ``model`` that has ``fingerprint``, from any of its graphs on this machine.

    Raises :class:`EmbedderUnavailableError` when no graph has that fingerprint.
    """
    found: list[Embedder] = []
    if _HASH.fullmatch(model):
        found.append(open_embedder(model))
    for folder in [Path(path)] if path else model_folders(model):
        if not _is_model(folder):
            continue
        for graph in sorted(str(each.relative_to(folder)) for each in folder.rglob("*.onnx")):
            found.append(FastEmbedder(folder, model=model, threads=threads, file=graph))
    for each in found:
        if each.fingerprint == fingerprint:
            return each
    here = ", ".join(each.fingerprint for each in found) or "no files of this model"
    raise EmbedderUnavailableError(f"this machine has {here}")


def reads_chinese(model: str) -> bool:
    """True when the model probably reads Chinese. Only its name decides; known English-only families are excluded."""
    name = model.casefold()
    if any(mark in name for mark in ("multilingual", "-zh", "m3", "-m-", HASH_MODEL)):
        return True
    return not any(mark in name for mark in ("minilm", "-en", "base-code", "mpnet", "nomic"))


def model_folders(model: str = DEFAULT_MODEL) -> list[Path]:
    """Returns the folders that may hold a model, best first: the cache folder of a checkout, then the user's."""
    name = model.rpartition("/")[2]
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    project = Path(__file__).resolve().parents[2]
    checkout = [project / ".cache" / "model" / name] if (project / "Makefile").is_file() else []
    return [*checkout, Path(home) / "cardlog" / "model" / name]


INT8_GRAPH = "model_int8.onnx"


def graph_of(folder: Path) -> str:
    """Returns the graph of ``folder`` that an embedder runs, as a path in the folder: the int8 graph comes first."""
    graphs = sorted(str(each.relative_to(folder)) for each in folder.rglob("*.onnx"))
    for wanted in (INT8_GRAPH, f"onnx/{INT8_GRAPH}", "model.onnx", "onnx/model.onnx"):
        if wanted in graphs:
            return wanted
    return graphs[0]


def _is_model(folder: Path) -> bool:
    return (folder / "tokenizer.json").is_file() and any(folder.rglob("*.onnx"))


def holds(folder: Path, model: str) -> bool:
    """True when ``folder`` has the files of a model, and they are not known to be of another model than ``model``."""
    return _is_model(folder) and _other_model(folder, model) is None


def _other_model(folder: Path, model: str) -> str | None:
    """Returns the built model that ``folder`` holds instead of the built model ``model``, or None."""
    if model not in _VOCABULARIES:
        return None
    try:
        size = orjson.loads((folder / "config.json").read_bytes())["vocab_size"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    found = next((name for name, sizes in _VOCABULARIES.items() if size in sizes), None)
    return None if found == model else found


def _check(folder: Path, model: str) -> None:
    if other := _other_model(folder, model):
        raise EmbedderUnavailableError(
            f"{folder} holds {other} and not {model}; name another folder in CARDLOG_EMBED_MODEL_PATH, or set "
            f"CARDLOG_EMBED_MODEL to {other}"
        )
    if not _is_model(folder):
        remedy = (
            "build it with: cardlog model fetch (or name its folder in CARDLOG_EMBED_MODEL_PATH)"
            if model in BUILT_MODELS
            else "put its tokenizer.json, config.json and .onnx file there"
        )
        raise EmbedderUnavailableError(f"no embedding model {model} in {folder}; {remedy}")


def _dimension(folder: Path) -> int:
    try:
        return int(orjson.loads((folder / "config.json").read_bytes())["hidden_size"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise EmbedderUnavailableError(
            f"{folder / 'config.json'} has no readable hidden_size; build it again with: cardlog model fetch --force"
        ) from error


def encodable(text: str) -> str:
    """Returns the text with lone surrogates replaced, because the tokenizer refuses them."""
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def checked(found: object, count: int, dimension: int, name: str) -> Vectors:
    """Returns ``found`` as vectors of the shape ``(count, dimension)``, float32.

    Raises :class:`EmbedderUnavailableError` for another shape, and for a number that is not finite. The texts are not
    at fault then, so their cards wait until the embedder is well again.
    """
    try:
        with np.errstate(over="ignore"):
            vectors: Vectors = np.asarray(found, dtype=np.float32)
    except (TypeError, ValueError, OverflowError) as error:
        raise EmbedderUnavailableError(
            f"the embedder {name} answered no table of numbers; check its model, then run: cardlog doctor"
        ) from error
    if vectors.shape != (count, dimension):
        raise EmbedderUnavailableError(
            f"the embedder {name} answered {'x'.join(map(str, vectors.shape)) or 'one number'} numbers instead of "
            f"{count}x{dimension}; check its model, then run: cardlog doctor"
        )
    if not np.isfinite(vectors).all():
        raise EmbedderUnavailableError(
            f"the embedder {name} answered numbers that are not finite; check its model, then run: cardlog doctor"
        )
    return vectors
