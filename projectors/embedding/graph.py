"""Runs a sentence transformer's graph: one text becomes the mean of its tokens' vectors, as a unit vector."""

from __future__ import annotations

import ctypes
import logging
import sys
from collections.abc import Callable
from hashlib import file_digest
from pathlib import Path

import numpy as np
import orjson
from numpy.typing import NDArray

from projectors.embedding.unigram import UnigramTokenizer, is_unigram

logger = logging.getLogger(__name__)

# The C library of Linux keeps freed memory, in pieces between those that are in use.
_trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if sys.platform == "linux" else None


def trim() -> None:
    """Gives freed memory back to the system."""
    if _trim is not None:
        _trim(0)


_kept: dict[tuple[str, int], Graph] = {}


def mapped_name(file: Path, revision: str, digest: str) -> Path:
    """Returns the name of the same graph as ``file`` with its largest tables as places in ``file``.

    ``digest`` is the SHA-256 of its content, and tells a damaged one.
    """
    return file.with_suffix(f".{revision}.{digest[:12]}.mapped")


def mapped_of(file: Path, revision: str) -> Path | None:
    """Returns the graph of :func:`mapped_name`, if the model has one and it is not damaged."""
    for found in file.parent.glob(f"{file.stem}.{revision}.*.mapped"):
        with found.open("rb") as content:
            digest = file_digest(content, "sha256").hexdigest()
        if found == mapped_name(file, revision, digest):
            return found
        logger.warning("%s is damaged, and the model needs more memory; run: cardlog model fetch", found)
    return None


def open_graph(folder: Path, file: str, revision: str, *, longest: int, keep: bool = False) -> Graph:
    """Returns the graph ``file`` of ``folder``: the kept one, or one that is loaded now.

    ``revision`` names the content of graph and tokenizer. ``keep``: this process and its forks share
    the graph until they end.
    """
    key = (revision, longest)
    if (found := _kept.get(key)) is None:
        whole = folder / file
        found = Graph(mapped_of(whole, revision) or whole, folder / "tokenizer.json", longest=longest)
        if keep:
            _kept[key] = found
    return found


class Graph:
    """A graph with its tokenizer, loaded at once. Threads may share it; one run uses one core.

    Raises what onnxruntime and the tokenizer raise for files that they cannot read.
    """

    def __init__(self, file: Path, tokenizer: Path, *, longest: int) -> None:
        """``longest``: the number of tokens at which a text is cut."""
        import onnxruntime  # noqa: PLC0415 - many processes never embed

        self._encode = _encoder(tokenizer, longest)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        options.enable_cpu_mem_arena = False  # an arena keeps the memory of the longest text for ever
        self._session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self._inputs = {each.name for each in self._session.get_inputs()}
        trim()

    def vector(self, text: str, *, question: bool = False) -> NDArray[np.float32]:
        """Returns the vector of ``text``: shape ``(dimension,)``. A question is embedded as any other text."""
        ids = np.array([self._encode(text)], dtype=np.int64)
        given: dict[str, object] = {
            "input_ids": ids,
            "attention_mask": np.ones_like(ids),
            "token_type_ids": np.zeros_like(ids),
        }
        [tokens] = self._session.run(
            None, {name: each for name, each in given.items() if name in self._inputs}
        )[0]
        mean = np.mean(tokens, axis=0, dtype=np.float64)
        unit = np.asarray(mean / max(float(np.linalg.norm(mean)), 1e-12), dtype=np.float32)
        return unit


def _encoder(file: Path, longest: int) -> Callable[[str], list[int]]:
    document = orjson.loads(file.read_bytes())
    if is_unigram(document):
        return UnigramTokenizer(document, longest=longest).encode
    from tokenizers import Tokenizer  # noqa: PLC0415 - as above

    tokenizer = Tokenizer.from_file(str(file))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=longest)

    def encode(text: str) -> list[int]:
        ids: list[int] = tokenizer.encode(text).ids
        return ids

    return encode
