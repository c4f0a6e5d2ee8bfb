"""A model that a test writes in a moment: the vector of a text is the mean of random vectors of its letters."""

import json
import string
from pathlib import Path

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save_model
from tokenizers import Regex, Tokenizer
from tokenizers.models import WordLevel
from tokenizers.pre_tokenizers import Split

from projectors.embedding.embedder import INT8_GRAPH, MULTILINGUAL_MODEL, SMALL_MODEL

_WIDTH = 384
_VOCABULARIES = {MULTILINGUAL_MODEL: 250_002, SMALL_MODEL: 30_522}
_TOKENS = ("[PAD]", "[UNK]", *string.ascii_lowercase)


def write_tiny_model(folder: Path, model: str, *, rows: int = len(_TOKENS)) -> Path:
    """Writes files that open as ``model`` into ``folder``, which need not exist. Each model has vectors of its own.

    A model with more ``rows`` than there are letters is as much larger in memory.
    """
    folder.mkdir(parents=True, exist_ok=True)
    names = {"pad_token": "[PAD]", "unk_token": "[UNK]"}
    documents = {
        "config.json": {"hidden_size": _WIDTH, "vocab_size": _VOCABULARIES.get(model), "pad_token_id": 0},
        "special_tokens_map.json": names,
        "tokenizer_config.json": {**names, "model_max_length": 512},
    }
    for name, document in documents.items():
        (folder / name).write_text(json.dumps(document), encoding="utf-8")
    tokenizer = Tokenizer(WordLevel({token: number for number, token in enumerate(_TOKENS)}, "[UNK]"))
    tokenizer.pre_tokenizer = Split(Regex("."), "isolated")
    tokenizer.save(str(folder / "tokenizer.json"))
    random = np.random.default_rng(len(model))
    table = numpy_helper.from_array(random.normal(0, 1, (rows, _WIDTH)).astype(np.float32), "letters")
    size = ["batch", "sequence"]
    inputs = [
        helper.make_tensor_value_info(name, TensorProto.INT64, size)
        for name in ("input_ids", "attention_mask")
    ]
    output = helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, [*size, _WIDTH])
    nodes = [helper.make_node("Gather", ["letters", "input_ids"], ["last_hidden_state"])]
    graph = helper.make_graph(nodes, "tiny", inputs, [output], [table])
    made = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save_model(made, folder / INT8_GRAPH)
    return folder
