"""The semantic channel finds what is near in meaning, also in a rare mode."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from events.platform.database import Connection, connect
from events.store import log
from projectors.embedding.embedder import HashEmbedder, Vectors
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.channels import semantic
from retrieval.channels.channel import ChannelDownError
from retrieval.query.question import understand
from retrieval.query.scope import Size, scope_of
from tests.bench.support.history import fill
from tests.support.databases import copied
from tests.support.projectors.folding import NOW, ORIGIN, apart, fold_live
from tests.support.retrieval.channels import FEW, MANY, MOST, hits_of, noted, searching


@cache
def _axes() -> Vectors:
    axes: Vectors = np.linalg.qr(np.random.default_rng(7).standard_normal((384, 384)))[0]
    return axes


class Turned(HashEmbedder):
    """Hashed words, rotated so that every number holds a little of each word, as a model's vectors do."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        turned: Vectors = np.asarray(super().embed(texts)) @ _axes()
        return turned

    def embed_question(self, text: str) -> Vectors:
        vector: Vectors = self.embed([text])[0]
        return vector


@pytest.fixture(scope="module")
def turned(postgres_url: str, template: str) -> Iterator[str]:
    """A database of 3,000 cards with turned vectors. No test here changes it."""
    with copied(postgres_url, template) as database:
        with connect(database, application="test") as connection:
            fill(connection, 3000, users=3, texts=300)
        fold_live(database)
        fold_live(database, VectorsProjector(Embedders(Turned)))
        yield database


@pytest.mark.parametrize("size", [MANY, MOST], ids=["signs of one user", "signs of all"])
def test_signs_find_what_comparing_all_numbers_finds(turned: str, size: Size) -> None:
    each = semantic.SemanticChannel(Embedders(Turned))
    shares = []
    for text in ("we went to the market", "I moved to Osaka", "我们一起去了"):
        exact = {hit.card_id: hit.score for hit in hits_of(turned, each, text, "user-00001")}
        near = {hit.card_id: hit.score for hit in hits_of(turned, each, text, "user-00001", size=size)}
        assert len(near) == 60
        assert all(near[card] == pytest.approx(exact[card]) for card in near.keys() & exact.keys())
        nearest = list(exact)[:20]
        shares.append(sum(card in near for card in nearest) / len(nearest))
    assert sum(shares) / len(shares) >= 0.8, shares


def test_what_may_answer_is_found_behind_very_much_that_may_not(
    database: str, connection: Connection, monkeypatch: Any
) -> None:
    monkeypatch.setattr(semantic, "_LOOKED_AT", 10)
    here = replace(ORIGIN, project_id="here")
    log.append(
        connection,
        [
            *[apart(noted(f"We planned the harbour {n}")) for n in range(40)],
            *[apart(replace(noted(f"A plan {n}"), origin=here)) for n in range(5)],
        ],
    )
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)))
    question = understand("who planned the harbour?", NOW)
    scope = replace(scope_of(question, user_id="alex", projects=("here",)), size=MANY)
    each = semantic.SemanticChannel(Embedders(HashEmbedder))
    found = searching(database, lambda connection: each.search(connection, question, scope))
    assert len(found) == 5


@pytest.mark.parametrize(("seconds", "left_out"), [(0.0, False), (60.0, True)], ids=["quick", "slow"])
def test_a_saturated_process_embeds_no_question_only_if_recalls_wait_for_the_model(
    turned: str, monkeypatch: pytest.MonkeyPatch, seconds: float, left_out: bool
) -> None:
    clock, later = time.perf_counter, [0.0]
    monkeypatch.setattr(time, "perf_counter", lambda: clock() + later[0])

    class Timed(Turned):
        def embed_question(self, text: str) -> Vectors:
            later[0] += seconds
            return super().embed_question(text)

    saturated: list[bool] = []
    each = semantic.SemanticChannel(Embedders(Timed), lambda: bool(saturated))
    each.warm()
    assert hits_of(turned, each, "we went to the market", "user-00001")
    saturated.append(True)
    if left_out:
        with pytest.raises(ChannelDownError, match="too many recalls wait"):
            hits_of(turned, each, "we went to the market", "user-00001")
    else:
        assert hits_of(turned, each, "we went to the market", "user-00001")


def test_vectors_of_an_embedder_that_is_no_longer_live_answer_nothing(connection: Connection) -> None:
    log.append(connection, [apart(noted("We planned the harbour"))])
    fold_live(connection)
    fold_live(connection, VectorsProjector(Embedders(HashEmbedder)))
    each = semantic.SemanticChannel(Embedders(HashEmbedder))
    assert len(hits_of(connection, each, "the harbour", "alex")) == 1
    connection.execute("UPDATE vectors.spaces SET name = 'another', fingerprint = 'another'")
    with pytest.raises(ChannelDownError, match="another"):
        hits_of(connection, each, "the harbour", "alex")


