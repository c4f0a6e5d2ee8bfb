"""Modes are declared by name, and some modes share an embedder."""

import pickle
from dataclasses import replace

import pytest

from events.platform.modes import modes_of
from events.platform.settings import Settings, SettingsError
from projectors.embedding.embedder import EmbedderUnavailableError, HashEmbedder
from projectors.embedding.embedders import Embedders, embedders_of
from tests.support.tables import examples


def declared(modes: str) -> Settings:
    return replace(Settings(), embed_model="hash", modes=modes)


def test_modes_are_read_with_their_models() -> None:
    assert modes_of(declared("")) == {}
    assert modes_of(declared(" code = a/model , journal,")) == {"code": "a/model", "journal": ""}
    assert modes_of(declared("general, code")) == {"general": "", "code": ""}


@examples
def test_a_declaration_that_cannot_be_read_says_what_to_change(modes: str, why: str) -> None:
    with pytest.raises(SettingsError, match="CARDLOG_MODES") as refused:
        modes_of(declared(modes))
    assert why in str(refused.value)


def test_modes_of_one_model_share_its_embedder() -> None:
    embedders = embedders_of(declared("code=hash-768, rust=hash-768, journal, plain=hash, deep=hash-1024"))
    assert embedders.of("code") is embedders.of("rust")
    assert embedders.of("journal") is embedders.of("plain") is embedders.of("general") is embedders.of(None)
    assert [embedders.of(mode).dimension for mode in (None, "code", "deep")] == [384, 768, 1024]
    assert embedders.modes == (None, "code", "deep")


def test_an_embedder_is_opened_on_demand_and_again_after_its_release() -> None:
    opened: list[str] = []

    def way(model: str) -> HashEmbedder:
        opened.append(model)
        if len(opened) == 1:
            raise EmbedderUnavailableError("away")
        return HashEmbedder(768)

    embedders = Embedders(HashEmbedder, {"code": "m", "rust": "m"}, by_model=way)
    embedders.of(None)
    assert (opened, embedders.is_open("code")) == ([], None)
    with pytest.raises(EmbedderUnavailableError, match="for the mode code, rust: away"):
        embedders.of("rust")
    first = embedders.of("code")
    assert embedders.of("rust") is first is embedders.is_open("rust")
    embedders.close()
    assert embedders.is_open("code") is None
    assert embedders.of("code") is not first
    assert len(opened) == 3


def test_what_is_set_reaches_other_processes() -> None:
    embedders = pickle.loads(pickle.dumps(embedders_of(declared("code=hash-768"))))
    assert embedders.of("code").name == "hash-768"
