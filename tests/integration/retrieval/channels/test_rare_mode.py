"""A mode that one card in a hundred has: a search among many vectors finds what comparing all its cards finds."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from events.platform.database import connect
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.channels import semantic
from retrieval.query.question import understand
from retrieval.query.scope import Size, scope_of
from tests.bench.support.history import fill
from tests.integration.retrieval.channels.test_semantic_channel import Turned
from tests.support.databases import copied
from tests.support.projectors.folding import NOW, fold_live
from tests.support.retrieval.channels import FEW, MANY, MOST, searching

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
