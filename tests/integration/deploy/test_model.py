"""The offline embedding model: its graph against arithmetic by hand, and the real model when it is built."""

import json
import math
import re
import struct
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnxruntime
import pytest
from numpy.typing import NDArray

from deploy import e5_weights
from deploy.command import main
from deploy.model import BertGraph, ModelError, build, read_weights, write_mapped
from projectors.embedding.embedder import (
    INT8_GRAPH,
    MULTILINGUAL_MODEL,
    SMALL_MODEL,
    Embedder,
    FastEmbedder,
    model_folders,
    open_embedder,
)
from tests.support.projectors.tiny_model import write_tiny_model

CONFIG = {
    "hidden_size": 24,
    "num_attention_heads": 3,
    "num_hidden_layers": 2,
    "intermediate_size": 40,
    "max_position_embeddings": 16,
    "vocab_size": 50,
    "layer_norm_eps": 1e-12,
}
Numbers = NDArray[Any]


def random_weights(config: Mapping[str, Any]) -> dict[str, Numbers]:
    random = np.random.default_rng(7)
    width, inner = config["hidden_size"], config["intermediate_size"]
    shapes: dict[str, tuple[int, ...]] = {
        "embeddings.word_embeddings.weight": (config["vocab_size"], width),
        "embeddings.position_embeddings.weight": (config["max_position_embeddings"], width),
        "embeddings.token_type_embeddings.weight": (2, width),
        "embeddings.LayerNorm.weight": (width,),
        "embeddings.LayerNorm.bias": (width,),
    }
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        for name, size in (
            *((f"attention.self.{kind}", (width, width)) for kind in ("query", "key", "value")),
            ("attention.output.dense", (width, width)),
            ("intermediate.dense", (inner, width)),
            ("output.dense", (width, inner)),
        ):
            shapes[f"{layer}.{name}.weight"], shapes[f"{layer}.{name}.bias"] = size, size[:1]
        for name in ("attention.output", "output"):
            shapes[f"{layer}.{name}.LayerNorm.weight"] = shapes[f"{layer}.{name}.LayerNorm.bias"] = (width,)
    return {name: random.normal(0, 0.5, shape).astype(np.float32) for name, shape in shapes.items()}


def by_hand(weights: Mapping[str, Numbers], config: Mapping[str, Any], tokens: list[int]) -> Numbers:
    """A BERT encoder for one sentence without padding, in 64 bits, head by head, straight from the paper."""
    real = {name: value.astype(np.float64) for name, value in weights.items()}

    def dense(name: str, state: Numbers) -> Numbers:
        return state @ real[f"{name}.weight"].T + real[f"{name}.bias"]

    def norm(name: str, state: Numbers) -> Numbers:
        centred = state - state.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + config["layer_norm_eps"])
        scaled: Numbers = centred / deviation * real[f"{name}.weight"] + real[f"{name}.bias"]
        return scaled

    state = norm(
        "embeddings.LayerNorm",
        real["embeddings.word_embeddings.weight"][tokens]
        + real["embeddings.position_embeddings.weight"][: len(tokens)]
        + real["embeddings.token_type_embeddings.weight"][0],
    )
    size = config["hidden_size"] // config["num_attention_heads"]
    erf = np.vectorize(math.erf)
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        query, key, value = (
            dense(f"{layer}.attention.self.{kind}", state) for kind in ("query", "key", "value")
        )
        heads = []
        for start in range(0, config["hidden_size"], size):
            part = slice(start, start + size)
            scores = np.exp(query[:, part] @ key[:, part].T / math.sqrt(size))
            heads.append(scores / scores.sum(axis=-1, keepdims=True) @ value[:, part])
        attended = dense(f"{layer}.attention.output.dense", np.concatenate(heads, axis=-1))
        state = norm(f"{layer}.attention.output.LayerNorm", state + attended)
        inner = dense(f"{layer}.intermediate.dense", state)
        outer = dense(f"{layer}.output.dense", inner * 0.5 * (1 + erf(inner / math.sqrt(2))))
        state = norm(f"{layer}.output.LayerNorm", state + outer)
    return np.asarray(state)


def run(model: bytes, batch: list[list[int]]) -> list[Numbers]:
    """Returns the graph's answers for sentences padded to the longest. Each answer has its sentence's length."""
    longest = max(map(len, batch))
    tokens = np.array([each + [0] * (longest - len(each)) for each in batch])
    mask = np.array([[1] * len(each) + [0] * (longest - len(each)) for each in batch])
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    (states,) = session.run(
        ["last_hidden_state"],
        {"input_ids": tokens, "attention_mask": mask, "token_type_ids": np.zeros_like(tokens)},
    )
    return [states[row, : len(each)] for row, each in enumerate(batch)]


@pytest.fixture
def folder() -> Path:
    """Returns the folder of the real model."""
    folder = next((each for each in model_folders(SMALL_MODEL) if (each / "model.onnx").is_file()), None)
    if folder is None:
        pytest.skip("the small model is not built; run cardlog model fetch --model with its name")
    return folder


