"""Words that a user says again and again leave the places of an answer to other cards."""

from dataclasses import replace
from datetime import timedelta

import pytest

from events.platform.database import Connection
from events.store import log
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.channels.channel import Hit
from retrieval.channels.semantic import SemanticChannel
from retrieval.query.scope import Size
from tests.support.projectors.folding import NOW, ORIGIN, apart, fold_live
from tests.support.retrieval.channels import FEW, MANY, MOST, hits_of, noted, recall

AGAIN = "run the tests again"
OTHERS = ("Start the tests with uv run pytest", "The tests need a server", "I never run the linter")
QUESTION = "how do I run the tests here?"


def remember(database: str, connection: Connection, repeats: int) -> None:
    """Folds repeats of one sentence, each a minute before the other, and then other sentences."""
    origins = (replace(ORIGIN, said_at=NOW - timedelta(minutes=n)) for n in range(repeats))
    again = (apart(replace(noted(AGAIN), origin=origin)) for origin in origins)
    log.append(connection, [*again, *map(apart, map(noted, OTHERS))])
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)))


@pytest.mark.parametrize("repeats", [40, 80])
def test_words_that_come_again_take_one_place(database: str, connection: Connection, repeats: int) -> None:
    remember(database, connection, repeats)
    cards = recall(database, QUESTION)["cards"]
    assert sorted(card["content"] for card in cards) == sorted((AGAIN, *OTHERS))
    [again] = [card for card in cards if card["content"] == AGAIN]
    assert len(again["turn_ids"]) > 20


def test_the_channel_of_meaning_finds_the_last_few_of_words_that_come_again(
    database: str, connection: Connection
) -> None:
    remember(database, connection, 200)
    last = connection.execute(
        "SELECT card_id FROM cards.cards WHERE content = %s ORDER BY said_at DESC LIMIT 1", (AGAIN,)
    ).fetchone()
    assert last is not None
    for size in (FEW, MANY, MOST):
        found = [hit.card_id for hit in meant(database, size)]
        assert len(found) == 4 + len(OTHERS), size
        assert last[0] in found, size


def test_the_same_words_of_others_are_found_beside_them(database: str, connection: Connection) -> None:
    others = replace(ORIGIN, provenance="assistant_stated"), replace(ORIGIN, speaker="Ann")
    said = [replace(noted(AGAIN), origin=origin) for origin in (ORIGIN, *others)]
    log.append(connection, [*map(apart, said)])
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)))
    for size in (FEW, MANY, MOST):
        assert len(meant(database, size)) == len(said)


def meant(database: str, size: Size) -> list[Hit]:
    """What the channel of meaning finds."""
    return list(hits_of(database, SemanticChannel(Embedders(HashEmbedder)), QUESTION, "alex", size=size))
