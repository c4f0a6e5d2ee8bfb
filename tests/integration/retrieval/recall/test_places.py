"""The places of an answer through Postgres: who said it counts in every channel, and a turn's words stand beside."""

from dataclasses import replace
from typing import Any

from events.platform.database import Connection
from events.store import log
from events.types.cards import StateAsserted
from projectors.embedding.embedder import HashEmbedder
from projectors.embedding.embedders import Embedders
from projectors.vectors.projector import VectorsProjector
from tests.support.projectors.folding import NOW, ORIGIN, apart, event, fold_live
from tests.support.retrieval.channels import noted, recall
from tests.support.tables import examples


def told(answer: dict[str, Any]) -> list[str]:
    return [card["content"] for card in answer["cards"]]


@examples
def test_many_answers_of_an_assistant_do_not_crowd_out_the_users_words(
    database: str, connection: Connection, own: str, answered: str, question: str, about_the_answer: str
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
    fold_live(database)
    fold_live(database, VectorsProjector(Embedders(HashEmbedder)))
    answer = recall(database, question, explain=True)
    assert told(answer)[0] == own
    for channel in ("tags", "semantic"):
        assert answer["cards"][0]["channels"][channel]["rank"] == 1
    assert told(recall(database, about_the_answer))[0] in answers


def test_the_words_of_a_turn_stand_beside_its_fact_although_no_channel_finds_them(
    database: str, connection: Connection
) -> None:
    origin = replace(ORIGIN, turn_ids=("moving",))
    words = "Boxes everywhere! " + "We carried them up all day. " * 40
    fact = StateAsserted(
        content="lives in Bergen", entity="user", concept_key="residence", value="Bergen", tags=(),
        cardinality="single_value", origin=origin, effective_at=NOW,
    )  # fmt: skip
    log.append(connection, [event(replace(noted(words), origin=origin)), event(fact)])
    fold_live(database)
    [card] = recall(database, "where do I live?", k=1)["cards"]
    assert card["content"] == "lives in Bergen"
    [beside] = card["beside"]
    assert beside["kind"] == "event"
    assert words.startswith(beside["content"].removesuffix("…"))
    assert len(beside["content"]) <= 601
    [alone] = recall(database, "where do I live?", k=1, kinds=["state"])["cards"]
    assert alone["beside"] == []


def test_k_counts_places(database: str, connection: Connection) -> None:
    origin = replace(ORIGIN, turn_ids=("harbour",))
    log.append(
        connection,
        [
            event(replace(noted("We walked along the harbour and ate herring"), origin=origin)),
            event(replace(noted("ate herring at the harbour"), origin=origin, episode=False)),
            apart(noted("The harbour was frozen in January")),
        ],
    )
    fold_live(database)
    cards = recall(database, "harbour herring", k=2)["cards"]
    assert [card["content"] for card in cards] == [
        "We walked along the harbour and ate herring",
        "The harbour was frozen in January",
    ]
    assert [each["content"] for each in cards[0]["beside"]] == ["ate herring at the harbour"]