class TestGraph:
    def test_equals_the_arithmetic_whatever_the_padding(self) -> None:
        weights = random_weights(CONFIG)
        model = BertGraph(weights, CONFIG).model().SerializeToString()
        batch = [[3, 1, 4, 1, 5, 9, 2, 6], [2], [7, 1, 8], [49] * 16]
        for tokens, state in zip(batch, run(model, batch), strict=True):
            np.testing.assert_allclose(state, by_hand(weights, CONFIG, tokens), atol=1e-5)

    def test_tells_positions_apart(self) -> None:
        model = BertGraph(random_weights(CONFIG), CONFIG).model().SerializeToString()
        there, back = run(model, [[1, 2, 3], [3, 2, 1]])
        assert np.abs(there[::-1] - back).max() > 0.01


class TestWeights:
    def test_are_read_as_they_were_written(self) -> None:
        matrix = np.arange(6, dtype="<f4").reshape(2, 3)
        ids = np.array([[5, 6]], dtype="<i8")
        index = {
            "__metadata__": {"format": "pt"},
            "a": {"dtype": "F32", "shape": [2, 3], "data_offsets": [0, 24]},
            "b": {"dtype": "I64", "shape": [1, 2], "data_offsets": [24, 40]},
        }
        header = json.dumps(index).encode()
        found = read_weights(struct.pack("<Q", len(header)) + header + matrix.tobytes() + ids.tobytes())
        assert sorted(found) == ["a", "b"]
        np.testing.assert_array_equal(found["a"], matrix)
        np.testing.assert_array_equal(found["b"], ids)


