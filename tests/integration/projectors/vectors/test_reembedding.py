"""Another embedder: the old vectors answer until one swap, and vectors of two embedders never meet."""

import json
import re
from dataclasses import replace

import pytest
from starlette.testclient import TestClient

from deploy.commands.operate.reembed import reembed
from events.platform.database import Connection
from events.platform.settings import Settings
from events.store import log
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders, embedders_of
from projectors.vectors.projector import VectorsProjector
from retrieval.http.read_api import create_app
from tests.support.projectors.folding import NOW, apart, count, fold_live
from tests.support.retrieval.channels import noted
from tests.support.waiting import PATIENT


def settings_of(database: str, model: str) -> Settings:
    return replace(Settings(), database_url=database, **PATIENT | {"embed_model": model})


def say(connection: Connection, settings: Settings, text: str, mode: str | None = None) -> None:
    log.append(connection, [apart(noted(text, mode=mode))])
    fold_live(settings.database_url)
    fold_live(settings.database_url, VectorsProjector(embedders_of(settings)))


def by_meaning(settings: Settings) -> list[str]:
    """Returns the words of the cards that the semantic channel found."""
    with TestClient(create_app(settings)) as client:
        body = {"user_id": "alex", "query": "harbour", "as_of": NOW.isoformat()}
        answer = client.post("/v1/recall", json=body).json()
    assert answer["channels"]["semantic"]["status"] == "ok", answer["channels"]
    return sorted(card["content"] for card in answer["cards"] if "semantic" in card["channels"])


def held(connection: Connection) -> tuple[int, int]:
    return count(connection, "vectors.card_vectors_384"), count(connection, "vectors.card_vectors_768")


def test_the_old_vectors_answer_until_the_new_ones_are_swapped_in(
    database: str, connection: Connection, capsys: pytest.CaptureFixture[str]
) -> None:
    before, after = settings_of(database, "hash"), settings_of(database, "hash-768")
    say(connection, before, "The harbour was closed")
    # The settings change. New cards join the old space, so that one question finds both.
    say(connection, after, "The harbour opened again")
    both = ["The harbour opened again", "The harbour was closed"]
    assert (held(connection), by_meaning(after)) == ((2, 0), both)
    assert reembed(dry_run=True, as_json=True, cardlog=after) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["slots"] == {"general": {"now": "hash", "then": "hash-768"}}
    assert (plan["cards"], plan["other"], plan["model_calls"]) == (2, 2, 0)
    assert plan["texts_per_s"] > 0
    assert held(connection) == (2, 0)
    assert reembed(cardlog=after) == 0
    assert (held(connection), by_meaning(after)) == ((0, 2), both)
    say(connection, after, "The harbour has a crane")
    assert held(connection) == (0, 3)
    capsys.readouterr()
    assert reembed(cardlog=after) == 0
    assert "nothing to do" in capsys.readouterr().err


def test_only_the_named_mode_gets_its_new_embedder(database: str, connection: Connection) -> None:
    before = replace(settings_of(database, "hash"), modes="code=hash-768")
    say(connection, before, "The harbour was closed")
    say(connection, before, "The harbour class", mode="code")
    after = replace(settings_of(database, "hash-1024"), modes="code=hash-384")
    assert reembed(mode="code", cardlog=after) == 0
    assert held(connection) == (2, 0)
    spaces = connection.execute("SELECT slot, fingerprint FROM vectors.spaces ORDER BY slot").fetchall()
    assert spaces == [("", "hash"), ("code", "hash")]


def test_a_mode_that_shares_its_former_model_is_embedded_again(database: str, connection: Connection) -> None:
    before = replace(settings_of(database, "hash"), modes="code=hash-768, notes=hash-768")
    say(connection, before, "The harbour class", mode="code")
    say(connection, before, "The harbour was closed", mode="notes")
    after = replace(before, modes="code=hash-768, notes=hash-1024")
    assert reembed(mode="notes", cardlog=after) == 0
    assert (held(connection), count(connection, "vectors.card_vectors_1024")) == ((0, 1), 1)


def test_vectors_whose_embedder_is_gone_wait_and_name_the_remedy(
    database: str, connection: Connection
) -> None:
    say(connection, settings_of(database, "hash"), "The harbour was closed")
    log.append(connection, [apart(noted("Later"))])
    gone = VectorsProjector(Embedders(lambda: HashEmbedder(768)))
    fold_live(database, gone)
    assert gone.hindrance is not None
    assert re.search(r"the vectors are of hash, .* cardlog reembed", gone.hindrance.reason)
    assert held(connection) == (1, 0)