class Crowded(HashEmbedder):
    """Hashed words at cosines of .8 and more, as some models put all texts."""

    def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = super().embed(texts)
        crowded: Vectors = np.sqrt(0.2, dtype=np.float32) * vectors
        crowded[:, 0] = np.sqrt(1 - np.sum(crowded[:, 1:] ** 2, axis=1))
        return crowded


def test_vectors_of_zeros_have_a_nearness(connection: Connection) -> None:
    class Zeros(HashEmbedder):
        def embed(self, texts: Sequence[str]) -> Vectors:
            return np.zeros((len(texts), self.dimension), dtype=np.float32)

    log.append(connection, [apart(noted("harbour walk")), apart(noted("tea"))])
    fold_live(connection)
    fold_live(connection, VectorsProjector(Embedders(Zeros)))
    hits = hits_of(connection, semantic.SemanticChannel(Embedders(Zeros)), "harbour", "alex")
    assert [hit.nearness for hit in hits] == [1, 1]


def test_nearness_means_the_same_whatever_the_cosines_of_a_model_are(
    postgres_url: str, template: str
) -> None:
    def nearness(embedder: Callable[[], HashEmbedder]) -> list[float]:
        with copied(postgres_url, template) as database:
            with connect(database, application="test") as connection:
                log.append(
                    connection, [apart(noted(text)) for text in ("harbour walk", "a long harbour", "tea")]
                )
            fold_live(database)
            fold_live(database, VectorsProjector(Embedders(embedder)))
            hits = hits_of(database, semantic.SemanticChannel(Embedders(embedder)), "harbour walk", "alex")
            return [hit.nearness for hit in hits]

    plain = nearness(HashEmbedder)
    assert (plain[0], len(plain)) == (1, 3)
    assert nearness(Crowded) == pytest.approx(plain, abs=0.02)


def test_a_question_is_embedded_once_for_its_user(turned: str) -> None:
    embedded: list[str] = []

    class Counted(Turned):
        def embed_question(self, text: str) -> Vectors:
            embedded.append(text)
            return super().embed_question(text)

    each = semantic.SemanticChannel(Embedders(Counted))
    each.warm()
    hits_of(turned, each, "we went to the market", "user-00001")
    embedded.clear()
    question = understand("we moved to Osaka", NOW)
    each.anticipate(question, scope_of(question, user_id="user-00001", projects=None))
    for _ in range(2):
        assert hits_of(turned, each, "we moved to Osaka", "user-00001")
    assert embedded == ["we moved to Osaka"]
    assert hits_of(turned, each, "we moved to Osaka", "user-00002")
    assert len(embedded) == 2


_QUESTIONS = ("we went to the market", "I moved to Osaka", "我们一起去了", "who likes the old house?")


_MARK = b"""
UPDATE cards.cards c SET mode = CASE WHEN n % 100 = 0 THEN 'rare' WHEN n % 30 = 1 THEN 'scarce' END
FROM (SELECT card_id, row_number() OVER (ORDER BY card_id) AS n FROM cards.cards WHERE kind = 'event') numbered
WHERE c.kind = 'event' AND c.card_id = numbered.card_id
"""


@pytest.fixture(scope="module")
def mixed(postgres_url: str, template: str) -> Iterator[str]:
    """A database with the cards of one user: one event in a hundred is of the mode rare, one in thirty scarce."""
    with copied(postgres_url, template) as database:
        with connect(database, application="test") as connection:
            fill(connection, 2400, users=1, texts=400)
            fold_live(database)
            fold_live(database, VectorsProjector(Embedders(Turned)))
            connection.execute(_MARK)
            connection.execute(b"ANALYZE cards.cards")
        yield database


@pytest.mark.parametrize("size", [MANY, MOST], ids=["signs of one user", "signs of all"])
def test_a_rare_mode_is_found_as_by_comparing_all_its_cards(mixed: str, size: Size) -> None:
    each = semantic.SemanticChannel(Embedders(Turned))

    def found(text: str, mode: str, size: Size) -> set[object]:
        question = understand(text, NOW)
        scope = replace(scope_of(question, user_id=_user(mixed), projects=None, modes=(mode,)), size=size)
        return {
            hit.card_id for hit in searching(mixed, lambda c: each.search(c, question, scope), _user(mixed))
        }

    shares = []
    for mode, least in (("rare", 5), ("scarce", 20)):
        for text in _QUESTIONS:
            exact = found(text, mode, FEW)
            assert len(exact) >= least
            shares.append(len(exact & found(text, mode, size)) / len(exact))
    assert sum(shares) / len(shares) >= 0.95, shares


def _user(database: str) -> str:
    with connect(database, application="test") as connection:
        row = connection.execute("SELECT min(user_id) FROM cards.cards").fetchone()
    assert row is not None
    user: str = row[0]
    return user