class TestBuilding:
    def test_another_wheel_is_refused_and_nothing_is_left(self, tmp_path: Path) -> None:
        wheel = tmp_path / "other.whl"
        wheel.write_bytes(b"PK")
        with pytest.raises(ModelError, match="its hash differs"):
            build(tmp_path / "cache" / "model", wheel)
        assert list((tmp_path / "cache").iterdir()) == []

    def test_without_its_packages_the_build_names_them_and_the_extra(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setitem(sys.modules, "onnx", None)
        monkeypatch.setattr(sys, "path", [])
        with pytest.raises(ModelError, match=r"needs onnx and pip: pip install 'cardlog\[model\]'"):
            build(tmp_path / "model")

    def test_optional_lets_the_rest_continue(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        wheel = tmp_path / "other.whl"
        wheel.write_bytes(b"PK")
        monkeypatch.setenv("CARDLOG_EMBED_MODEL_PATH", str(tmp_path / "model"))
        monkeypatch.delenv("CARDLOG_EMBED_MODEL", raising=False)
        assert main(["model", "fetch", "--wheel", str(wheel)]) == 1
        assert main(["model", "fetch", "--optional", "--wheel", str(wheel)]) == 0
        assert "the semantic channel is down" in capsys.readouterr().err

    def test_a_model_that_is_there_is_left_alone(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / "model.onnx").write_bytes(b"mine")
        monkeypatch.setenv("CARDLOG_EMBED_MODEL_PATH", str(tmp_path))
        monkeypatch.delenv("CARDLOG_EMBED_MODEL", raising=False)
        assert main(["model", "fetch"]) == 0
        assert (tmp_path / "model.onnx").read_bytes() == b"mine"


class TestBuiltModel:
    """Tests of the real model, which `cardlog model fetch` builds. The tests above do not need the real model."""

    def test_a_trial_sends_nothing_to_anybody(self, folder: Path, tmp_path: Path) -> None:
        code = "import sys; from pathlib import Path; from deploy.model import _try; _try(Path(sys.argv[1]))"
        environment = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"}
        subprocess.run([sys.executable, "-c", code, str(folder)], env=environment, check=True)
        assert [each.name for each in tmp_path.rglob("*onnxruntime*")] == []

    def test_means_something(self, folder: Path) -> None:
        vectors = open_embedder(SMALL_MODEL, folder).embed(
            [
                "How old are you?",
                "What is your age?",
                "He plays the violin in an orchestra.",
                "She is a cellist with the philharmonic.",
                "The server ran out of memory.",
            ]
        )
        assert vectors.shape == (5, 384)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        alike = vectors @ vectors.T
        related = {(0, 1), (2, 3)}
        others = [alike[a, b] for a in range(5) for b in range(a) if (b, a) not in related]
        assert min(alike[pair] for pair in related) > max(others) + 0.1

    def test_equals_the_arithmetic(self, folder: Path) -> None:
        from onnx import load, numpy_helper
        from tokenizers import Tokenizer

        config = json.loads((folder / "config.json").read_text())
        model = load(folder / "model.onnx")
        weights = {each.name: numpy_helper.to_array(each) for each in model.graph.initializer}
        # In the graph dense layers are stored transposed, as they are multiplied.
        weights = {name: value.T if "encoder" in name else value for name, value in weights.items()}
        tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        tokenizer.no_padding()
        for text in ("I moved to Taipei last May.", "我上個月搬到台北", "no"):
            state = by_hand(weights, config, tokenizer.encode(text).ids).mean(axis=0)
            (vector,) = FastEmbedder(folder, model=SMALL_MODEL, file="model.onnx").embed([text])
            np.testing.assert_allclose(vector, state / np.linalg.norm(state), atol=1e-5)


@pytest.fixture(scope="module")
def multilingual() -> Embedder:
    folder = next((each for each in model_folders(MULTILINGUAL_MODEL) if (each / INT8_GRAPH).is_file()), None)
    if folder is None:
        pytest.skip("the multilingual model is not built; run cardlog model fetch --model with its name")
    return open_embedder(MULTILINGUAL_MODEL, folder, threads=1)


class TestMultilingualModel:
    """Tests of the multilingual model, where it is built."""

    def test_is_near_the_published_vector(self, multilingual: Embedder) -> None:
        """fastembed's own tests hold the first numbers of the vector of these words, without a prefix."""
        published = np.array([3.1317e-02, 3.0939e-02, -3.5117e-02, -6.7274e-02, 8.5084e-02])
        assert isinstance(multilingual, FastEmbedder)
        plain = FastEmbedder(multilingual._folder, model=MULTILINGUAL_MODEL, threads=1)
        plain._text_prefix = ""
        start = plain.embed(["hello world"])[0, :5]
        assert start @ published / np.linalg.norm(start) / np.linalg.norm(published) > 0.98

    def test_reads_both_chinese_scripts_and_english_questions(self, multilingual: Embedder) -> None:
        assert multilingual.dimension == 384
        texts = [
            "我上個月從台北搬到高雄",
            "上个月我搬家到了高雄",
            "股市今天大跌",
            "今天股市大幅下跌",
        ]
        vectors = multilingual.embed(texts)
        np.testing.assert_allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
        alike = vectors @ vectors.T
        assert min(alike[0, 1], alike[2, 3]) > max(alike[0, 2], alike[1, 3]) + 0.03
        for question, answers in (
            ("什么时候搬家的?", {0, 1}),
            ("When did I move to Kaohsiung?", {0, 1}),
            ("股票怎麼了?", {2, 3}),
        ):
            near = vectors @ multilingual.embed_question(question)
            assert set(np.argsort(-near)[:2]) == answers

    def test_a_question_has_another_prefix_than_a_text(self, multilingual: Embedder) -> None:
        text = "Where is the harbour?"
        assert multilingual.embed([text])[0] @ multilingual.embed_question(text) < 0.999

    def test_the_other_texts_of_a_call_change_nothing(self, multilingual: Embedder) -> None:
        texts = ["short", "a much longer text " * 20, "貓"]
        together = multilingual.embed(texts)
        for text, vector in zip(texts, together, strict=True):
            np.testing.assert_array_equal(multilingual.embed([text])[0], vector)


class TestPackedWeights:
    def test_blocks_are_unpacked_in_order(self) -> None:
        numbers = np.arange(32) % 16 - 8
        halves = ((numbers[:16] + 8) | ((numbers[16:] + 8) << 4)).astype(np.uint8)
        block = np.float16(0.5).tobytes() + halves.tobytes()
        name = b"emb.word"
        index = struct.pack("<iH", 1, len(name)) + name + struct.pack("<BIQQ", 1, 32, 0, 18)
        tensors = e5_weights.Tensors(block + index, len(block))
        found, factors = tensors.blocks("emb.word")
        np.testing.assert_array_equal(found, [numbers])
        np.testing.assert_array_equal(tensors.matrix("emb.word", 32), numbers * 0.5)
        assert factors == 0.5

    def test_another_format_is_refused(self) -> None:
        with pytest.raises(ValueError, match="not in the expected format"):
            e5_weights.read(b"GGUF" + b"\0" * 100)


def test_a_mapped_graph_gives_the_same_vectors_also_when_it_is_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CARDLOG_EMBED_MODEL", SMALL_MODEL)
    monkeypatch.setenv("CARDLOG_EMBED_MODEL_PATH", str(tmp_path / "model" / "mapped"))
    rows = 4_000  # 6 MB
    plain = open_embedder(SMALL_MODEL, write_tiny_model(tmp_path / "plain", SMALL_MODEL, rows=rows))
    folder = write_tiny_model(tmp_path / "model" / "mapped", SMALL_MODEL, rows=rows)
    write_mapped(folder, SMALL_MODEL)
    [mapped] = folder.glob("*.mapped")
    assert mapped.stat().st_size < 10_000
    wanted = plain.embed(["a cat", "zzz"])
    assert np.array_equal(open_embedder(SMALL_MODEL, folder).embed(["a cat", "zzz"]), wanted)
    whole = mapped.read_bytes()
    place = int(re.findall(rb"offset\x12.(\d+)", whole)[0])
    for damaged in (b"", whole[:100], whole.replace(b"%d" % place, b"%d" % (place + 4))):
        mapped.write_bytes(damaged)
        assert np.array_equal(open_embedder(SMALL_MODEL, folder).embed(["a cat", "zzz"]), wanted)
        assert main(["model", "fetch"]) == 0
        assert mapped.read_bytes() == whole
    write_tiny_model(folder, MULTILINGUAL_MODEL, rows=rows)
    assert open_embedder(MULTILINGUAL_MODEL, folder).embed(["a cat"]).shape == (1, 384)
