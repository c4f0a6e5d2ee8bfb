"""The default model and the small one, and memories that one of them began."""

import shutil
from dataclasses import replace
from pathlib import Path

import psycopg
import pytest

from deploy.command import main
from deploy.commands.operate.doctor import doctor
from deploy.commands.operate.reembed import reembed
from deploy.commands.operate.status import status
from events.platform.database import Connection, statement
from events.platform.settings import Settings
from events.store import log
from projectors.embedding.embedder import (
    DEFAULT_MODEL,
    INT8_GRAPH,
    MULTILINGUAL_MODEL,
    SMALL_MODEL,
    EmbedderUnavailableError,
    FastEmbedder,
)
from projectors.embedding.embedders import Space, embedders_of
from projectors.vectors.projector import VectorsProjector
from tests.support.projectors.folding import apart, fold_live
from tests.support.projectors.tiny_model import write_tiny_model
from tests.support.retrieval.channels import noted
from tests.support.waiting import PATIENT


def settings_at(folder: Path, **more: object) -> Settings:
    return replace(
        Settings(), embed_model_path=str(folder), **PATIENT | {"embed_model": DEFAULT_MODEL} | more
    )


class TestModels:
    def test_without_files_the_message_names_the_model(self, tmp_path: Path) -> None:
        with pytest.raises(EmbedderUnavailableError, match=f"{MULTILINGUAL_MODEL} in .*cardlog model fetch"):
            embedders_of(settings_at(tmp_path)).of(None)

    def test_the_vocabulary_of_a_model_that_is_not_built_says_nothing(self, tmp_path: Path) -> None:
        settings = settings_at(write_tiny_model(tmp_path, SMALL_MODEL), embed_model="acme/model-m")
        assert embedders_of(settings).of(None).name == "acme/model-m"

    def test_the_small_model_does_not_take_the_place_of_the_default(self, tmp_path: Path) -> None:
        embedders = embedders_of(settings_at(write_tiny_model(tmp_path, SMALL_MODEL)))
        with pytest.raises(EmbedderUnavailableError, match=f"holds {SMALL_MODEL} and not"):
            embedders.of(None)

    def test_vectors_of_the_small_model_keep_its_folder(self, tmp_path: Path) -> None:
        folder = write_tiny_model(tmp_path, SMALL_MODEL)
        shutil.copy(folder / INT8_GRAPH, folder / "model.onnx")
        whole = FastEmbedder(folder, model=SMALL_MODEL, file="model.onnx")
        found = embedders_of(settings_at(folder)).of_space("", Space(SMALL_MODEL, whole.fingerprint))
        assert isinstance(found, FastEmbedder)
        assert found.quantisation == "fp32"

    def test_a_folder_with_the_other_model_is_refused(self, tmp_path: Path) -> None:
        settings = settings_at(write_tiny_model(tmp_path, MULTILINGUAL_MODEL), embed_model=SMALL_MODEL)
        with pytest.raises(
            EmbedderUnavailableError, match=f"holds {MULTILINGUAL_MODEL} and not {SMALL_MODEL}"
        ):
            embedders_of(settings).of(None)

    def test_the_tool_does_not_take_the_other_model_for_this_one(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("CARDLOG_EMBED_MODEL_PATH", str(write_tiny_model(tmp_path, SMALL_MODEL)))
        monkeypatch.delenv("CARDLOG_EMBED_MODEL", raising=False)
        assert main(["model", "fetch"]) == 1
        assert main(["model", "fetch", "--optional"]) == 0
        assert f"does not hold {MULTILINGUAL_MODEL}" in capsys.readouterr().err


class TestVectors:
    """The vectors of a memory that the small model began."""

    def test_stay_with_their_model_until_they_are_embedded_again(
        self,
        database: str,
        redis_url: str,
        connection: Connection,
        tmp_path: Path,
        capsys: pytest.CaptureFixture[str],
        monkeypatch: pytest.MonkeyPatch,
    ) -> None:
        small = write_tiny_model(tmp_path / "cardlog" / "model" / "all-MiniLM-L6-v2", SMALL_MODEL)
        urls = {"database_url": database, "admin_database_url": database, "redis_url": redis_url}
        settings = settings_at(small, embed_model=SMALL_MODEL, **urls)
        say(connection, settings, "The harbour was closed")
        assert embedder_of(connection).startswith(SMALL_MODEL)
        assert "CARDLOG_EMBED_MODEL" not in said_by(settings, capsys)

        # The settings name the default. The live vectors stay as they are, and new ones join them.
        large = write_tiny_model(tmp_path / "multilingual-e5-small", MULTILINGUAL_MODEL)
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
        settings = settings_at(large, **urls)
        say(connection, settings, "The harbour opened again")
        assert embedder_of(connection).startswith(SMALL_MODEL)
        said = said_by(settings, capsys)
        assert f"CARDLOG_EMBED_MODEL is {DEFAULT_MODEL}: run `cardlog reembed`" in said

        assert reembed(cardlog=settings) == 0
        assert embedder_of(connection).startswith(MULTILINGUAL_MODEL)
        assert "CARDLOG_EMBED_MODEL" not in said_by(settings, capsys)


def say(connection: Connection, settings: Settings, text: str) -> None:
    log.append(connection, [apart(noted(text))])
    fold_live(settings.database_url)
    fold_live(settings.database_url, VectorsProjector(embedders_of(settings)))


def embedder_of(connection: psycopg.Connection) -> str:
    """Returns the one fingerprint of all live vectors."""
    [[_, _, fingerprint]] = connection.execute(statement("retrieval.channels", "spaces")).fetchall()
    return str(fingerprint)


def said_by(settings: Settings, capsys: pytest.CaptureFixture[str]) -> str:
    """Returns what `cardlog status` and `cardlog doctor` print."""
    capsys.readouterr()
    status(settings=settings, data=None)
    doctor(settings=settings, data=None)
    return capsys.readouterr().out
