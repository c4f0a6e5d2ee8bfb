"""The places of an answer go to different words."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from events.platform.database import Connection
from events.store import log
from events.types.cards import StateAsserted
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from retrieval.channels.channel import Hit
from retrieval.channels.semantic import SemanticChannel
from retrieval.query.scope import Size
from tests.support.databases import Place
from tests.support.projectors.folding import NOW, ORIGIN, apart, event, fold_live
from tests.support.retrieval.channels import FEW, MANY, MOST, hits_of, noted, recall
from tests.support.tables import examples


def told(answer: dict[str, Any]) -> list[str]:
    return [card["content"] for card in answer["cards"]]


@examples
def test_many_answers_of_an_assistant_do_not_crowd_out_the_users_words(
    connection: Connection, own: str, answered: str, question: str, about_the_answer: str
) -> None:
    assistant = replace(ORIGIN, provenance="assistant_stated")
    numbers = "零一二三四五六七八九"
    answers = [
        answered.format(f"{numbers[n // 10]}{numbers[n % 10]}" if "第" in answered else f"number{n}")
        for n in range(40)
    ]
    long_ago = [
        replace(noted(text), origin=replace(assistant, turn_ids=(f"a{n}",))) for n, text in enumerate(answers)
    ]
    log.append(connection, [*map(apart, long_ago), apart(noted(own))])
    fold_live(connection)
    fold_live(connection, VectorsProjector(Embedders(HashEmbedder)))
    answer = recall(connection, question, explain=True)
    assert told(answer)[0] == own
    for channel in ("tags", "semantic"):
        assert answer["cards"][0]["channels"][channel]["rank"] == 1
    assert told(recall(connection, about_the_answer))[0] in answers


def test_the_words_of_a_turn_stand_beside_its_fact_although_no_channel_finds_them(
    connection: Connection,
) -> None:
    origin = replace(ORIGIN, turn_ids=("moving",))
    words = "Boxes everywhere! " + "We carried them up all day. " * 40
    fact = StateAsserted(
        content="lives in Bergen", entity="user", concept_key="residence", value="Bergen", tags=(),
        cardinality="single_value", origin=origin, effective_at=NOW,
    )  # fmt: skip
    log.append(connection, [event(replace(noted(words), origin=origin)), event(fact)])
    fold_live(connection)
    [card] = recall(connection, "where do I live?", k=1)["cards"]
    assert card["content"] == "lives in Bergen"
    [beside] = card["beside"]
    assert beside["kind"] == "event"
    assert words.startswith(beside["content"].removesuffix("…"))
    assert len(beside["content"]) <= 601
    [alone] = recall(connection, "where do I live?", k=1, kinds=["state"])["cards"]
    assert alone["beside"] == []


def test_k_counts_places(connection: Connection) -> None:
    origin = replace(ORIGIN, turn_ids=("harbour",))
    log.append(
        connection,
        [
            event(replace(noted("We walked along the harbour and ate herring"), origin=origin)),
            event(replace(noted("ate herring at the harbour"), origin=origin, episode=False)),
            apart(noted("The harbour was frozen in January")),
        ],
    )
    fold_live(connection)
    cards = recall(connection, "harbour herring", k=2)["cards"]
    assert [card["content"] for card in cards] == [
        "We walked along the harbour and ate herring",
        "The harbour was frozen in January",
    ]
    assert [each["content"] for each in cards[0]["beside"]] == ["ate herring at the harbour"]


AGAIN = "run the tests again"
OTHERS = ("Start the tests with uv run pytest", "The tests need a server", "I never run the linter")
QUESTION = "how do I run the tests here?"


def remember(database: Place, connection: Connection, repeats: int) -> None:
    """Folds repeats of one sentence, each a minute before the other, and then other sentences."""
    origins = (replace(ORIGIN, said_at=NOW - timedelta(minutes=n)) for n in range(repeats))
    again = (apart(replace(noted(AGAIN), origin=origin)) for origin in origins)
    log.append(connection, [*again, *map(apart, map(noted, OTHERS))])
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)))


@pytest.mark.parametrize("repeats", [40, 80])
def test_words_that_come_again_take_one_place(connection: Connection, repeats: int) -> None:
    remember(connection, connection, repeats)
    cards = recall(connection, QUESTION)["cards"]
    assert sorted(card["content"] for card in cards) == sorted((AGAIN, *OTHERS))
    [again] = [card for card in cards if card["content"] == AGAIN]
    assert len(again["turn_ids"]) > 20


def test_the_channel_of_meaning_finds_the_last_few_of_words_that_come_again(connection: Connection) -> None:
    remember(connection, connection, 200)
    last = connection.execute(
        "SELECT card_id FROM cards.cards WHERE content = %s ORDER BY said_at DESC LIMIT 1", (AGAIN,)
    ).fetchone()
    assert last is not None
    for size in (FEW, MANY, MOST):
        found = [hit.card_id for hit in meant(connection, size)]
        assert len(found) == 4 + len(OTHERS), size
        assert last[0] in found, size


def test_the_same_words_of_others_are_found_beside_them(connection: Connection) -> None:
    others = replace(ORIGIN, provenance="assistant_stated"), replace(ORIGIN, speaker="Ann")
    said = [replace(noted(AGAIN), origin=origin) for origin in (ORIGIN, *others)]
    log.append(connection, [*map(apart, said)])
    fold_live(connection)
    fold_live(connection, VectorsProjector(Embedders(HashEmbedder)))
    for size in (FEW, MANY, MOST):
        assert len(meant(connection, size)) == len(said)


def meant(database: Place, size: Size) -> list[Hit]:
    """What the channel of meaning finds."""
    return list(hits_of(database, SemanticChannel(Embedders(HashEmbedder)), QUESTION, "alex", size=size))
